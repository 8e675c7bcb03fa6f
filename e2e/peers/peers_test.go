package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"
)

// forAll runs a test for every contender.
func forAll(t *testing.T, test func(t *testing.T, p peer)) {
	for _, p := range contenders() {
		t.Run(p.name, func(t *testing.T) { test(t, p) })
	}
}

// time0 is the time of a request, for who takes it.
func (p peer) time0() time.Time {
	if p.clock == argument {
		return epoch
	}
	return time.Time{}
}

// In one burst, of a window that does not end meanwhile, everybody admits the
// limit and no more; and what one key has used, another has not.
func TestBurst(t *testing.T) {
	forAll(t, func(t *testing.T, p peer) {
		taker := p.new(1000, 10, time.Hour)
		defer done(taker)
		for _, key := range []string{"ann", "bob", ""} {
			admitted := 0
			for range 25 {
				if taker.take(key, p.time0()) {
					admitted++
				}
			}
			if admitted != 10 {
				t.Errorf("of 25 requests of %q, %d were admitted, want 10", key, admitted)
			}
		}
	})
}

// Who goes by the time that it is given gives the quota back when it has
// passed.
func TestGivenTime(t *testing.T) {
	forAll(t, func(t *testing.T, p peer) {
		if p.clock == own {
			t.Skip("reads the clock")
		}
		taker := p.new(1000, 1, time.Second)
		defer done(taker)
		for _, step := range []struct {
			at   time.Duration
			want bool
		}{
			{0, true},
			{time.Second / 2, false},
			{2 * time.Second, true}, // two windows: a weighted one remembers the one before
		} {
			if got := taker.take("ann", epoch.Add(step.at)); got != step.want {
				t.Errorf("at %v: %v, want %v", step.at, got, step.want)
			}
		}
	})
}

func TestApart(t *testing.T) {
	keys, err := newKeys(5000)
	if err != nil {
		t.Fatal(err)
	}
	forAll(t, func(t *testing.T, p peer) {
		if kept, err := apart(p, keys); err != nil {
			t.Error(kept, err)
		}
	})
}

// apart must notice a limiter that holds all keys to one quota, and one that
// forgets.
func TestApartNotices(t *testing.T) {
	for name, answer := range map[string]func(i int) bool{
		"one quota":     func(i int) bool { return i == 0 },
		"without limit": func(int) bool { return true },
	} {
		p := peer{name: name, new: func(int, int64, time.Duration) taker { return &scripted{answer: answer} }}
		if kept, err := apart(p, []string{"a", "b", "c"}); err == nil {
			t.Errorf("%s: kept apart %d, and no error", name, kept)
		}
	}
}

type scripted struct {
	answer func(i int) bool
	calls  int
}

func (s *scripted) take(string, time.Time) bool {
	s.calls++
	return s.answer(s.calls - 1)
}

// In the setting of the speed table nobody refuses, from however many
// goroutines.
func TestWorkloadIsAdmitted(t *testing.T) {
	keys, err := newKeys(2000)
	if err != nil {
		t.Fatal(err)
	}
	forAll(t, func(t *testing.T, p peer) {
		w, err := newWorkload(p, keys)
		if err != nil {
			t.Fatal(err)
		}
		defer done(w.taker)
		for _, goroutines := range []int{1, 4} {
			if _, err := w.run(20*len(keys), goroutines); err != nil {
				t.Error(goroutines, err)
			}
		}
	})
}

func TestReport(t *testing.T) {
	plan := plan{rounds: 2, keys: []int{1000, 2000}, requests: 10_000, memoryKeys: 5000}
	if err := report(io.Discard, plan, func(string) {}); err != nil {
		t.Error(err)
	}
}

// BenchmarkTake is the speed table for benchstat.
func BenchmarkTake(b *testing.B) {
	for _, n := range thorough.keys {
		keys, err := newKeys(n)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range contenders() {
			b.Run(fmt.Sprintf("keys=%d/%s", n, p.name), func(b *testing.B) { benchmark(b, p, keys) })
		}
	}
}

func benchmark(b *testing.B, p peer, keys []string) {
	if _, err := apart(p, keys); err != nil {
		b.Fatal(err)
	}
	w, err := newWorkload(p, keys)
	if err != nil {
		b.Fatal(err)
	}
	defer done(w.taker)
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		walk := walk{workload: w}
		for b.Loop() {
			if !walk.take() {
				b.Fatal("refused")
			}
		}
	})
	b.Run("many", func(b *testing.B) {
		b.ReportAllocs()
		var refused atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			walk := walk{workload: w}
			for pb.Next() {
				if !walk.take() {
					refused.Add(1)
				}
			}
		})
		if n := refused.Load(); n > int64(b.N/1000) {
			b.Errorf("%d of %d requests were refused", n, b.N)
		}
	})
}
