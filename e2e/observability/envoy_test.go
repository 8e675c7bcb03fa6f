package observability

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyconf"
	"github.com/weirproxy/weir/e2e/envoyproc"
	"go.yaml.in/yaml/v3"
)

type object = map[string]any

// at is what is found in nested objects and lists by these steps.
func at(v any, steps ...any) any {
	for _, step := range steps {
		if key, ok := step.(string); ok {
			v = v.(object)[key]
		} else {
			v = v.([]any)[step.(int)]
		}
	}
	return v
}

// bootstrap is envoy/envoy.yaml with its listener once for each configuration, which
// is its namespace, and with these settings of the connection manager. An engine
// without an address is a cluster without a host.
func bootstrap(t *testing.T, configurations map[string]string, settings object, engines map[string]string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../envoy/envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("../../build/weir.wasm")
	if err != nil {
		t.Fatal(err)
	}
	var listeners, clusters []any
	var config object
	for namespace, configuration := range configurations {
		if err := yaml.Unmarshal(text, &config); err != nil {
			t.Fatal(err)
		}
		listener := at(config, "static_resources", "listeners", 0).(object)
		listener["name"] = namespace
		at(listener, "address", "socket_address").(object)["port_value"] = 0
		manager := at(listener, "filter_chains", 0, "filters", 0, "typed_config").(object)
		maps.Copy(manager, settings)
		filter := at(manager, "http_filters", 0, "typed_config", "config").(object)
		at(filter, "vm_config", "code", "local").(object)["filename"] = module
		at(filter, "configuration").(object)["value"] = strings.Replace(configuration, "{", `{"namespace": "`+namespace+`",`, 1)
		listeners = append(listeners, listener)
	}
	for name, addr := range engines {
		if addr == "" {
			clusters = append(clusters, object{"name": name, "type": "STATIC"})
			continue
		}
		cluster, err := envoyconf.Cluster(name, addr)
		if err != nil {
			t.Fatal(err)
		}
		clusters = append(clusters, cluster)
	}
	config["static_resources"] = object{"listeners": listeners, "clusters": clusters}
	out, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// start runs an Envoy with one worker, so that who overflows is no chance.
func start(t *testing.T, config []byte) *envoyproc.Process {
	t.Helper()
	p, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// serve starts a server and says where it is.
func serve(t *testing.T, handler http.HandlerFunc) (addr string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// says is a server that gives everybody the same answer.
func says(t *testing.T, status int, body string) (addr string) {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// nobody is an address where nobody listens.
func nobody(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	return l.Addr().String()
}

// secret is in all that a client sends, and must be in nothing that is counted.
const secret = "s3cr3t"

// ask sends a request to a listener and returns the status of the answer.
func ask(ctx context.Context, envoy *envoyproc.Process, namespace, path string, headers ...string) (int, error) {
	addr, err := envoy.Listener(ctx, namespace)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path+"?q="+secret, nil)
	if err != nil {
		return 0, err
	}
	request.Host = secret + ".test"
	request.Header.Set("Cookie", "sid="+secret)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", namespace, err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Body.Close()
}
