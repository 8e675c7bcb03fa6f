package traffic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

const twoLimits = `{"rules":[{"name":"r","key":[{"header":"x-user-id"}],
	"limits":[{"requests":10,"window":"10ms"},{"requests":50,"window":"70ms"}],
	"overrides":[{"key":["vip"],"limits":[{"requests":99,"window":"10ms"},{"requests":50,"window":"70ms"}]}]}]}`

// by is a request of a user.
type by struct {
	policy.EmptyRequest
	user string
}

func (b by) Header(string) (string, error) { return b.user, nil }

// limitsOf returns what a policy holds a user to.
func limitsOf(t testing.TB, p *policy.Policy, user string) *limiter.Limits {
	t.Helper()
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(limiter.Seed{}))
	if err != nil {
		t.Fatal(err)
	}
	return policy.NewEvaluator(p, table).Evaluate(0, by{user: user}).Outcomes[0].Charge.Limits
}

// TestWorst holds the worst windows of random verdicts to those found by
// looking at every window that begins with an admission.
func TestWorst(t *testing.T) {
	p := compile(t, twoLimits)
	limits := limitsOf(t, p, "alice")
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		w := NewWorst(p)
		type admitted struct {
			at    limiter.Instant
			key   limiter.Fingerprint
			units int64
		}
		var all []admitted
		at := limiter.Instant(start.UnixMicro())
		keys := 1 + random.Uint64N(4)
		for range 200 {
			at += limiter.Instant(random.Int64N(4) * 1000) // often a window apart
			c := limiter.Charge{Key: limiter.Fingerprint(1 + random.Uint64N(keys)), Limits: limits, Cost: 1 + random.Int64N(3)}
			o := policy.Outcome{Charge: &c, Kind: policy.OutcomeKind(random.IntN(int(policy.Charged)))}
			v := policy.Verdict{}
			if o.Kind == policy.Limited || random.IntN(5) == 0 {
				v.Reply = &policy.Reply{}
			}
			c.PeekOnly = random.IntN(10) == 0
			if v.Reply == nil && !c.PeekOnly && (o.Kind == policy.Allowed || o.Kind == policy.Full) {
				all = append(all, admitted{at, c.Key, c.Cost})
			}
			v.Outcomes = []policy.Outcome{o}
			w.Note(at, &v)
		}
		for i, window := range []limiter.Instant{10_000, 70_000} {
			worst := int64(0)
			for _, first := range all {
				sum := int64(0)
				for _, a := range all {
					if a.key == first.key && a.at >= first.at && a.at < first.at+window {
						sum += a.units
					}
				}
				worst = max(worst, sum)
			}
			if got := w.Of(0, i); got != worst {
				t.Fatalf("seed %d, limit %d: got %d, want %d", seed, i, got, worst)
			}
		}
	}
}

// TestWorstOverrides leaves out the keys with other limits.
func TestWorstOverrides(t *testing.T) {
	p := compile(t, twoLimits)
	w := NewWorst(p)
	for i, user := range []string{"vip", "alice"} {
		c := limiter.Charge{Key: 1, Limits: limitsOf(t, p, user), Cost: 5}
		w.Note(0, &policy.Verdict{Outcomes: []policy.Outcome{{Charge: &c}, {Kind: policy.MissingKey}}})
		want := int64(0)
		if i == 1 {
			want = 5
		}
		if got := w.Of(0, 0); got != want {
			t.Errorf("step %d: got %d, want %d", i, got, want)
		}
	}
}

// TestWorstForgets holds the memory of a flood to the keys of one window.
func TestWorstForgets(t *testing.T) {
	p := compile(t, twoLimits)
	w, limits := NewWorst(p), limitsOf(t, p, "alice")
	for i := range 200_000 {
		c := limiter.Charge{Key: limiter.Fingerprint(i + 1), Limits: limits, Cost: 1}
		w.Note(limiter.Instant(i*10), &policy.Verdict{Outcomes: []policy.Outcome{{Charge: &c}}})
	}
	for i, inWindow := range []int{1000, 7000} {
		if n := len(w.most[0][i].keys); n > 3*inWindow+1024 {
			t.Errorf("limit %d: %d keys are kept", i, n)
		}
	}
	c := limiter.Charge{Key: 1, Limits: limits, Cost: 1}
	for i := range 400_000 {
		w.Note(limiter.Instant(2_000_000+i/2*10), &policy.Verdict{Outcomes: []policy.Outcome{{Charge: &c}}})
	}
	if n := len(w.most[0][1].keys[1].admitted); n > 2*7000 {
		t.Errorf("%d admissions are kept", n)
	}
}

// TestWorstOfLadder runs a burst across the boundary of a window of the clock
// through the algorithms: what each lets through is what it documents.
func TestWorstOfLadder(t *testing.T) {
	for algorithm, want := range map[string]int64{
		"sliding_log": 50, "sliding_buckets": 50, "token_bucket": 52, "leaky_bucket": 52, "fixed_window": 100,
	} {
		p := compile(t, fmt.Sprintf(`{"rules":[{"name":"r","key":[{"client_ip":true}],"limits":[{"requests":50,"window":"10s","algorithm":%q}]}]}`, algorithm))
		table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(limiter.Seed{}))
		if err != nil {
			t.Fatal(err)
		}
		e, w := policy.NewEvaluator(p, table), NewWorst(p)
		g := New(mustParse(t, "burst,size=400,spread=500ms,start=9750ms,clients=2"), Options{Start: start, Names: Keyed(p)})
		for at, r := g.Next(); r != nil; at, r = g.Next() {
			w.Note(at, e.Evaluate(at, r))
		}
		if got := w.Of(0, 0); got != want {
			t.Errorf("%s: the worst window has %d units, want %d", algorithm, got, want)
		}
	}
}
