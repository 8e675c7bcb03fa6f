package e2e

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/load"
)

// A pressedKey is a rule, for the path of its name, whose requests all have one
// key, and what its limits are held to.
type pressedKey struct {
	name, limits string // the limits as JSON
	bounds       []bound
}

const fifth = 200 * time.Millisecond

var pressedKeys = []pressedKey{
	{"log", `{"requests": 500, "window": "1s"}`, []bound{{500, time.Second, 500, 0, time.Second}}},
	{"several", `{"requests": 100, "window": "200ms"}, {"requests": 300, "window": "1s"}`,
		[]bound{{100, fifth, 100, 0, fifth}, {300, time.Second, 300, 0, time.Second}}},
	{"buckets", `{"requests": 100, "window": "200ms", "algorithm": "sliding_buckets", "buckets": 20}`,
		[]bound{{100, fifth, 100, 0, fifth + fifth/20}}},
	{"counter", `{"requests": 100, "window": "200ms", "algorithm": "sliding_counter"}`, []bound{{100, fifth, 199, 0, 2 * fifth}}},
	{"token", `{"requests": 100, "window": "200ms", "algorithm": "token_bucket"}`, []bound{{100, fifth, 100, 100, fifth}}},
	{"leaky", `{"requests": 100, "window": "200ms", "algorithm": "leaky_bucket"}`, []bound{{100, fifth, 100, 100, fifth}}},
	{"fixed", `{"requests": 100, "window": "200ms", "algorithm": "fixed_window"}`, []bound{{100, fifth, 100, 100, fifth}}},
}

// TestHotKey is B01 at length: four workers and 64 connections on one key, as
// fast as they can. When a request was decided the client does not know, only
// that it was between sending and the answer. As far as that goes, no window
// holds more than is documented, and no request was refused while there was room.
func TestHotKey(t *testing.T) {
	var rules []string
	for _, hot := range pressedKeys {
		rules = append(rules, `{"name": "`+hot.name+`", "match": {"path": {"exact": "/`+hot.name+`"}}, "key": [{"header": "x-key"}], "limits": [`+hot.limits+`]}`)
	}
	config := `{"rules": [` + strings.Join(rules, ", ") + `], "on_error": "deny"}`
	envoy := startEnvoy(t, assemble(t, []any{listener(t, filter{"hot", config}, answerDirectly)}), 4)
	addr := listenerOf(t, envoy, "hot")
	const whole = "wasmcustom.weir.filter.hot."
	conflicts := int64(0)
	for i, hot := range pressedKeys {
		t.Run(hot.name, func(t *testing.T) {
			admitted, refused := press(t, addr, "/"+hot.name, 64, pressing(i == 0))
			if len(admitted) == 0 {
				t.Error("nothing was admitted")
			}
			for _, b := range hot.bounds {
				checkBound(t, admitted, b)
			}
			if n := needless(admitted, refused, hot.bounds); n > 0 {
				t.Errorf("%d of %d refusals came while there was room under every limit", n, len(refused))
			}
			rule := "wasmcustom.weir.rule.hot." + hot.name + "."
			checkStats(t, envoy, map[string]int64{
				rule + "allowed": int64(len(admitted)),
				rule + "limited": int64(len(refused)),
				rule + "errors":  0,
				whole + "errors": 0,
				whole + "lost":   0,
			})
			stats, err := envoy.Stats(t.Context(), whole+"conflicts")
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d sent, %d admitted, %d conflicts; an answer took %v, 99 of 100 at most %v", len(admitted)+len(refused),
				len(admitted), stats[whole+"conflicts"]-conflicts, latency(0.5, admitted, refused), latency(0.99, admitted, refused))
			conflicts = stats[whole+"conflicts"]
		})
	}
}

// pressing is how long to press a key: the first for longer, as its window is.
func pressing(first bool) time.Duration {
	switch {
	case *long && first:
		return time.Minute
	case *long:
		return 20 * time.Second
	case first:
		return 1700 * time.Millisecond
	default:
		return 500 * time.Millisecond
	}
}

// press sends requests of one key and path for some time, over so many connections with
// one in flight on each.
func press(t *testing.T, addr, path string, connections int, d time.Duration) (admitted, refused []span) {
	t.Helper()
	hot := load.Request{Path: path, Headers: [][2]string{{"x-key", "hot"}}}
	start := time.Now()
	answers := make([]map[int][]span, connections)
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() {
			conn, err := load.Dial(addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			answers[i] = map[int][]span{}
			for s := (span{}); s.answered < d; {
				s.sent = time.Since(start)
				status, err := conn.Do(hot)
				s.answered = time.Since(start)
				if err != nil || status != 200 && status != 429 {
					t.Errorf("status %d, %v", status, err)
					return
				}
				answers[i][status] = append(answers[i][status], s)
			}
		})
	}
	wg.Wait()
	for _, a := range answers {
		admitted, refused = append(admitted, a[200]...), append(refused, a[429]...)
	}
	return admitted, refused
}
