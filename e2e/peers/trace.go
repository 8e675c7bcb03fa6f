package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// A trace is requests in time and who must be admitted. Times are in units.
type trace struct {
	name          string
	limit, window int64
	steps         []arrival
	want          int // the number that an exact window admits
}

type arrival struct {
	key string
	at  int64
}

// theLadder holds the worked traces that Weir itself is tested with.
const theLadder = "../../limiter/testdata/ladder.json"

var fromLadder = []string{
	"log-basic", "retrying-client", "half-open-boundary", "three-per-five-seconds", "fixed-window-double-burst",
}

// traces returns the worked traces and two more. The double burst of the
// ladder hits a window that begins where the clock says; primed-double-burst
// does the same to one that begins with the first request of a key.
func traces() ([]trace, error) {
	data, err := os.ReadFile(theLadder)
	if err != nil {
		return nil, fmt.Errorf("run this in e2e/peers: %w", err)
	}
	var ladder struct{ Traces []ladderTrace }
	if err := json.Unmarshal(data, &ladder); err != nil {
		return nil, fmt.Errorf("%s: %w", theLadder, err)
	}
	byName := map[string]ladderTrace{}
	for _, l := range ladder.Traces {
		byName[l.Name] = l
	}
	var all []trace
	for _, name := range fromLadder {
		l, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("%s has no trace %q", theLadder, name)
		}
		all = append(all, l.trace())
	}
	primed := trace{name: "primed-double-burst", limit: 100, window: 60}
	primed.burst(0, 1)
	primed.burst(59, 100)
	primed.burst(61, 100)
	primed.want = len(exact(primed.limit, 60, primed.steps))
	return append(all, primed, random()), nil
}

// random arrives 1.7 times as often as the limit allows, unevenly.
func random() trace {
	t := trace{name: "random", limit: 10, window: 100}
	source := rand.New(rand.NewPCG(3, 4))
	at := 0.0
	for range 200 {
		at += source.ExpFloat64() * 6
		t.burst(int64(at), 1)
	}
	t.want = len(exact(t.limit, t.window, t.steps))
	return t
}

func (t *trace) burst(at int64, requests int) {
	for range requests {
		t.steps = append(t.steps, arrival{"k", at})
	}
}

// A ladderTrace is a trace as the ladder has it: step by step, or in bursts.
type ladderTrace struct {
	Name          string
	Limit, Window int64
	Steps         [][3]any // key, time, admitted
	Admits        []struct {
		At       int64
		Requests int
	}
	SameTraffic struct {
		SlidingLog []int `json:"sliding_log"`
	} `json:"same_traffic"`
}

func (l ladderTrace) trace() trace {
	t := trace{name: l.Name, limit: l.Limit, window: l.Window}
	for _, s := range l.Steps {
		t.steps = append(t.steps, arrival{s[0].(string), int64(s[1].(float64))})
		if s[2].(bool) {
			t.want++
		}
	}
	for i, b := range l.Admits {
		t.burst(b.At, b.Requests)
		t.want += l.SameTraffic.SlidingLog[i]
	}
	return t
}

// exact returns the requests that an exact window admits, by its definition.
func exact(limit, window int64, steps []arrival) (admitted []arrival) {
	for _, s := range steps {
		if inWindow(admitted, s, window) < limit {
			admitted = append(admitted, s)
		}
	}
	return admitted
}

// inWindow counts the requests of a key that are younger than the window.
func inWindow(admitted []arrival, s arrival, window int64) (n int64) {
	for _, a := range admitted {
		if a.key == s.key && s.at-a.at < window {
			n++
		}
	}
	return n
}

// A verdict is what a contender made of a trace. Judged by what it admitted
// itself, over is how often it admitted a request into a full window, and
// needless how often it refused one though there was room.
type verdict struct {
	admitted, exact int
	over, needless  int
}

// realWindow is how long a window lasts for who reads the clock.
const realWindow = 300 * time.Millisecond

// play runs a trace. For who reads the clock it is played in real time, and
// judged by the times that the requests were really made at; a hundredth
// slower, so that what should come at the end of a window surely does.
func (t trace) play(p peer) verdict {
	unit := time.Second
	if p.clock == own {
		unit = realWindow / time.Duration(t.window)
	}
	length := unit * time.Duration(t.window)
	taker := p.new(len(t.steps), t.limit, length)
	defer done(taker)
	start := time.Now()
	var v verdict
	var made, admitted []arrival
	for _, s := range t.steps {
		now := epoch.Add(unit * time.Duration(s.at))
		at := now.Sub(epoch)
		if p.clock == own {
			time.Sleep(time.Until(start.Add(at + at/100)))
			now = time.Time{}
			at = time.Since(start)
		}
		s := arrival{s.key, int64(at)}
		made = append(made, s)
		room := inWindow(admitted, s, int64(length)) < t.limit
		ok := taker.take(s.key, now)
		if ok {
			admitted = append(admitted, s)
		}
		if ok && !room {
			v.over++
		}
		if !ok && room {
			v.needless++
		}
	}
	v.admitted = len(admitted)
	v.exact = len(exact(t.limit, int64(length), made))
	return v
}
