package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// TestPeerIdentity keys by the client's certificate: by its first URI SAN, or
// without one by its first DNS SAN, or without either by its subject.
func TestPeerIdentity(t *testing.T) {
	const configuration = `{"on_error": "deny", "rules": [{
		"name": "peer", "key": [{"peer_identity": true}], "on_missing_key": "reject", "limits": [{"requests": 1, "window": "1h"}],
		"overrides": [{"key": ["spiffe://weir.test/free"], "unlimited": true}, {"key": ["free.weir.test"], "unlimited": true}, {"key": ["CN=free,O=Weir"], "unlimited": true}]
	}]}`
	ca := newAuthority(t)
	required := listener(t, filter{"required", configuration}, ca.downstream(t, true))
	optional := listener(t, filter{"optional", configuration}, ca.downstream(t, false))
	envoy := startEnvoy(t, assemble(t, []any{required, optional}, cluster(t, "upstream", startUpstream(t))), 2)
	addr := listenerOf(t, envoy, "required")
	type names struct{ uri, dns, subject string }
	for i, step := range []struct {
		client names
		want   int
	}{
		{names{"spiffe://weir.test/a", "any.weir.test", "any"}, 200},
		{names{"spiffe://weir.test/b", "any.weir.test", "any"}, 200}, // apart by the URI alone
		{names{"spiffe://weir.test/a", "new.weir.test", "new"}, 429}, // and by nothing else
		{names{"spiffe://weir.test/b", "", "new"}, 429},
		{names{"", "one.weir.test", "any"}, 200},
		{names{"", "two.weir.test", "any"}, 200},
		{names{"", "one.weir.test", "new"}, 429},
		{names{"", "", "one"}, 200},
		{names{"", "", "two"}, 200},
		{names{"", "", "one"}, 429}, // another certificate of the same name
		// What overrides must say to meet each kind of name.
		{names{"spiffe://weir.test/free", "", ""}, 200}, {names{"spiffe://weir.test/free", "", ""}, 200},
		{names{"", "free.weir.test", ""}, 200}, {names{"", "free.weir.test", ""}, 200},
		{names{"", "", "free"}, 200}, {names{"", "", "free"}, 200},
	} {
		if got, err := ca.get(t, addr, ca.issue(t, step.client.uri, step.client.dns, step.client.subject)); err != nil || got != step.want {
			t.Errorf("step %d, %q: %d, %v, want %d", i, step.client, got, err, step.want)
		}
	}
	if got, err := ca.get(t, addr); err == nil {
		t.Errorf("without a certificate: %d", got)
	}
	if got, err := ca.get(t, listenerOf(t, envoy, "optional")); got != 429 {
		t.Errorf("without a certificate that is optional: %d, %v, want 429", got, err)
	}
}

// An authority issues certificates to clients and servers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	ca := &authority{&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, newKey(t)}
	issued := ca.sign(t, ca.certificate, ca.key)
	var err error
	if ca.certificate, err = x509.ParseCertificate(issued.Certificate[0]); err != nil {
		t.Fatal(err)
	}
	return ca
}

// issue makes a certificate with the names that are not empty.
func (ca *authority) issue(t *testing.T, uri, dns, subject string) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: subject, Organization: []string{"Weir"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if uri != "" {
		parsed, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		template.URIs = []*url.URL{parsed}
	}
	if dns != "" {
		template.DNSNames = []string{dns}
	}
	return ca.sign(t, template, newKey(t))
}

func (ca *authority) sign(t *testing.T, template *x509.Certificate, key *ecdsa.PrivateKey) tls.Certificate {
	t.Helper()
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// downstream has clients of a listener connect with TLS and certificates of
// this authority.
func (ca *authority) downstream(t *testing.T, required bool) setting {
	t.Helper()
	server := ca.issue(t, "", "weir.test", "server")
	key, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	inline := func(kind string, der []byte) object {
		return object{"inline_string": string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))}
	}
	return func(listener, _ object) {
		chain := listener["filter_chains"].([]any)[0].(object)
		chain["transport_socket"] = extension("envoy.transport_sockets.tls", "transport_sockets.tls.v3.DownstreamTlsContext", object{
			"require_client_certificate": required,
			"common_tls_context": object{
				"tls_certificates": []any{object{
					"certificate_chain": inline("CERTIFICATE", server.Certificate[0]),
					"private_key":       inline("PRIVATE KEY", key),
				}},
				"validation_context": object{"trusted_ca": inline("CERTIFICATE", ca.certificate.Raw)},
			},
		})
	}
}

// get asks a listener over a connection of its own, with these certificates.
func (ca *authority) get(t *testing.T, addr string, certificates ...tls.Certificate) (status int, err error) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(ca.certificate)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: "weir.test", Certificates: certificates},
		DisableKeepAlives: true,
	}}
	return get(client, "https://"+addr+"/", "")
}
