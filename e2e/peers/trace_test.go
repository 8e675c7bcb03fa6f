package main

import (
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// The oracle must say what the worked traces say.
func TestExact(t *testing.T) {
	all, err := traces()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(fromLadder)+2 {
		t.Errorf("%d traces", len(all))
	}
	for _, tr := range all {
		if got := len(exact(tr.limit, tr.window, tr.steps)); got != tr.want {
			t.Errorf("%s: the oracle admits %d, want %d", tr.name, got, tr.want)
		}
	}
}

// Weir is exact, step by step, and its conservative buckets never admit too
// much.
func TestWeirIsExact(t *testing.T) {
	all, err := traces()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range all {
		if v := tr.play(weirs[0]); v != (verdict{admitted: tr.want, exact: tr.want}) {
			t.Errorf("%s: %s: %+v, want %d admitted and nothing over or needless", weirs[0].name, tr.name, v, tr.want)
		}
		if v := tr.play(weirs[1]); v.over > 0 {
			t.Errorf("%s: %s: %+v, want nothing over", weirs[1].name, tr.name, v)
		}
	}
}

// Every step of the ladder's traces has its answer, not only their sum.
func TestWeirStepByStep(t *testing.T) {
	all, err := traces()
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range all {
		l := must(limiter.New(1000, limiter.Limit{Requests: tr.limit, Window: time.Duration(tr.window) * time.Second}))
		var admitted []arrival
		for i, s := range tr.steps {
			want := inWindow(admitted, s, tr.window) < tr.limit
			if got := l.Take(s.key, epoch.Add(time.Duration(s.at)*time.Second)).Allowed; got != want {
				t.Errorf("%s: step %d: Take(%q, %d) = %v, want %v", tr.name, i, s.key, s.at, got, want)
			}
			if want {
				admitted = append(admitted, s)
			}
		}
	}
}
