package e2e

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/weirproxy/weir/e2e/scenario"
)

// TestJWTClaims is B26: Envoy's jwt_authn verifies the token and leaves its
// payload in the metadata, where Weir finds the claim. Tokens with a number
// share a window; 0 stands for a missing claim, which the rules reject.
func TestJWTClaims(t *testing.T) {
	const missing = 0
	issuer := newIssuer(t)
	type token struct {
		payload string
		window  int
	}
	tests := []struct {
		name, claim string
		tokens      []token
	}{
		{"strings", `"sub"`, []token{
			{`{"sub": "alice"}`, 1}, {`{"sub": "alice"}`, 1}, {`{"sub": "bob"}`, 2}, {`{"sub": ""}`, missing}, {`{}`, missing},
			// Eight bytes are what a number has as well.
			{`{"sub": "alice123"}`, 3}, {`{"sub": "alice124"}`, 4}, {`{"sub": "alice123"}`, 3}, {`{"sub": "z\u00fcrich\u00a0"}`, 5}, {`{"sub": "z\u00fcrich\u00a1"}`, 6},
			{`{"sub": "a, b"}`, 7},
			// jwt_authn refuses these: RFC 7519 wants a string, and there must be one.
			{`{"sub": 5}`, missing}, {`{"sub": "alice", "sub": "mallory"}`, missing},
		}},
		{"scalars", `"uid"`, []token{
			{`{"uid": "123"}`, 1}, {`{"uid": 123}`, 1}, {`{"uid": 123.0}`, 1}, {`{"uid": 1.23e2}`, 1}, {`{"uid": 124}`, 2},
			{`{"uid": 0}`, 3}, {`{"uid": "0"}`, 3}, {`{"uid": -7}`, 4}, {`{"uid": "-7"}`, 4}, {`{"uid": 1.5}`, 5}, {`{"uid": "1.5"}`, 5},
			{`{"uid": true}`, 6}, {`{"uid": "true"}`, 6}, {`{"uid": false}`, 7}, {`{"uid": "false"}`, 7}, {`{"uid": "1"}`, 8},
			{`{"uid": 100012348440705}`, 12}, {`{"uid": "100012348440705"}`, 12}, // as a double no byte of it is a control character
			// Envoy keeps numbers as doubles: above 2^53 some become one.
			{`{"uid": 9007199254740991}`, 9}, {`{"uid": 9007199254740992}`, 10}, {`{"uid": 9007199254740993}`, 10}, {`{"uid": 9007199254740994}`, 11},
		}},
		{"no scalars", `"uid"`, []token{
			{`{"uid": null}`, missing}, {`{"uid": []}`, missing}, {`{"uid": {}}`, missing}, {`{"uid": ["x"]}`, missing},
			{`{"uid": ["x", "y"]}`, missing}, {`{"uid": {"k": 1}}`, missing}, {`{"uid": [null]}`, missing}, {`{"uid": {"k": [1, {"a": null}]}}`, missing},
		}},
		{"nested", `{"names": ["org", "id"]}`, []token{
			{`{"org": {"id": "a"}}`, 1}, {`{"org": {"id": "a"}, "sub": "x"}`, 1}, {`{"org": {"id": "b"}}`, 2}, {`{"org": {"id": 5}}`, 3},
			{`{"org": {}}`, missing}, {`{"org": "id"}`, missing}, {`{"org": 5}`, missing}, {`{"org": null}`, missing},
			{`{"org": [{"id": "a"}]}`, missing}, {`{"org.id": "a"}`, missing}, {`{"org": {"id": {"id": "a"}}}`, missing},
		}},
		{"dots", `"https://weir.test/user.id"`, []token{
			{`{"https://weir.test/user.id": "a"}`, 1}, {`{"https://weir.test/user.id": "a"}`, 1}, {`{"https://weir.test/user": {"id": "a"}}`, missing},
		}},
	}
	var listeners []any
	for _, test := range tests {
		configuration := fmt.Sprintf(`{"on_error": "deny", "rules": [{"name": "claim", "key": [{"jwt_claim": %s}], "on_missing_key": "reject", "limits": [{"requests": 1, "window": "1h"}]}]}`, test.claim)
		listeners = append(listeners, listener(t, filter{test.name, configuration}, beforeWeir(issuer.filter())))
	}
	envoy := startEnvoy(t, assemble(t, listeners, cluster(t, "upstream", startUpstream(t))), 2)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			addr := listenerOf(t, envoy, test.name)
			used := map[int]bool{missing: true}
			for _, token := range test.tokens {
				got := bearer(t, addr, issuer.sign(t, token.payload))
				want, wait := 200, token.window != missing
				if used[token.window] {
					want = 429
				}
				used[token.window] = true
				if _, waits := got.Headers["retry-after"]; got.Status != want || want == 429 && waits != wait {
					t.Errorf("%s: %+v, want %d, with a wait: %t", token.payload, got, want, wait)
				}
			}
			// A token that nobody vouches for has no claims.
			forged := issuer.sign(t, test.tokens[0].payload)
			forged = forged[:len(forged)-8] + "AAAAAAAA"
			for _, token := range []string{"", forged, "two.parts", "!.!.!"} {
				if got := bearer(t, addr, token); got.Status != 429 || got.Headers["retry-after"] != nil {
					t.Errorf("token %.20q: %+v, want 429 without a wait", token, got)
				}
			}
		})
	}
}

func bearer(t *testing.T, addr, token string) scenario.Response {
	t.Helper()
	got, err := send(addr, scenario.Request{Method: "GET", Path: "/", Host: "weir.test", Headers: [][2]string{{"authorization", "Bearer " + token}}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// An issuer signs tokens with RS256.
type issuer struct{ key *rsa.PrivateKey }

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return issuer{key}
}

func (i issuer) sign(t *testing.T, payload string) string {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	token := encode([]byte(`{"alg": "RS256", "typ": "JWT"}`)) + "." + encode([]byte(payload))
	hash := sha256.Sum256([]byte(token))
	signature, err := rsa.SignPKCS1v15(nil, i.key, crypto.SHA256, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	return token + "." + encode(signature)
}

// filter is Envoy's jwt_authn: it verifies the issuer's tokens, and lets all
// else pass without claims.
func (i issuer) filter() object {
	modulus := base64.RawURLEncoding.EncodeToString(i.key.N.Bytes())
	return extension("envoy.filters.http.jwt_authn", "filters.http.jwt_authn.v3.JwtAuthentication", object{
		"providers": object{"issuer": object{
			"local_jwks":          object{"inline_string": `{"keys": [{"kty": "RSA", "alg": "RS256", "e": "AQAB", "n": "` + modulus + `"}]}`},
			"payload_in_metadata": "payload",
		}},
		"rules": []any{object{"match": object{"prefix": "/"}, "requires": object{"requires_any": object{"requirements": []any{
			object{"provider_name": "issuer"}, object{"allow_missing_or_failed": object{}},
		}}}}},
	})
}
