package e2e

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/weirproxy/weir/e2e/load"
)

// TestGlobalReloadForgetsTheShield: an operator who has emptied Redis, and reloads
// the filter, has a proxy that asks again.
func TestGlobalReloadForgetsTheShield(t *testing.T) {
	server := startRedis(t, 0)
	f := globalFilter("webdis", `{"name": "one", "key": [{"header": "x-key"}], "global": {"limits": [{"requests": 1, "window": "1h"}]}}`)
	l := &lds{file: filepath.Join(t.TempDir(), "lds.json"), listeners: map[string]object{}, addresses: map[string]string{}}
	l.write(t)
	config, err := json.Marshal(object{
		"node":              object{"id": "weir", "cluster": "weir"},
		"dynamic_resources": object{"lds_config": object{"resource_api_version": "V3", "path_config_source": object{"path": l.file}}},
		"static_resources":  object{"clusters": []any{cluster(t, "webdis", startWebdis(t, server).Addr)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Process = startEnvoy(t, config, 1, "--drain-time-s", "1", "--drain-strategy", "immediate")
	r := requestOf("/", "x-key", "any")
	l.update(t, accepted, listener(t, f, answerDirectly))
	wantTally(t, "at first", listenerOf(t, l.Process, "webdis"), 3, r, load.Tally{200: 1, 429: 2})
	if err := clientOf(t, server).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	wantTally(t, "when Redis is empty", listenerOf(t, l.Process, "webdis"), 2, r, load.Tally{429: 2})
	f.configuration += " "
	l.update(t, accepted, listener(t, f, answerDirectly))
	wantTally(t, "after the reload", listenerOf(t, l.Process, "webdis"), 3, r, load.Tally{200: 1, 429: 2})
}
