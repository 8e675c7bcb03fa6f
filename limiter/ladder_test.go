package limiter

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"
)

// ladder is testdata/ladder.json: worked traces that every implementation must
// reproduce, in the unit of each trace, which is one second here.
type ladder struct {
	Traces []trace
}

type trace struct {
	Name          string
	Algorithm     Algorithm
	Limit         int64
	Window        int64
	Inclusive     bool
	Steps         [][3]any           // key, time, admitted
	KeptAfter     map[string][]int64 `json:"kept_after"`
	RetryAfter    []int64            `json:"retry_after"`
	Pending       [][3]any           // key, time, count
	TrackedBefore *int               `json:"tracked_before"`
	ForgetAt      int64              `json:"forget_at"`
	TrackedAfter  int                `json:"tracked_after"`
}

func readLadder(t *testing.T) ladder {
	t.Helper()
	data, err := os.ReadFile("testdata/ladder.json")
	if err != nil {
		t.Fatal(err)
	}
	var l ladder
	if err := json.Unmarshal(data, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLadder(t *testing.T) {
	ran := 0
	for _, tr := range readLadder(t).Traces {
		if tr.Algorithm != SlidingLog {
			continue
		}
		ran++
		t.Run(tr.Name, func(t *testing.T) { tr.run(t) })
	}
	if ran < 7 {
		t.Errorf("ran %d traces of the sliding log", ran)
	}
}

func (tr trace) run(t *testing.T) {
	c := newClient(t, Limit{Algorithm: tr.Algorithm, Requests: tr.Limit, Window: time.Duration(tr.Window) * time.Second, Inclusive: tr.Inclusive})
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
		if got := fmt.Sprint(c.kept(key)); got != fmt.Sprint(times) {
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
