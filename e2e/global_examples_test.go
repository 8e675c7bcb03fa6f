package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/envoyproc"
)

// TestGlobalExamples runs the two files that users copy: of the requests of a user
// 100 are admitted, and by the engine.
func TestGlobalExamples(t *testing.T) {
	server, upstream := startRedis(t, 0), startUpstream(t)
	limits, err := os.ReadFile("../envoy/global-rls/config/edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	door, err := engine.StartWebdis(t.Context(), engine.WebdisOptions{Redis: server})
	stopAfter(t, door, err)
	service := startRatelimit(t, server, string(limits), 0)
	for _, example := range []struct {
		file, port string
		listens    int
		window     time.Duration
	}{
		{"global-redis.yaml", "7379", door.Port, 10 * time.Second},
		{"global-rls.yaml", "8081", service.Port, time.Minute},
	} {
		t.Run(example.file, func(t *testing.T) {
			config := patched(t, example.file, map[string]string{
				"port_value: 10000":           "port_value: 0",
				"port_value: 8000":            "port_value: " + upstream[strings.LastIndex(upstream, ":")+1:],
				"port_value: " + example.port: fmt.Sprintf("port_value: %d", example.listens),
				`"timeout": "20ms"`:           `"timeout": "10s"`, // what a busy machine needs
				"connect_timeout: 0.02s":      "connect_timeout: 10s",
				`"on_global_error": "local"`:  `"on_global_error": "deny"`,
				`{filename: build/weir.wasm}`: `{filename: ` + modulePath + `}`,
			})
			proxy := startEnvoy(t, config, 2)
			addr := listenerOf(t, proxy, "ingress")
			withinWindow(t, example.window, func(attempt int) error {
				var lanes []lane
				for range 16 {
					lanes = append(lanes, lane{addr, times(15, requestOf("/api", "x-user-id", fmt.Sprint("alice", attempt)))})
				}
				if got := tally(drive(t, lanes)); got[200] != 100 || got[429] != 140 {
					return fmt.Errorf("answers by status %v", got)
				}
				return nil
			})
			stats, err := proxy.Stats(t.Context(), `weir\.filter\.weir\.global_`)
			if err != nil || stats["wasmcustom.weir.filter.weir.global_calls"] < 100 {
				t.Errorf("too few calls: %v, %v", stats, err)
			}
		})
	}
}

// patched is a file that users copy, with replacements.
func patched(t *testing.T, file string, replacements map[string]string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../envoy", file))
	if err != nil {
		t.Fatal(err)
	}
	config, err := envoyproc.Patch(text, replacements)
	if err != nil {
		t.Fatal(err)
	}
	return config
}
