package policy

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// BenchmarkEvaluate is one request of one of ten thousand keys, 50 µs after the
// one before, on a store that hands out copies as a proxy does. Its profile
// guides the compiler of the module: see make pgo.
func BenchmarkEvaluate(b *testing.B) {
	rule := func(i int, limit string) string {
		return `{"name": "r` + strconv.Itoa(i) + `", "match": {"path": {"prefix": "/api"}}, "key": [{"header": "x-key"}], "limits": [` + limit + `]}`
	}
	const ten, one = `{"requests": 10, "window": "1s"}`, `{"requests": 1, "window": "1d"}`
	for name, config := range map[string]string{
		"admit":   `{"rules": [` + rule(0, ten) + `]}`,
		"refuse":  `{"rules": [` + rule(0, one) + `]}`,
		"headers": `{"headers": ["ratelimit"], "rules": [` + rule(0, ten) + `]}`,
		"rules=4": `{"rules": [` + strings.Join([]string{rule(0, ten), rule(1, ten), rule(2, ten), rule(3, ten)}, ", ") + `]}`,
	} {
		b.Run(name, func(b *testing.B) {
			e := copying(b, config)
			requests := make([]Request, 10_000)
			for i := range requests {
				requests[i] = get("/api/items?page=2", "x-key", "user-"+strconv.Itoa(i), "accept", "*/*")
			}
			b.ReportAllocs()
			now := limiter.Instant(0)
			for i := 0; b.Loop(); i++ {
				now += limiter.At(50 * time.Microsecond)
				e.Evaluate(now, requests[i%len(requests)])
			}
		})
	}
}

// copying is an evaluator on a store like a proxy's: not the one in memory,
// which a table knows and treats in its own way.
func copying(b *testing.B, config string) *Evaluator {
	b.Helper()
	p, err := Compile([]byte(config), "bench")
	if err != nil {
		b.Fatal(err)
	}
	options := p.TableOptions(limiter.Seed{})
	table, err := limiter.NewTable(struct{ limiter.Store }{limiter.NewMemory(limiter.Shards(options.MaxKeys))}, options)
	if err != nil {
		b.Fatal(err)
	}
	return NewEvaluator(p, table)
}
