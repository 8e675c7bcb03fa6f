package manifests

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyconf"
	"github.com/weirproxy/weir/e2e/envoyproc"
)

// TestGatewayRefused is what the pages say of a configuration that Weir refuses.
// Envoy Gateway serves the module over HTTP, and Envoy takes the first configuration
// before it has the module: every request gets 503. While it has the module already,
// it rejects an update, and the configuration before goes on.
func TestGatewayRefused(t *testing.T) {
	policy := rewritten(t, one(t, "gateway/gateway.yaml", "EnvoyExtensionPolicy"), `"requests":50,"window":"1s"`, `"requests":2,"window":"1h"`)
	wrong := rewritten(t, policy, `"limits"`, `"limit"`)
	t.Run("first", func(t *testing.T) {
		g := startGateway(t, wrong)
		if got := ask(t, g.Process, "web/web/http", "/", 3); got[503] != 3 {
			t.Errorf("answers %v, want 503", got)
		}
		if !strings.Contains(g.Log(), "weir: cannot start: the configuration is refused") {
			t.Errorf("no reason in the log:\n%s", g.Log())
		}
	})
	t.Run("update", func(t *testing.T) {
		g := startGateway(t, policy)
		if got := ask(t, g.Process, "web/web/http", "/", 3); got[200] != 2 || got[429] != 1 {
			t.Fatalf("answers %v, want 200 twice and 429", got)
		}
		g.write(wrong)
		const rejected = "listener_manager.lds.update_rejected"
		if _, err := g.Await(t.Context(), rejected, func(s map[string]int64) bool { return s[rejected] == 1 }); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, g.Process, "web/web/http", "/", 3); got[429] != 3 {
			t.Errorf("answers %v, want 429", got)
		}
	})
}

// A gatewayProxy is an Envoy that takes its listener from a file, and the module by
// HTTP.
type gatewayProxy struct {
	*envoyproc.Process
	t        *testing.T
	lds, uri string
}

func startGateway(t *testing.T, policy document) *gatewayProxy {
	t.Helper()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, module(t)) }))
	t.Cleanup(served.Close)
	files, err := envoyconf.Cluster("files", served.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	g := &gatewayProxy{t: t, lds: filepath.Join(t.TempDir(), "lds.json"), uri: served.URL + "/weir.wasm"}
	g.write(policy)
	g.Process = start(t, "", toJSON(t, object{
		"node":              object{"id": "weir", "cluster": "weir"},
		"static_resources":  object{"clusters": []any{files}},
		"dynamic_resources": object{"lds_config": object{"resource_api_version": "V3", "path_config_source": object{"path": g.lds}}},
	}))
	return g
}

// write puts a policy to use.
func (g *gatewayProxy) write(policy document) {
	g.t.Helper()
	code, err := os.ReadFile(module(g.t))
	if err != nil {
		g.t.Fatal(err)
	}
	text, _ := gatewayListener(g.t, policy)
	var listener object
	if err := json.Unmarshal(text, &listener); err != nil {
		g.t.Fatal(err)
	}
	local := `"local":` + string(toJSON(g.t, object{"filename": module(g.t)}))
	remote := `"remote":` + string(toJSON(g.t, object{"sha256": fmt.Sprintf("%x", sha256.Sum256(code)),
		"http_uri": object{"uri": g.uri, "cluster": "files", "timeout": "10s"}}))
	listener["@type"] = "type.googleapis.com/envoy.config.listener.v3.Listener"
	fetched := strings.Replace(string(toJSON(g.t, object{"resources": []any{listener}})), local, remote, 1)
	if !strings.Contains(fetched, remote) {
		g.t.Fatalf("no %s in %s", local, fetched)
	}
	replace(g.t, g.lds, fetched)
}
