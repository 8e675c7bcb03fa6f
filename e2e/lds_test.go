package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// drainSeconds is for how long an old configuration serves the connections that
// were open before an update. Each is told to close with its next answer.
const drainSeconds = 5

// lds is an Envoy with four workers that takes its listeners from a file, which
// is replaced at every update.
type lds struct {
	*envoyproc.Process
	file      string
	version   int
	listeners map[string]object
	addresses map[string]string // a name keeps its address
}

func startReloadable(t *testing.T) *lds {
	t.Helper()
	l := &lds{file: filepath.Join(t.TempDir(), "lds.json"), listeners: map[string]object{}, addresses: map[string]string{}}
	l.write(t)
	config, err := json.Marshal(object{
		"node": object{"id": "weir", "cluster": "weir"},
		"dynamic_resources": object{"lds_config": object{
			"resource_api_version": "V3", "path_config_source": object{"path": l.file}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Process = startEnvoy(t, config, 4, "--drain-time-s", fmt.Sprint(drainSeconds), "--drain-strategy", "immediate")
	return l
}

// write replaces the file by a move, which is what Envoy watches for: it never
// reads half of it.
func (l *lds) write(t *testing.T) {
	t.Helper()
	l.version++
	resources := []object{}
	for _, listener := range l.listeners {
		resource := object{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener"}
		maps.Copy(resource, listener)
		resources = append(resources, resource)
	}
	text, err := json.Marshal(object{"version_info": fmt.Sprint(l.version), "resources": resources})
	if err != nil {
		t.Fatal(err)
	}
	next := l.file + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, l.file); err != nil {
		t.Fatal(err)
	}
}

// Envoy's answers to an update.
const (
	accepted = "listener_manager.lds.update_success"
	rejected = "listener_manager.lds.update_rejected"
)

// update adds the listeners or replaces those of the same name, and waits for
// the answer, which must be the wanted one. Every name has an address of its own:
// a new listener at port 0 takes the socket of any that is draining at the same.
func (l *lds) update(t *testing.T, want string, listeners ...object) {
	t.Helper()
	for _, changed := range listeners {
		name := changed["name"].(string)
		if l.addresses[name] == "" {
			l.addresses[name] = fmt.Sprintf("127.0.0.%d", len(l.addresses)+2)
		}
		changed["address"].(object)["socket_address"].(object)["address"] = l.addresses[name]
		l.listeners[name] = changed
	}
	const either = "^(" + accepted + "|" + rejected + ")$"
	before, err := l.Stats(t.Context(), either)
	if err != nil {
		t.Fatal(err)
	}
	l.write(t)
	after, err := l.Await(t.Context(), either, func(stats map[string]int64) bool { return !maps.Equal(stats, before) })
	if err != nil {
		t.Fatalf("update %d: %v", l.version, err)
	}
	before[want]++
	if !maps.Equal(after, before) {
		t.Fatalf("update %d: envoy counts %v, want %v", l.version, after, before)
	}
}

// await waits until so many gauges match, and each has the value.
func (l *lds) await(t *testing.T, gauges string, count int, value int64) {
	t.Helper()
	_, err := l.Await(t.Context(), "^"+gauges+"$", func(stats map[string]int64) bool {
		for _, n := range stats {
			if n != value {
				return false
			}
		}
		return len(stats) == count
	})
	if err != nil {
		t.Fatalf("want %d of %d: %v", count, value, err)
	}
}

// refusals counts the lines in the log in which Weir refuses a configuration
// for that reason, once there are as many as are wanted: what Envoy has printed
// is read a moment later.
func (l *lds) refusals(why string, want int) (n int) {
	line := regexp.MustCompile(`(?m)^.* weir: cannot start: the configuration is refused: ` + regexp.QuoteMeta(why) + `$`)
	for deadline := time.Now().Add(slow); n < want && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		n = len(line.FindAllString(l.Log(), -1))
	}
	return n
}

// live returns a new connection that is served by the marked configuration. A
// worker may learn of an update a moment after Envoy has accepted it.
func (l *lds) live(t *testing.T, name, mark string) *pinned {
	t.Helper()
	addr, err := l.Listener(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(slow); ; {
		p, err := dialPinned(addr)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.ask("/probe", "")
		if err != nil || got.status != http.StatusOK {
			t.Fatalf("probe: %+v, %v", got, err)
		}
		if got.config == mark {
			t.Cleanup(func() { _ = p.Close() })
			return p
		}
		_ = p.Close()
		if time.Now().After(deadline) {
			t.Fatalf("configuration %q still answers, want %q", got.config, mark)
		}
	}
}

// marked is a listener whose every answer says which configuration it is of.
// Its rules and members go into the JSON; "/probe" is never limited.
func marked(t *testing.T, name, mark, rules, members string, settings ...setting) object {
	t.Helper()
	json := fmt.Sprintf(`{"rules": [%s], "on_error": "deny", "exempt": [{"path": {"exact": "/probe"}}],
		"reply": {"headers": {"x-config": %q}}%s}`, rules, mark, members)
	mine := func(_, manager object) {
		answerDirectly(nil, manager)
		manager["route_config"].(object)["response_headers_to_add"] = []any{
			object{"header": object{"key": "x-config", "value": mark}}}
	}
	return listener(t, filter{name, json}, append([]setting{mine}, settings...)...)
}

// configuring changes the plugin of a listener.
func configuring(change func(plugin object)) setting {
	return func(_, manager object) {
		weir := manager["http_filters"].([]any)[0].(object)
		change(weir["typed_config"].(object)["config"].(object))
	}
}

// A member is one connection after the other, and what it was told.
type member struct {
	t        *testing.T
	addr     string
	conn     *pinned
	used     bool           // the connection has had an answer
	admitted map[string]int // by key
	cut      map[string]int // requests without an answer, by key
	by       map[string]int // admissions by key and configuration
	answers  int
	closed   int // connections that ended as announced
	wait     int // the last Retry-After of the held key
}

// ask gets an answer of 200 or 429, on another connection if this one has been
// closed, as a drained one is.
func (m *member) ask(rule, key string) (got answer) {
	for name, err := rule+" "+key, error(nil); ; {
		if m.conn == nil {
			if m.conn, err = dialPinned(m.addr); err != nil {
				m.t.Error(err)
				return got
			}
			m.used = false
		}
		got, err = m.conn.ask("/", "x-rule: "+rule+"\r\nx-key: "+key)
		if err != nil || got.last {
			_ = m.conn.Close()
			m.conn = nil
		}
		switch {
		case err != nil && m.used:
			m.cut[name]++
			continue
		case err != nil || got.status != 200 && got.status != 429:
			m.t.Errorf("%s: %+v, %v", name, got, err)
		case got.status == 200:
			m.admitted[name]++
			m.by[name+" "+got.config]++
		}
		m.answers, m.used = m.answers+1, true
		if got.last {
			m.closed++
		}
		return got
	}
}
