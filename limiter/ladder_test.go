package limiter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// ladder is testdata/ladder.json: worked traces that every implementation must
// reproduce, in the unit of each trace, which is one second here. Its counters
// are those of counter_test.go.
type ladder struct {
	Note, Costs string
	Traces      []trace
	Counters    json.RawMessage
	Validation  []struct {
		Limit, Window int64
		Error         string
	}
}

type trace struct {
	Name           string
	Algorithm      Algorithm
	Limit          int64
	Rate           int64 // per unit of time, of a trace without a limit and a window
	Burst          int64
	Window         int64
	Inclusive      bool
	Steps          [][3]any           // key, time, admitted
	KeptAfter      map[string][]int64 `json:"kept_after"`
	CounterExample string             `json:"counter_example"`
	RetryAfter     []int64            `json:"retry_after"`
	Pending        [][3]any           // key, time, count
	PendingCounts  string             `json:"pending_counts"`
	TrackedBefore  *int               `json:"tracked_before"`
	ForgetAt       int64              `json:"forget_at"`
	TrackedAfter   int                `json:"tracked_after"`
	Admits         []admits
	SameTraffic    map[string]any `json:"same_traffic"` // what other algorithms admit
}

// admits are many requests at a time, and how many are admitted.
type admits struct {
	At                 int64
	Requests, Admitted int
}

// readLadder fails if the file says anything that is not understood.
func readLadder(t *testing.T) (l ladder) {
	t.Helper()
	data, err := os.ReadFile("testdata/ladder.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLadder(t *testing.T) {
	ran := map[Algorithm]int{}
	for _, tr := range readLadder(t).Traces {
		ran[tr.Algorithm]++
		t.Run(tr.Name, func(t *testing.T) { tr.run(t) })
	}
	if want := fmt.Sprint(map[Algorithm]int{SlidingLog: 7, TokenBucket: 1, FixedWindow: 1}); fmt.Sprint(ran) != want {
		t.Errorf("ran %v traces, want %s", ran, want)
	}
}

func TestLadderValidation(t *testing.T) {
	entries := readLadder(t).Validation
	for _, v := range entries {
		for _, a := range everyAlgorithm {
			limit := Limit{Algorithm: a, Requests: v.Limit, Window: time.Duration(v.Window) * time.Second}
			if err := limit.Validate(); err == nil || err.Error() != v.Error {
				t.Errorf("%+v: error %v, want %q", limit, err, v.Error)
			}
		}
	}
	if len(entries) != 2 {
		t.Errorf("%d entries", len(entries))
	}
}

func (tr trace) limit() Limit {
	if tr.Rate != 0 {
		return Limit{Algorithm: tr.Algorithm, Requests: tr.Rate, Window: time.Second, Burst: tr.Burst}
	}
	return Limit{Algorithm: tr.Algorithm, Requests: tr.Limit, Window: time.Duration(tr.Window) * time.Second, Inclusive: tr.Inclusive}
}

func (tr trace) run(t *testing.T) {
	c := newClient(t, tr.limit())
	if len(tr.Steps) == 0 && len(tr.Admits) == 0 {
		t.Fatal("a trace of an unknown kind")
	}
	var last Instant
	for i, s := range tr.Steps {
		key, at, want := s[0].(string), s[1].(float64), s[2].(bool)
		last = Instant(at) * second
		d := c.take(key, last, 1)
		if d.Allowed != want {
			t.Errorf("step %d: take(%q, %g) = %v, want %v", i, key, at, d.Allowed, want)
		}
		if tr.RetryAfter != nil && d.RetryAfter != time.Duration(tr.RetryAfter[i])*time.Second {
			t.Errorf("step %d: retry after %v, want %ds", i, d.RetryAfter, tr.RetryAfter[i])
		}
	}
	for key, times := range tr.KeptAfter {
		if got := c.kept(key); !slices.Equal(got, times) {
			t.Errorf("kept of %q: %v, want %v", key, got, times)
		}
	}
	for _, p := range tr.Pending {
		key, at, want := p[0].(string), p[1].(float64), p[2].(float64)
		if got := c.pending(key, Instant(at)*second); got != int64(want) {
			t.Errorf("pending(%q, %g) = %d, want %g", key, at, got, want)
		}
	}
	if tr.TrackedBefore != nil {
		tr.forget(t, c, last)
	}
	tr.compare(t)
}

// compare runs the traffic of a trace by its own algorithm and by others.
func (tr trace) compare(t *testing.T) {
	want := make([]int, len(tr.Admits))
	for i, a := range tr.Admits {
		want[i] = a.Admitted
	}
	tr.admits(t, tr.limit(), want)
	for name, value := range tr.SameTraffic {
		limit := tr.limit()
		want := []int{100, 3} // two of 60 seconds refill 3⅓ of 100
		if algorithm, ok := strings.CutSuffix(name, "_burst_100"); ok {
			limit.Algorithm, limit.Burst = Algorithm(algorithm), 100
			if value != "100, then what two seconds refill" {
				t.Errorf("%s: %v is not understood", name, value)
			}
		} else {
			limit.Algorithm = Algorithm(name)
			for i, n := range value.([]any) {
				want[i] = int(n.(float64))
			}
		}
		tr.admits(t, limit, want)
	}
}

func (tr trace) admits(t *testing.T, l Limit, want []int) {
	t.Helper()
	c := newClient(t, l)
	for i, a := range tr.Admits {
		got := 0
		for range a.Requests {
			if c.take("key", Instant(a.At)*second, 1).Allowed {
				got++
			}
		}
		if got != want[i] {
			t.Errorf("%s: %d of %d admitted at %d s, want %d", l.Algorithm, got, a.Requests, a.At, want[i])
		}
	}
}

// forget checks that an idle key goes away by the sweep alone.
func (tr trace) forget(t *testing.T, c client, last Instant) {
	if got := c.tracked(last); got != *tr.TrackedBefore {
		t.Errorf("tracked before: %d, want %d", got, *tr.TrackedBefore)
	}
	at := Instant(tr.ForgetAt) * second
	sweep, err := c.table.Sweep(at, c.table.Shards())
	if err != nil || sweep.Forgotten != *tr.TrackedBefore || sweep.Live != tr.TrackedAfter {
		t.Errorf("sweep: %+v, %v", sweep, err)
	}
	if got := c.tracked(at); got != tr.TrackedAfter {
		t.Errorf("tracked after: %d, want %d", got, tr.TrackedAfter)
	}
}

// kept returns the times, in seconds, that the log of a key holds.
func (c client) kept(key string) (times []int64) {
	fp := c.table.Fingerprint([]byte(key))
	value, _, err := c.table.store.Load(c.table.shardOf(fp), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	e, _ := find(value, fp, minInstant)
	log, _ := decodeEvents(state(e.states, c.limits.ids[0]))
	for ; log.used > 0; log.drop() {
		for range log.first {
			times = append(times, int64(log.oldest/second))
		}
	}
	return times
}
