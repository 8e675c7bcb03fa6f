package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// A model says what becomes of requests whose engine answers by chance. The keys
// are fresh, so that only the engine decides.
type model struct {
	*caller
	random   *rand.Rand
	now      time.Duration
	most     int                  // calls that may be under way
	pending  map[uint32]*modelled // by token
	requests int
	counts   map[string]int64
}

// A modelled request waits for its call, which goes on when the client has left.
type modelled struct {
	exchange *wasmhost.Exchange
	asked    time.Duration
	scripted bool // the script was sent along
	gone     bool
}

// TestRandomInterleavings: a request that is answered twice or never, a call that
// is not made or made once too often, and a count of calls that drifts. What
// becomes of each step is known; the host ends a module that decides twice.
func TestRandomInterleavings(t *testing.T) {
	steps := 20_000
	for i, configuration := range []func(string, string) string{sharedByRedis, sharedByRLS} {
		seed := rand.Uint64()
		m := &model{
			caller: newCaller(t, configuration(`, "max_pending": 8, "timeout": "4s"`, `"on_global_error": "deny", "store": {"max_keys": 100000},`)),
			random: rand.New(rand.NewPCG(seed, uint64(i))), now: time.Hour, most: 8, pending: map[uint32]*modelled{}, counts: map[string]int64{},
		}
		for step := 0; step < steps && !t.Failed(); step++ {
			m.step()
		}
		for _, token := range slices.Sorted(maps.Keys(m.pending)) {
			m.end(token)
		}
		for _, token := range slices.Sorted(maps.Keys(m.pending)) { // which were sent the script
			m.end(token)
		}
		m.finish()
		if t.Failed() {
			t.Fatalf("of seed %d, %d requests", seed, m.requests)
		}
	}
}

func (m *model) step() {
	m.now += time.Duration(m.random.IntN(1000)) * time.Millisecond
	m.host.SetNow(m.now)
	tokens := slices.Sorted(maps.Keys(m.pending))
	var token uint32
	if len(tokens) > 0 {
		token = tokens[m.random.IntN(len(tokens))]
	}
	switch n := m.random.IntN(100); {
	case n < 45 || token == 0:
		m.request()
	case n < 85:
		m.end(token)
	case n < 95:
		m.leave(m.pending[token])
	default:
		m.must(m.vm.Tick(m.Context()))
	}
	if got := m.vm.Calls(); len(got) != len(m.pending) {
		m.Fatalf("%d calls, and %d in the model", len(got), len(m.pending))
	}
}

// request sends one, which is paused if there is room.
func (m *model) request() {
	m.requests++
	key := fmt.Sprint(m.requests)
	if len(m.pending) >= m.most {
		m.counts["overflow"]++
		m.check(m.begin(key), 503, "local_rate_limit_error")
		return
	}
	e := m.begin(key)
	m.made(&modelled{exchange: e, asked: m.now})
}

// made notes the call that is new.
func (m *model) made(r *modelled) {
	m.counts["calls"]++
	for _, call := range m.vm.Calls() {
		if m.pending[call.Token] == nil {
			m.pending[call.Token] = r
			break
		}
	}
	if r.exchange.Over() || len(m.vm.Calls()) != len(m.pending) {
		m.Fatalf("over %v, %+v", r.exchange.Over(), r.exchange.Response())
	}
}

func (m *model) leave(r *modelled) {
	if !r.gone {
		r.gone = true
		m.must(r.exchange.Leave(m.Context()))
	}
}

// An ending is a way for a call to end, with what the request then gets.
type ending struct {
	how     func(c *caller, call *wasmhost.Call) error
	status  int
	details string
	counter string
}

func answering(admitted bool) func(*caller, *wasmhost.Call) error {
	return func(c *caller, call *wasmhost.Call) error { c.answerAs(call, admitted); return nil }
}

// endings of a call are the causes of failure and the two answers, which come as
// often.
func (m *model) ending(call *wasmhost.Call) ending {
	causes := rlsCauses
	if call.Cluster != "" {
		causes = redisCauses
	}
	switch m.random.IntN(3) {
	case 0:
		return ending{answering(true), 200, "", ""}
	case 1:
		return ending{answering(false), 429, "local_rate_limited{two}", ""}
	}
	cause := causes[m.random.IntN(len(causes))]
	for cause.name == "huge" || cause.name == "deep" { // which take their time
		cause = causes[m.random.IntN(len(causes))]
	}
	return ending{cause.fail, 503, "local_rate_limit_error", cause.counter}
}

// end answers a call, if it is the first of Redis sometimes that the script is
// not known.
func (m *model) end(token uint32) {
	r := m.pending[token]
	calls := m.vm.Calls()
	call := calls[slices.IndexFunc(calls, func(c *wasmhost.Call) bool { return c.Token == token })]
	delete(m.pending, token)
	if call.Cluster != "" && !r.scripted && m.random.IntN(4) == 0 {
		r.scripted = true
		m.answer(call, noScript)
		switch {
		case r.gone:
		case m.now-r.asked > 4*time.Second-time.Millisecond:
			m.counts["timeout"]++
			m.check(r.exchange, 503, "local_rate_limit_error")
		default:
			m.made(r)
		}
		return
	}
	ending := m.ending(call)
	m.must(ending.how(m.caller, call))
	if r.gone {
		return
	}
	if ending.counter != "" {
		m.counts[ending.counter]++
	}
	m.check(r.exchange, ending.status, ending.details)
}

// finish checks that nothing is left and that everything was counted.
func (m *model) finish() {
	var want string
	for _, name := range []string{"calls", "timeout", "unreachable", "rejected", "malformed", "overflow"} {
		if n := m.counts[name]; n == 0 {
			m.Errorf("the model has seen no %s", name)
		} else {
			want += fmt.Sprintf(" %s=%d", name, n)
		}
	}
	m.counted(want[1:])
	if calls := m.vm.Calls(); len(calls) != 0 || len(m.pending) != 0 {
		m.Errorf("%d calls are left, and %d in the model", len(calls), len(m.pending))
	}
	for i := range m.most { // all of which there is room for, so none has been kept
		m.paused(fmt.Sprint("after ", i))
	}
	m.check(m.begin("one more"), 503, "local_rate_limit_error")
	if logs := m.host.Logs(); len(logs) > 0 {
		m.Errorf("logged %q", logs)
	}
}
