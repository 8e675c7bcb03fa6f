package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/load"
)

// A garbageStream is requests of one kind, each on a listener of its own.
type garbageStream struct {
	filter
	status   int   // of every counted request
	keys     int64 // which take turns, none more than fifty times a second
	requests int64 // counted
}

// What the streams are held to, as the rules of a configuration.
const (
	garbageAdmits = `"rules": [{"name": "r", "key": [{"header": "x-key"}], "limits": [{"requests": 50, "window": "1s"}]}], "on_error": "deny"}`
	garbageOnce   = `"rules": [{"name": "r", "key": [{"header": "x-key"}], "limits": [{"requests": 1, "window": "1d"}]}], "on_error": "deny"}`
	garbageMany   = `"rules": [
		{"name": "two", "match": {"path": {"prefix": "/api"}, "methods": ["GET"]}, "key": [{"header": "x-key"}, {"path": true}],
			"limits": [{"requests": 50, "window": "1s"}, {"requests": 1000000, "window": "1h", "algorithm": "sliding_buckets"}]},
		{"name": "address", "key": [{"client_ip": true}, {"query": "page"}, {"cookie": "id"}],
			"limits": [{"requests": 1000000, "window": "1s", "algorithm": "token_bucket"}]}], "on_error": "deny"}`
	allHeaders = `"headers": ["retry-after", "ratelimit", "x-ratelimit"], `
)

// TestNoGarbage: what requests leave to the guest's garbage collector is
// nothing. It does not collect once while a million are admitted, and neither
// while they are refused, or answered with RateLimit headers.
//
// The collector is told to begin as soon as it can, which is when about 0.7 MB
// are new, not 4 MB: of a million requests, less than a byte for each. That it
// is heard is shown by the last stream, in the same VM: bodies of problem
// details, which are put together for each refusal, do leave garbage.
func TestNoGarbage(t *testing.T) {
	n := int64(50_000)
	if *long {
		n = 1_000_000
	}
	streams := []garbageStream{
		{filter{"admitted", "{" + garbageAdmits}, 200, 10_000, n},
		{filter{"refused", "{" + garbageOnce}, 429, 2000, n / 5},
		{filter{"headers", "{" + allHeaders + garbageAdmits}, 200, 2000, n / 5},
		{filter{"refused-headers", "{" + allHeaders + garbageOnce}, 429, 2000, n / 5},
		{filter{"rules", "{" + allHeaders + garbageMany}, 200, 2000, n / 5},
	}
	control := garbageStream{filter{"control", `{"reply": {"body": {"format": "problem"}}, ` + garbageOnce}, 429, 2000, 3000}
	begun := collections(t, append(streams, control))
	for _, s := range streams {
		if t.Logf("%s: %d collections in %d requests", s.name, begun[s.name], s.requests); begun[s.name] != 0 {
			t.Errorf("%s: the guest has begun %d collections in %d requests, want none", s.name, begun[s.name], s.requests)
		}
	}
	if t.Logf("the control: %d in %d", begun[control.name], control.requests); begun[control.name] < 3 {
		t.Errorf("the control has begun %d collections in %d requests: they are not heard", begun[control.name], control.requests)
	}
}

// collections sends the streams to an Envoy with one worker, one after the
// other, and returns how many collections its VM has begun in each, from the
// first counted request to the last.
func collections(t *testing.T, streams []garbageStream) map[string]int {
	t.Helper()
	listeners := []any{marking(t)}
	for _, s := range streams {
		listeners = append(listeners, listener(t, s.filter, answerDirectly, collectAtOnce))
	}
	envoy := startEnvoy(t, assemble(t, listeners), 1)
	marks := listenerOf(t, envoy, "mark")
	mark := func(path string) {
		if tally := pour(t, marks, each(0, 1, func(int64) load.Request { return load.Request{Path: path} })); tally[200] != 1 {
			t.Fatalf("mark %s: %v", path, tally)
		}
	}
	for _, s := range streams {
		addr := listenerOf(t, envoy, s.name)
		// All keys are known then, a limit of one is used up, and buffers have grown.
		if tally := pour(t, addr, each(0, 2*s.keys, s.request)); tally[200] < s.keys {
			t.Fatalf("%s, warming up: %v", s.name, tally)
		}
		mark("/begin/" + s.name)
		if tally := pour(t, addr, each(0, s.requests, s.request)); tally[s.status] != s.requests {
			t.Errorf("%s: %v, want %d times %d", s.name, tally, s.requests, s.status)
		}
		mark("/end/" + s.name)
	}
	if err := envoy.Stop(); err != nil { // after which the log is whole
		t.Fatal(err)
	}
	return countBegun(t, envoy.Log(), len(streams))
}

// marking is a listener that logs the path of each request, by the thread of
// the worker that serves it.
func marking(t *testing.T) object {
	t.Helper()
	return listener(t, filter{"mark", ""}, answerDirectly, func(_, manager object) {
		manager["http_filters"].([]any)[0] = extension("lua", "filters.http.lua.v3.Lua", object{"default_source_code": object{
			"inline_string": `function envoy_on_request(h) h:logErr("mark " .. h:headers():get(":path")) end`}})
	})
}

// collectAtOnce has the VM collect its heap when it has grown by a hundredth,
// or by the megabyte that Go leaves to its sweeper, and say when it begins:
// the end, which gctrace tells, may come long after the last request.
func collectAtOnce(_, manager object) {
	vmConfig(manager)["environment_variables"] = object{"key_values": object{"GOGC": "1", "GODEBUG": "gcpacertrace=1"}}
}

// vmConfig is how the VM of the first filter is made.
func vmConfig(manager object) object {
	config := manager["http_filters"].([]any)[0].(object)["typed_config"].(object)["config"].(object)
	return config["vm_config"].(object)
}

func (s garbageStream) request(i int64) load.Request {
	return load.Request{Path: "/api/items?page=2", Headers: [][2]string{
		{"x-key", fmt.Sprint("user-", i%s.keys)}, {"cookie", "id=a"}, {"accept", "*/*"},
	}}
}

// The lines of Envoy's log that count, and the thread that wrote each. The
// runtime prints in pieces, and Envoy logs each as a line.
var garbageLine = regexp.MustCompile(`^\[[^]]*\]\[(\d+)\].*(?:(pacer: assist ratio=)|mark /(begin|end)/(\S+))$`)

// countBegun counts the collections that began between the marks of so many
// streams, on the thread of the marks: the VM of the main thread, which serves
// nobody, has a heap of its own.
func countBegun(t *testing.T, log string, streams int) map[string]int {
	t.Helper()
	begun, threads := map[string]int{}, []string{}
	stream, worker := "", ""
	for line := range strings.Lines(log) {
		switch m := garbageLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); {
		case m == nil:
		case m[3] == "begin":
			stream, worker = m[4], m[1]
			begun[stream] = 0
			threads = append(threads, worker)
		case m[3] == "end":
			stream = ""
		case stream != "" && m[1] == worker:
			begun[stream]++
		}
	}
	if len(threads) != streams || len(slices.Compact(threads)) != 1 || stream != "" {
		t.Fatalf("marks of streams %v by threads %v, want %d by one", begun, threads, streams)
	}
	return begun
}
