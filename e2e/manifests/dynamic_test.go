package manifests

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDynamic follows the comment in dynamic/envoy.yaml: a file is replaced, and the
// limit changes, while what has been used stays used. A file that Weir refuses
// changes nothing.
func TestDynamic(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"envoy/dynamic", "build"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(module(t), filepath.Join(dir, "build/weir.wasm")); err != nil {
		t.Fatal(err)
	}
	listeners := func(more map[string]string) string {
		replacements := map[string]string{
			"port_value: 10000":         "port_value: 0",
			"route: {cluster: service}": "direct_response: {status: 200}",
		}
		maps.Copy(replacements, more)
		return changed(t, "dynamic/lds.yaml", replacements)
	}
	replace(t, filepath.Join(dir, "envoy/dynamic/lds.yaml"), listeners(nil))
	replace(t, filepath.Join(dir, "envoy/dynamic/cds.yaml"), changed(t, "dynamic/cds.yaml", nil))
	p := start(t, dir, []byte(changed(t, "dynamic/envoy.yaml", nil)))
	update := func(stat, text string, want tally) {
		t.Helper()
		const lds = "listener_manager.lds."
		before, err := p.Stats(t.Context(), lds)
		if err != nil {
			t.Fatal(err)
		}
		replace(t, filepath.Join(dir, "envoy/dynamic/lds.yaml"), text)
		after := func(s map[string]int64) bool { return s[lds+stat] > before[lds+stat] }
		if _, err := p.Await(t.Context(), lds, after); err != nil {
			t.Fatal(err)
		}
		settled := map[string]int64{"listener_manager.total_listeners_warming": 0, "listener_manager.total_listeners_active": 1}
		if _, err := p.Await(t.Context(), `listener_manager\.total_listeners_(warming|active)`, func(s map[string]int64) bool {
			return maps.Equal(s, settled)
		}); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, p, "ingress", "/api", 10, "x-user-id", "alice"); !maps.Equal(got, want) {
			t.Errorf("%s: answers %v, want %v", stat, got, want)
		}
	}
	if got, want := ask(t, p, "ingress", "/api", 10, "x-user-id", "alice"), (tally{200: 3, 429: 7}); !maps.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
	// Of eight, three have been used.
	raised := map[string]string{`"requests": 3`: `"requests": 8`}
	update("update_success", listeners(raised), tally{200: 5, 429: 5})
	update("update_rejected", listeners(map[string]string{`"requests"`: `"request"`}), tally{429: 10})
	update("update_success", listeners(map[string]string{`"requests": 3`: `"requests": 12`}), tally{200: 4, 429: 6})
	if got := admin(t, p, "/clusters"); !strings.Contains(got, "service::127.0.0.1:8000") {
		t.Errorf("the cluster of cds.yaml is not there:\n%s", got)
	}
}
