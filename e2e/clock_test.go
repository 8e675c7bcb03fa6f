package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

// clockLimits are five units in ten seconds by every algorithm, with the
// seconds after which nothing is left of them.
var clockLimits = []struct {
	algorithm string
	whole     int
}{{"sliding_log", 10}, {"sliding_buckets", 11}, {"sliding_counter", 20}, {"token_bucket", 10}, {"leaky_bucket", 10}, {"fixed_window", 10}}

// fivePerTen is a configuration of a rule for each of the algorithms, which
// matches the path of its name.
func fivePerTen() string {
	rules := ""
	for i, l := range clockLimits {
		buckets, comma := "", ","
		if l.algorithm == "sliding_buckets" {
			buckets = `, "buckets": 10`
		}
		if i == len(clockLimits)-1 {
			comma = ""
		}
		rules += fmt.Sprintf(`{"name": "%s", "match": {"path": {"exact": "/%[1]s"}}, "key": [{"header": "x-key"}],
			"limits": [{"requests": 5, "window": "10s", "algorithm": "%[1]s"%s}]}%s`, l.algorithm, buckets, comma)
	}
	return `{"rules": [` + rules + `], "headers": ["retry-after", "ratelimit"], "on_error": "deny"}`
}

const (
	clockStart = 1000 * time.Hour
	year       = 365 * 24 * time.Hour
	lastTime   = time.Duration(math.MaxInt64) // 292 years
)

// A reading is what the clock says, and how many of eight requests that come
// then are admitted. The proxy's clock is never set back: past readings are of
// workers that were held up, for up to an hour, and are taken as the latest.
// Behind is by how much longer they may be told to wait; only if it is no more
// than the window does the wait begin at their own reading.
type reading struct {
	at       time.Duration
	admitted int
	behind   time.Duration
}

// whole stands for the time after which nothing is left, from the reading
// before.
const whole = -1

var clockWalks = map[string][]reading{
	"it stands still":       {{clockStart, 5, 0}, {clockStart, 0, 0}, {whole, 5, 0}, {whole, 5, 0}},
	"workers apart":         {{clockStart, 5, 0}, {clockStart - 40*time.Millisecond, 0, 40 * time.Millisecond}, {clockStart + 10*time.Millisecond, 0, 0}, {whole, 5, 0}},
	"back by a microsecond": {{clockStart, 5, 0}, {clockStart - time.Microsecond, 0, time.Microsecond}, {clockStart, 0, 0}, {whole, 5, 0}},
	"back by 7s":            {{clockStart, 5, 0}, {clockStart - 7*time.Second, 0, 7 * time.Second}, {clockStart - 3*time.Second, 0, 3 * time.Second}, {clockStart, 0, 0}, {whole, 5, 0}},
	"back by a window":      {{clockStart, 5, 0}, {clockStart - 10*time.Second, 0, 10 * time.Second}, {clockStart, 0, 0}, {whole, 5, 0}},
	"a year forward":        {{clockStart, 5, 0}, {clockStart + year, 5, 0}, {clockStart + year, 0, 0}, {whole, 5, 0}},
	"a leap year forward":   {{clockStart, 5, 0}, {clockStart + year + 24*time.Hour, 5, 0}, {whole, 5, 0}},
	"a thousand days":       {{clockStart, 5, 0}, {clockStart + 24000*time.Hour, 5, 0}, {whole, 5, 0}},
	"to the end":            {{clockStart, 5, 0}, {lastTime - time.Minute, 5, 0}, {whole, 5, 0}, {lastTime, 5, 0}, {lastTime, 0, 0}},
	"from the beginning":    {{0, 5, 0}, {1, 0, 0}, {whole, 5, 0}},
	"held up for 11s":       {{clockStart, 5, 0}, {clockStart - 21*time.Second, 0, 0}, {clockStart, 0, 0}, {whole, 5, 0}},
	// Nobody is held up for longer than an hour: such a state is foreign, and
	// must lock nobody out.
	"an hour and a minute back": {{clockStart, 5, 0}, {clockStart - 61*time.Minute, 0, 0}, {whole, 5, 0}, {clockStart, 5, 0}},
	"back to zero":              {{clockStart, 5, 0}, {0, 0, 0}, {whole, 5, 0}},
	"held up for an hour":       {{clockStart, 5, 0}, {clockStart - time.Hour, 0, 0}, {whole, 0, 0}, {clockStart, 0, 0}, {whole, 5, 0}},
}

// TestClock steps the clock of two workers, for every algorithm: forward is
// time that has passed, back is none, and no key is locked out.
func TestClock(t *testing.T) {
	for name, walk := range clockWalks {
		t.Run(name, func(t *testing.T) {
			session := wazero{readModule(t)}.Open(t, scenario.Scenario{Config: []byte(fivePerTen())})
			for _, l := range clockLimits {
				at := time.Duration(0)
				for i, r := range walk {
					if r.at != whole {
						at = r.at
					} else {
						at += time.Duration(l.whole) * time.Second
					}
					longest := l.whole + int((r.behind+time.Second-1)/time.Second)
					if n := askAt(t, session, l.algorithm, at, longest); n != r.admitted {
						t.Errorf("%s, reading %d, %v: %d admitted, want %d", l.algorithm, i, at, n, r.admitted)
					}
				}
			}
		})
	}
}

// askAt makes eight requests at a time and counts the admitted. The others must
// be told to wait, and not for longer than so many seconds.
func askAt(t *testing.T, session scenario.Session, algorithm string, at time.Duration, longest int) (admitted int) {
	t.Helper()
	for range 8 {
		got, err := session.Do(at, clockRequest(algorithm), scenario.Upstream{Status: 200})
		if err != nil {
			t.Fatal(err)
		}
		wait := got.Headers["retry-after"]
		switch seconds := waitOf(wait); {
		case got.Status == 200 && wait == nil:
			admitted++
		case got.Status != 429 || seconds < 1 || seconds > longest:
			t.Errorf("%s at %v: status %d, retry-after %q, want at most %d", algorithm, at, got.Status, wait, longest)
		}
	}
	return admitted
}

func clockRequest(algorithm string) scenario.Request {
	return scenario.Request{Method: "GET", Path: "/" + algorithm, Host: "weir.test", Client: "192.0.2.1", Headers: [][2]string{{"x-key", "a"}}}
}

// waitOf is a Retry-After, or -1 if it is none.
func waitOf(header []string) int {
	if len(header) == 1 {
		if seconds, err := strconv.Atoi(header[0]); err == nil {
			return seconds
		}
	}
	return -1
}

// TestModuleWalksAsTheCore gives random readings of the clock to the module and
// to the core, which an oracle has judged: both must answer alike.
func TestModuleWalksAsTheCore(t *testing.T) {
	s := scenario.Scenario{Config: []byte(fivePerTen())}
	module, core := wazero{readModule(t)}.Open(t, s), native{}.Open(t, s)
	r := rand.New(rand.NewPCG(1, 2))
	at, admitted, refused := clockStart, 0, 0
	for i := range 3000 {
		at = min(max(0, at), lastTime-2*year)
		switch r.IntN(40) {
		case 0:
			at += year + time.Duration(r.Int64N(int64(48*time.Hour)))
		case 1:
			at -= year
		case 2:
			at -= time.Duration(r.Int64N(int64(time.Hour)))
		case 3, 4:
			at -= time.Duration(r.Int64N(int64(10 * time.Second)))
		default:
			at += time.Duration(r.Int64N(int64(time.Second / 4)))
		}
		request := clockRequest(clockLimits[i%len(clockLimits)].algorithm)
		got, err := module.Do(max(0, at), request, scenario.Upstream{Status: 200})
		want, coreErr := core.Do(max(0, at), request, scenario.Upstream{Status: 200})
		if err != nil || coreErr != nil || got.Status != want.Status {
			t.Fatalf("request %d, %s at %v: status %d, %v, the core says %d, %v", i, request.Path, at, got.Status, err, want.Status, coreErr)
		}
		for _, name := range []string{"retry-after", "ratelimit"} {
			if fmt.Sprint(got.Headers[name]) != fmt.Sprint(want.Headers[name]) {
				t.Fatalf("request %d, %s at %v: %s %q, the core says %q", i, request.Path, at, name, got.Headers[name], want.Headers[name])
			}
		}
		if got.Status == 200 {
			admitted++
		} else {
			refused++
		}
	}
	if admitted < 300 || refused < 300 {
		t.Errorf("%d admitted, %d refused: the walk shows too little", admitted, refused)
	}
}

// TestASweepAfterAJumpForgets: after a year nothing is tracked any more, and
// a key that is asked for then has all of its quota.
func TestASweepAfterAJumpForgets(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, year, 366 * 24 * time.Hour, lastTime - clockStart} {
		session := wazero{readModule(t)}.Open(t, scenario.Scenario{Config: []byte(fivePerTen())}).(*wazeroSession)
		for i, tracked := range []int64{int64(len(clockLimits)), 0} {
			at := clockStart + time.Duration(i)*jump
			if i == 0 {
				for _, l := range clockLimits {
					askAt(t, session, l.algorithm, at, l.whole)
				}
			}
			session.host.SetNow(at)
			for range 64 { // one round of the sweep
				if err := session.vms[0].Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if n, ok := session.host.Metrics.Get("weir.filter.e2e.tracked_keys"); !ok || n != tracked {
				t.Errorf("a jump of %v: %d keys are tracked, want %d", jump, n, tracked)
			}
		}
		for _, l := range clockLimits {
			if n := askAt(t, session, l.algorithm, clockStart+jump, l.whole); n != 5 {
				t.Errorf("a jump of %v: %s admits %d, want 5", jump, l.algorithm, n)
			}
		}
	}
}
