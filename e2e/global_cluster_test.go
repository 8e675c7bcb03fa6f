package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/load"
)

// TestGlobalRedisCluster: limits are exact in a Redis Cluster too, behind webdis and
// the Envoy that users copy, and their keys are spread over its servers.
func TestGlobalRedisCluster(t *testing.T) {
	servers, err := engine.StartCluster(t.Context(), 2)
	stopAfter(t, servers, err)
	middle := startEnvoy(t, patched(t, "global-redis-cluster.yaml", map[string]string{
		"port_value: 6380":       "port_value: 0",
		"port_value: 6379":       fmt.Sprintf("port_value: %d", servers.Nodes[0].Port),
		"op_timeout: 0.02s":      "op_timeout: 10s", // what a busy machine needs
		"connect_timeout: 0.02s": "connect_timeout: 10s",
	}), 1)
	addr := listenerOf(t, middle, "redis")
	port, err := strconv.Atoi(addr[strings.LastIndex(addr, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	door, err := engine.StartWebdis(t.Context(), engine.WebdisOptions{Redis: &engine.Redis{Port: port}, Credentials: webdisToken})
	stopAfter(t, door, err)
	rules := `{"name": "two", "key": [{"header": "x-key"}], "global": {"limits": [{"requests": 3, "window": "1h"}, {"requests": 9, "window": "2h", "algorithm": "sliding_buckets"}]}}`
	proxy := startProxies(t, 1, []filter{globalFilter("webdis", rules)}, cluster(t, "webdis", door.Addr))[0]
	const keys = 30
	var lanes []lane
	for i := range keys {
		lanes = append(lanes, lane{listenerOf(t, proxy, "webdis"), times(5, requestOf("/", "x-key", fmt.Sprint(i)))})
	}
	if got, want := tally(drive(t, lanes)), (load.Tally{200: 3 * keys, 429: 2 * keys}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answers by status %v, want %v", got, want)
	}
	var sum int64
	for _, node := range servers.Nodes {
		n := clientOf(t, node).DBSize(t.Context()).Val()
		if sum += n; n == 0 || n%2 != 0 {
			t.Errorf("%d windows at one server, want some, and both of a key", n)
		}
	}
	if sum != 2*keys {
		t.Errorf("%d windows in all, want %d", sum, 2*keys)
	}
}
