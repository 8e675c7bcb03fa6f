package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// soakMeasures are what must be flat, and by how much it may grow after the
// first quarter: 8 MB are about one byte a request. Of the short version the
// beginning is the whole: its bounds are those of a table that fills.
var soakMeasures = [...]struct {
	name        string
	short, long int64
}{
	{"the memory of the guests", 16 << 20, 2 << 20},
	{"what Envoy has allocated", 16 << 20, 4 << 20}, // which has nothing of the guests in it
	{"RSS", 32 << 20, 8 << 20},
}

// A soakSample is the measures at one time, and of each stream the tracked keys
// and those that came once.
type soakSample struct {
	at            time.Duration
	measures      [len(soakMeasures)]int64
	tracked, cold []int64
}

func (s *soak) sample(t *testing.T) soakSample {
	t.Helper()
	rss, err := s.envoy.RSS()
	if err != nil {
		t.Fatal(err)
	}
	var requests int64
	stats := s.stats(t)
	now := soakSample{at: time.Since(s.start)}
	now.measures = [...]int64{guestBytes(t, s.envoy), stats["server.memory_allocated"], rss}
	for _, stream := range s.streams {
		requests += stream.tally.Total()
		now.tracked = append(now.tracked, stats["wasmcustom.weir.filter."+stream.name+".tracked_keys"])
		now.cold = append(now.cold, stream.cold.Load())
	}
	if len(s.series)%5 == 0 || !*long {
		t.Logf("%5.0fs %8d requests; KiB: guests %d, allocated %d, RSS %d; tracked keys %d",
			now.at.Seconds(), requests, now.measures[0]>>10, now.measures[1]>>10, now.measures[2]>>10, now.tracked)
	}
	s.series = append(s.series, now)
	return now
}

// vmsMade moves when a VM dies and is made anew.
const vmsMade = "wasm.envoy.wasm.runtime.v8.created"

func (s *soak) stats(t *testing.T) map[string]int64 {
	t.Helper()
	stats, err := s.envoy.Stats(t.Context(), `^wasm|^server\.memory_allocated$`)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// guestBytes is the memory of all guests. Envoy tells nothing of it, but V8
// reserves 8 GB for each, of which what the guest has is the writable front.
func guestBytes(t *testing.T, envoy *envoyproc.Process) (sum int64) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", envoy.PID()))
	if err != nil {
		t.Fatal(err)
	}
	var before, front uint64 // where the last mapping ends, and its size if it is writable
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var access string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &access); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if access == "---p" && from == before && to-from > 7<<30 {
			sum += int64(front)
		}
		if before, front = to, 0; access == "rw-p" {
			front = to - from
		}
	}
	return sum
}

// checkFlat compares the largest of the first quarter with that of the rest,
// and asks whether all VMs are still those of the beginning.
func (s *soak) checkFlat(t *testing.T) {
	t.Helper()
	for i, m := range soakMeasures {
		bound := m.short
		if *long {
			bound = m.long
		}
		var warm, later int64
		for n, v := range s.series {
			if n < len(s.series)/4 {
				warm = max(warm, v.measures[i])
			} else {
				later = max(later, v.measures[i])
			}
		}
		if t.Logf("%s: %d, then %+d", m.name, warm, later-warm); warm == 0 || later-warm > bound {
			t.Errorf("%s has grown by %d from %d, want at most %d", m.name, later-warm, warm, bound)
		}
	}
	if made := s.stats(t)[vmsMade]; made != s.vms || made == 0 {
		t.Errorf("%d VMs were made, and %d before the load", made, s.vms)
	}
}

// checkTracked holds the gauges to what can be live: a gauge shows windows of a
// minute, and is up to two sweeps old, of about a minute each. Four minutes do.
func (s *soak) checkTracked(t *testing.T) {
	t.Helper()
	for i, stream := range s.streams {
		for _, now := range s.series {
			recent := now.cold[i]
			for _, then := range s.series {
				if then.at < now.at-4*time.Minute {
					recent = now.cold[i] - then.cold[i]
				}
			}
			most := min(stream.size, int64(len(stream.rules))*(soakHot+soakWarm+recent))
			if now.tracked[i] > most {
				t.Errorf("%s: %d keys are tracked after %v, and at most %d are live", stream.name, now.tracked[i], now.at, most)
			}
		}
	}
}

// checkCounters waits until the workers have merged their counters.
func (s *soak) checkCounters(t *testing.T) {
	t.Helper()
	var wrong []string
	for range 50 {
		wrong = nil
		stats := s.stats(t)
		for _, stream := range s.streams {
			wrong = append(wrong, stream.compare(stats)...)
		}
		if wrong == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error(strings.Join(wrong, "; "))
}

// compare says what is wrong with the counters, given the answers.
func (s *soakStream) compare(stats map[string]int64) (wrong []string) {
	expect := func(want int64, names ...string) {
		var sum int64
		for _, name := range names {
			n, ok := stats["wasmcustom.weir."+name]
			if sum += n; !ok {
				wrong = append(wrong, name+" is missing")
			}
		}
		if sum != want {
			wrong = append(wrong, fmt.Sprintf("%s: %d, want %d", strings.Join(names, " + "), sum, want))
		}
	}
	sent, passed, refused := s.tally.Total(), s.tally[200], s.tally[429]
	if passed+refused != sent || passed == 0 || (refused == 0) != (s.name == "trial") {
		wrong = append(wrong, fmt.Sprintf("%s: answers %v", s.name, s.tally))
	}
	of := "rule." + s.name + "."
	for _, rule := range s.rules {
		r := of + rule + "."
		expect(sent, r+"allowed", r+"limited", r+"shadow_limited", r+"full")
		expect(0, r+"errors", r+"missing_key")
	}
	f := "filter." + s.name + "."
	expect(0, f+"errors", f+"corrupt", f+"lost")
	switch s.name {
	case "key":
		expect(refused, of+"per-key.limited")
		expect(passed, of+"per-key.allowed")
	case "client":
		expect(passed, of+"used.charged")
	case "small":
		expect(refused, of+"small.limited")
	}
	return wrong
}

// checkForgotten waits until the gauges say that of all keys only those are
// left whose window is an hour. In the short version that is the small table's
// alone, since a sweep over a large one takes a minute.
func (s *soak) checkForgotten(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
		now, wrong := s.sample(t), 0
		for i, stream := range s.streams {
			if (*long || stream.name == "small") && now.tracked[i] != stream.left {
				wrong++
			}
		}
		if wrong == 0 {
			t.Logf("tracked keys in the end: %d", now.tracked)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("tracked keys %d five minutes after the end", now.tracked)
		}
	}
}
