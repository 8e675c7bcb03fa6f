package policy

import (
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// a panickyStore panics at so many loads.
type panickyStore struct {
	limiter.Store
	panics int
}

func (s *panickyStore) Load(shard uint32, buf []byte) ([]byte, uint64, error) {
	if s.panics > 0 {
		s.panics--
		panic("broken")
	}
	return s.Store.Load(shard, buf)
}

// newPanicky returns an evaluator of a configuration on a store that panics when
// it is told to.
func newPanicky(t *testing.T, config string) (*Evaluator, *panickyStore) {
	t.Helper()
	p := mustCompile(t, config)
	store := &panickyStore{Store: limiter.NewMemory(limiter.Shards(p.Store.MaxKeys))}
	table, err := limiter.NewTable(store, p.TableOptions(limiter.Seed{}))
	if err != nil {
		t.Fatal(err)
	}
	return NewEvaluator(p, table), store
}

// charged checks how many units a key has used of the first rule's local limits.
func (e *Evaluator) charged(t *testing.T, key limiter.Fingerprint, want int64) {
	t.Helper()
	n, err := e.table.Pending(0, key, e.policy.Rules[0].limits.limits, nil)
	if err != nil || n[0] != want {
		t.Errorf("%v units are charged, %v, want %d", n, err, want)
	}
}

// TestAPanicAfterTheChargeGivesBack what the request was charged in this proxy,
// to the local limits and to the share: it was not decided, and may be refused.
func TestAPanicAfterTheChargeGivesBack(t *testing.T) {
	refusal := []Answer{{Each: []limiter.Decision{{Limit: 6, RetryAfter: time.Microsecond}}}}
	for name, test := range map[string]struct {
		answers      []Answer
		panics, lost int
		breaks       func(*Call)
	}{
		"weighing an answer":           {answers: refusal, breaks: func(c *Call) { c.Asks[0].outcome = 7 }},
		"asking the table":             {panics: 1},
		"weighing a share":             {breaks: func(c *Call) { c.Asks[0].outcome = 7 }},
		"giving back":                  {answers: refusal, panics: 1, lost: 1},
		"asking, and then giving back": {panics: 2, lost: 1},
	} {
		for _, action := range []string{"allow", "deny"} {
			config := failing("local")
			e, store := newPanicky(t, config[:len(config)-1]+`, "on_error": "`+action+`"}`)
			r := get("/", "x-k", "v")
			key := e.table.Fingerprint(e.keyOf(t, r))
			call := e.Evaluate(0, r).Call
			e.charged(t, key, 1)
			if test.breaks != nil {
				test.breaks(call)
			}
			store.panics = test.panics
			v := e.Conclude(0, call, test.answers)
			if v.Err == nil || (v.Reply != nil) != (action == "deny") || v.Result.Lost != test.lost || v.Outcomes[0].Kind != Failed || store.panics != 0 {
				t.Errorf("%s, on_error %s: %q, %v, %+v, outcomes %+v, %d panics left", name, action, details(v), v.Err, v.Result, v.Outcomes, store.panics)
			}
			e.charged(t, key, int64(test.lost))
			for i := range 2 { // which the share is
				if v := e.Conclude(1, e.Evaluate(1, r).Call, nil); v.Reply != nil { // when the engine would be asked again
					t.Errorf("%s, on_error %s: request %d after it: %q", name, action, i, details(v))
				}
			}
			e.charged(t, key, int64(test.lost)+2)
		}
	}
}

// TestAPanicGivesBackOnce: what a refusal has given back is not given back again,
// which would be at the cost of another request.
func TestAPanicGivesBackOnce(t *testing.T) {
	e, r := newEvaluator(t, failing("local")), get("/", "x-k", "v")
	e.Evaluate(0, r)
	call := e.Evaluate(0, r).Call
	call.charges[0].Each = nil // which the headers look at
	v := e.Conclude(0, call, []Answer{{Each: []limiter.Decision{{Limit: 6, RetryAfter: limiter.Never}}}})
	if v.Err == nil {
		t.Errorf("Conclude() = %+v, want a panic", v)
	}
	e.charged(t, e.table.Fingerprint(e.keyOf(t, r)), 1)
}

// TestAPanicGivesBackWithoutAnEngine: what was charged before the verdict was put
// into words.
func TestAPanicGivesBackWithoutAnEngine(t *testing.T) {
	config := one("3", `"key": [{"header": "x-k"}]`)
	e, r := newEvaluator(t, `{"headers": ["ratelimit"], `+config[1:]), get("/", "x-k", "v")
	q := e.policy.Rules[0].limits
	names := q.names
	q.names = nil
	if v := e.Evaluate(0, r); v.Err == nil || v.Outcomes[0].Kind != Failed {
		t.Errorf("Evaluate() = %+v, want a panic", v)
	}
	q.names = names
	e.charged(t, e.table.Fingerprint(e.keyOf(t, r)), 0)
	if e.Evaluate(0, r); e.Evaluate(0, panicky{r}).Err == nil {
		t.Error("a panic passes")
	}
	e.charged(t, e.table.Fingerprint(e.keyOf(t, r)), 1) // the panic is not of the request before
}

// TestAbandon: a request that there is no time to conclude is not charged, and the
// rules that it matched have failed.
func TestAbandon(t *testing.T) {
	for _, action := range []string{"allow", "deny"} {
		config := failing("local")
		e := newEvaluator(t, config[:len(config)-1]+`, "on_error": "`+action+`"}`)
		r := get("/", "x-k", "v")
		call := e.Evaluate(0, r).Call
		e.Evaluate(second, get("/", "x-k", "other"))
		v := e.Abandon(call, errBroken)
		e.checkFailure(t, "Abandon", v, action, errBroken, "a")
		if v.Result.Lost != 0 {
			t.Errorf("%d charges lost", v.Result.Lost)
		}
		e.charged(t, e.table.Fingerprint(e.keyOf(t, r)), 0)
	}
}
