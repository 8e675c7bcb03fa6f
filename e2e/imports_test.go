package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	root = "github.com/weirproxy/weir/"
	tool = "limiter/cmd/weir/internal/"
)

// TestImports holds the direction of imports: what each part may import
// besides the standard library, which for the core has no clock, no I/O and no
// goroutines in it.
func TestImports(t *testing.T) {
	for _, rule := range []struct {
		packages string
		wasm     bool
		allowed  []string
		denied   []string
	}{
		{packages: "limiter",
			allowed: []string{"github.com/dchest/siphash", root + "limiter/internal/brief"},
			denied:  []string{"fmt", "os", "io", "net", "net/http", "log", "log/slog", "context"}},
		{packages: "limiter/internal/spelling"},
		{packages: "limiter/policy",
			allowed: []string{root + "limiter", root + "limiter/internal/brief", root + "limiter/internal/spelling", "github.com/go-json-experiment/json/jsontext"},
			denied:  []string{"fmt", "os", "net", "net/http", "log", "log/slog", "context", "sync"}},
		{packages: "limiter/global",
			allowed: []string{root + "limiter", root + "limiter/policy", "github.com/go-json-experiment/json/jsontext"},
			denied:  []string{"fmt", "os", "io", "net", "net/http", "log", "log/slog", "context", "sync"}},
		{packages: "plugin", wasm: true,
			allowed: []string{root + "limiter", root + "limiter/global", root + "limiter/policy"},
			denied:  []string{"fmt", "os", "net", "net/http", "time", "sync", "context"}},
		{packages: tool + "report", allowed: []string{"github.com/go-json-experiment/json/"}},
		{packages: tool + "accesslog",
			allowed: []string{root + "limiter/policy", root + tool + "report", "github.com/klauspost/compress/", "github.com/go-json-experiment/json/jsontext"}},
		{packages: tool + "manifest",
			allowed: []string{root + "limiter/policy", "go.yaml.in/yaml/v3", "github.com/go-json-experiment/json/"}},
		{packages: tool + "engine", allowed: []string{root + "limiter", root + "limiter/policy"}},
		{packages: tool + "replay",
			allowed: []string{root + "limiter", root + "limiter/policy", root + tool + "engine", root + tool + "report", "github.com/go-json-experiment/json", "github.com/go-json-experiment/json/jsontext"}},
		{packages: tool + "explain",
			allowed: []string{root + "limiter", root + "limiter/policy", root + tool + "engine", root + tool + "replay", root + tool + "report"}},
		{packages: tool + "image", allowed: []string{"github.com/google/go-containerregistry/", "github.com/CycloneDX/cyclonedx-go"}},
		{packages: tool + "traffic",
			allowed: []string{root + "limiter", root + "limiter/internal/spelling", root + "limiter/policy", root + tool + "report", "github.com/go-json-experiment/json/jsontext"}},
		{packages: "e2e/replaybench"},
		{packages: "e2e/compat"},
		{packages: "e2e/child"},
		{packages: "e2e/engine", allowed: []string{root + "e2e/child", "github.com/redis/go-redis/v9"}},
		{packages: "e2e/globaldemo", allowed: []string{root + "e2e/engine", root + "e2e/envoyproc", root + "e2e/load"}},
		{packages: "e2e/globalbench", allowed: []string{root + "e2e/engine", root + "e2e/envoyconf", root + "e2e/envoyproc", root + "e2e/load"}},
		{packages: "e2e/wasmhost", allowed: []string{"github.com/tetratelabs/wazero/"}},
		{packages: "e2e/envoyproc", allowed: []string{root + "e2e/child", "golang.org/x/sys/unix"}},
		{packages: "e2e/scenario"},
		{packages: "e2e/load"},
		{packages: "e2e/envoyconf"},
		{packages: "e2e/bench", allowed: []string{root + "e2e/envoyconf", root + "e2e/envoyproc", root + "e2e/load"}},
		{packages: "e2e/demo", allowed: []string{root + "e2e/envoyproc"}},
	} {
		for _, path := range imports(t, rule.packages, rule.wasm) {
			standard := !strings.Contains(strings.Split(path, "/")[0], ".")
			if standard && !contains(rule.denied, path) || !standard && contains(rule.allowed, path) {
				continue
			}
			t.Errorf("%s imports %s", rule.packages, path)
		}
	}
}

// contains says whether a path is in the list, or below an entry that ends in /.
func contains(list []string, path string) bool {
	for _, entry := range list {
		if path == entry || strings.HasSuffix(entry, "/") && strings.HasPrefix(path+"/", entry) {
			return true
		}
	}
	return false
}

func imports(t *testing.T, path string, wasm bool) []string {
	t.Helper()
	list := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, root+path)
	list.Stderr = os.Stderr
	if wasm {
		list.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	}
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
