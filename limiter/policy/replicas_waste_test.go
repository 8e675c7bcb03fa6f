package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// TestReplicasWaste shows what a static share of a limit is worth, by how the
// traffic of a key is spread over four proxies: the requests that they admit
// together, of those that one shared window would have. They never admit more
// than the limit, and an even spread wastes next to nothing of a large one.
func TestReplicasWaste(t *testing.T) {
	const proxies = 4
	spreads := []struct {
		name   string
		share  [proxies]float64 // of the traffic
		atMost float64          // of the limit, which the static shares can admit
	}{
		{"even", [proxies]float64{0.25, 0.25, 0.25, 0.25}, 1},
		{"40:30:20:10", [proxies]float64{0.4, 0.3, 0.2, 0.1}, 1},
		{"70:10:10:10", [proxies]float64{0.7, 0.1, 0.1, 0.1}, 1},
		{"one proxy", [proxies]float64{1, 0, 0, 0}, 0.25},
	}
	for _, limit := range []int64{8, 100, 1000} {
		for _, load := range []float64{0.5, 0.9, 1.5} { // offered, of the limit
			var row []string
			for _, s := range spreads {
				admitted, shared := shareOut(t, limit, load, s.share)
				row = append(row, fmt.Sprintf("%s %.0f %%", s.name, 100*float64(admitted)/float64(shared)))
				if admitted > shared || float64(admitted) > s.atMost*float64(limit)*(windows+1) {
					t.Errorf("limit %d, load %.1f, %s: %d admitted, and %d by a shared window", limit, load, s.name, admitted, shared)
				}
			}
			t.Logf("limit %4d, load %3.0f %%: %s", limit, 100*load, strings.Join(row, ", "))
		}
	}
}

// windows is how long the traffic goes on.
const windows = 60

// shareOut offers requests at random times to proxies by their shares of the
// traffic, and to one that has all of it and the whole limit.
func shareOut(t *testing.T, limit int64, load float64, share [4]float64) (admitted, shared int) {
	t.Helper()
	rule := fmt.Sprintf(`"rules": [{"name": "a", "key": [], "limits": [{"requests": %d, "window": "1s"}]}]`, limit)
	whole := newEvaluator(t, "{"+rule+"}")
	var proxies []*Evaluator
	for range share {
		proxies = append(proxies, newEvaluator(t, `{"replicas": 4, `+rule+`}`))
	}
	rng := rand.New(rand.NewPCG(uint64(limit), uint64(load*100)))
	for now := 0.0; now < windows; now += rng.ExpFloat64() / (load * float64(limit)) {
		at, who, draw := limiter.Instant(now*1e6), 0, rng.Float64()
		for draw -= share[who]; draw > 0 && who < len(share)-1; draw -= share[who] {
			who++
		}
		if proxies[who].Evaluate(at, get("/")).Reply == nil {
			admitted++
		}
		if whole.Evaluate(at, get("/")).Reply == nil {
			shared++
		}
	}
	return admitted, shared
}
