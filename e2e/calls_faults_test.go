package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// engines are the configurations that make every host call about calls.
var engines = map[string]func(engine, members string) string{"redis": sharedByRedis, "rls": sharedByRLS}

// alone is the fate of a request that the engine has no say in: on_global_error
// is local, and admits it.
const alone fate = 100

// An answerFault is a host call that fails in a callback about a call, and what
// becomes of a request that the engine admits (Redis when it has been sent the
// script), of one that it refuses, and of one that it fails.
type answerFault struct {
	engine, callback, call    string
	admitted, refused, failed fate
	errors                    int64  // how often the filter's counter of errors moves
	counts                    string // of the engine
}

// Of these two, the first is when nothing fails.
const (
	redisCounts = "calls=4 unreachable=1"
	rlsCounts   = "calls=3 unreachable=1"
)

var answerFaults = []answerFault{
	{"redis", onRequest, "proxy_http_call", alone, alone, alone, 3, "unreachable=3"},
	{"redis", onHTTP, "proxy_http_call", alone, usual, usual, 1, "calls=3 unreachable=2"},
	{"redis", onHTTP, "proxy_get_header_map_value", alone, alone, alone, 0, "calls=3 malformed=3"},
	{"redis", onHTTP, "proxy_get_buffer_bytes", alone, alone, usual, 0, "calls=3 unreachable=1 malformed=2"},
	{"redis", onHTTP, "clock_time_get", fails, fails, fails, 3, "calls=3 unreachable=1"}, // nobody knows how long the script may take
	{"redis", onHTTP, "proxy_get_shared_data", usual, usual, fails, 1, redisCounts},      // what the refused one gives back is lost
	{"redis", onHTTP, "proxy_set_shared_data", usual, usual, fails, 1, redisCounts},
	{"redis", onHTTP, "proxy_set_effective_context", hangs, hangs, hangs, 3, redisCounts},
	{"redis", onHTTP, "proxy_continue_stream", hangs, usual, hangs, 2, redisCounts},
	{"redis", onHTTP, "proxy_set_property", usual, usual, usual, 1, redisCounts},
	{"redis", onHTTP, "proxy_send_local_response", usual, hangs, usual, 1, redisCounts},
	{"redis", onHTTP, "proxy_increment_metric", usual, usual, usual, 0, "calls=3"},

	{"rls", onRequest, "proxy_grpc_call", alone, alone, alone, 3, "unreachable=3"},
	{"rls", onMessage, "proxy_get_buffer_bytes", alone, alone, usual, 0, "calls=3 unreachable=1 malformed=2"},
	{"rls", onMessage, "clock_time_get", fails, fails, usual, 2, rlsCounts},
	{"rls", onMessage, "proxy_get_shared_data", usual, usual, usual, 0, rlsCounts},
	{"rls", onMessage, "proxy_set_shared_data", usual, usual, usual, 0, rlsCounts},
	{"rls", onMessage, "proxy_set_effective_context", hangs, hangs, usual, 2, rlsCounts},
	{"rls", onMessage, "proxy_continue_stream", hangs, usual, usual, 1, rlsCounts},
	{"rls", onMessage, "proxy_set_property", usual, usual, usual, 1, rlsCounts},
	{"rls", onMessage, "proxy_send_local_response", usual, hangs, usual, 1, rlsCounts},
	{"rls", onMessage, "proxy_increment_metric", usual, usual, usual, 0, rlsCounts},
	{"rls", onClose, "clock_time_get", usual, usual, fails, 1, rlsCounts},
	{"rls", onClose, "proxy_set_effective_context", usual, usual, hangs, 1, rlsCounts},
	{"rls", onClose, "proxy_continue_stream", usual, usual, hangs, 1, rlsCounts},
	{"rls", onClose, "proxy_increment_metric", usual, usual, usual, 0, "calls=3"},
}

func newAnswerCaller(t *testing.T, engine, onError string) *caller {
	t.Helper()
	return newCaller(t, engines[engine]("", fmt.Sprintf(`"on_error": %q,`, onError)))
}

// answered sends the three requests, of fresh keys, and answers their calls.
func (c *caller) answered(key string) (all [3]*wasmhost.Exchange) {
	c.Helper()
	for i, name := range []string{"admitted", "refused", "failed"} {
		all[i] = c.begin(name + key)
		for n := 0; len(c.vm.Calls()) > 0; n++ {
			call := c.vm.Calls()[0]
			switch {
			case i == 0 && n == 0 && call.Cluster != "":
				c.answer(call, noScript)
			case i == 2:
				c.failAs(call)
			default:
				c.answerAs(call, i == 0)
			}
		}
	}
	return all
}

// TestEveryCallAboutCallsFails is TestEveryCallFails for requests that wait for
// an engine: they may get no other answer than on_error or on_global_error says,
// and no two of them.
func TestEveryCallAboutCallsFails(t *testing.T) {
	for _, onError := range []string{"allow", "deny"} {
		callers := map[string]*caller{}
		for engine := range engines {
			callers[engine] = newAnswerCaller(t, engine, onError)
		}
		run := 0
		for _, f := range answerFaults {
			for _, status := range statuses() {
				run++
				t.Run(fmt.Sprintf("%s/%s/%s=%v/%s", f.engine, f.callback, f.call, status, onError), func(t *testing.T) {
					c := callers[f.engine]
					c.T = t
					c.host.SetNow(time.Duration(run) * 4 * time.Hour)
					c.fault(f, status, onError == "deny", fmt.Sprint(run))
				})
			}
		}
	}
}

// fault tries a fault, and then the same without.
func (c *caller) fault(f answerFault, status wasmhost.Status, deny bool, key string) {
	before, mark := c.errors(), len(c.host.Logs())
	c.host.Before = faultIn(c.host, f.callback, f.call, status)
	all := c.answered(key)
	c.host.Before, c.host.Fault = nil, nil
	logged, counted := c.host.Logs()[mark:], c.errors()-before
	checkLines(c.T, logged, 1)
	absent := status == wasmhost.NotFound
	switch {
	case absent && f.call == "proxy_get_header_map_value":
		f.counts = "calls=3 rejected=3" // an answer without a status
	case absent && f.call == "proxy_get_shared_data" && counted == 0:
		f.failed, f.errors = usual, 0 // no other key has put the shard there
	}
	for i, want := range []fate{f.admitted, f.refused, f.failed} {
		c.checkFate(all[i], want, i == 1, deny)
		c.must(all[i].Leave(c.Context()))
	}
	c.counted(f.counts)
	if counted != f.errors || (len(logged) > 0) != (f.errors > 0) {
		c.Errorf("logged %q, %d errors counted, want %d", logged, counted, f.errors)
	}
	c.must(c.vm.Tick(c.Context())) // after which an error is logged again
	for i, e := range c.answered(key + " well") {
		c.checkFate(e, usual, i == 1, deny)
	}
	c.counted(map[string]string{"redis": redisCounts, "rls": rlsCounts}[f.engine])
}

func (c *caller) checkFate(e *wasmhost.Exchange, want fate, refused, deny bool) {
	c.Helper()
	switch {
	case want == hangs:
		if e.Over() {
			c.Errorf("response %+v, want none", e.Response())
		}
	case want == fails && deny:
		c.check(e, 503, "local_rate_limit_error")
	case want == usual && refused:
		c.check(e, 429, "local_rate_limited{two}")
	default:
		c.check(e, 200, "")
	}
}

func (c *caller) errors() int64 {
	n, _ := c.host.Metrics.Get("weir.filter.e2e.errors")
	return n
}

// TestNoTimeToConclude: a request that waited for an engine, and that there is no
// time to decide when it has answered, is an error of its rule, and is not left
// charged to the local limit.
func TestNoTimeToConclude(t *testing.T) {
	for engine := range engines {
		c := newAnswerCaller(t, engine, "deny")
		e, call := c.paused("a")
		c.host.Fault = func(name, _ string) wasmhost.Status {
			if name == "clock_time_get" {
				return wasmhost.InternalFailure
			}
			return wasmhost.OK
		}
		c.answerAs(call, true)
		c.host.Fault = nil
		c.check(e, 503, "local_rate_limit_error")
		if n, _ := c.host.Metrics.Get("weir.rule.e2e.two.errors"); n != 1 {
			t.Errorf("%s: %d errors of the rule, want 1", engine, n)
		}
		e, call = c.paused("a")
		c.answerAs(call, true)
		c.check(e, 200, "")
		c.remains(e, 8)
	}
}

// TestGarbageOfCalls gives the module bytes of an answer that a proxy would not,
// and says wrong things of where they are: the request is decided all the same.
func TestGarbageOfCalls(t *testing.T) {
	values := []string{"", "\x00", "\xff\xfe", strings.Repeat("\xff", 64<<10), strings.Repeat("[", 1<<16)}
	places := []func(address, size uint32) (uint32, uint32){
		func(_, size uint32) (uint32, uint32) { return 0, max(size, 1) },
		func(address, _ uint32) (uint32, uint32) { return max(address, 64), 0xFFFFFFFF },
		func(address, size uint32) (uint32, uint32) { return max(address, 64), size + 4000 },
		func(address, size uint32) (uint32, uint32) { return address, size / 2 },
		func(address, size uint32) (uint32, uint32) { return max(address, 64) + 3, size },
	}
	for engine := range engines {
		c := newAnswerCaller(t, engine, "deny")
		wanted := func(call string) bool {
			return c.vm.Callback() != onRequest && (call == "proxy_get_buffer_bytes" || call == "proxy_get_header_map_value" && c.vm.Callback() == onHTTP)
		}
		for i := range len(values) + len(places) {
			c.host.Tamper = func(call, _ string, real []byte) []byte {
				if i < len(values) && wanted(call) {
					return []byte(values[i])
				}
				return real
			}
			c.host.Misplace = func(call, _ string, address, size uint32) (uint32, uint32) {
				if i >= len(values) && wanted(call) {
					return places[i-len(values)](address, size)
				}
				return address, size
			}
			for _, e := range c.answered(fmt.Sprint(i)) {
				c.check(e, 200, "") // by the share of this proxy
			}
		}
	}
}
