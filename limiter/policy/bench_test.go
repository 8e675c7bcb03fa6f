package policy

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// BenchmarkEvaluate is one request of one of a thousand keys, 100 µs after the
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
			keys := make([]string, 1000)
			for i := range keys {
				keys[i] = "user-" + strconv.Itoa(i)
			}
			b.ReportAllocs()
			now, r := limiter.Instant(0), &benchRequest{}
			for i := 0; b.Loop(); i++ {
				now += limiter.At(100 * time.Microsecond)
				r.key = keys[i%len(keys)]
				e.Evaluate(now, r)
			}
		})
	}
}

// benchRequest is a request whose answers cost next to nothing.
type benchRequest struct {
	EmptyRequest
	key string
}

func (*benchRequest) Path() (string, error) { return "/api/items?page=2", nil }

func (r *benchRequest) Header(string) (string, error) { return r.key, nil }

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
