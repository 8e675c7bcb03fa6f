package replay

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// benchRequest is a request that is cheap to ask.
type benchRequest struct {
	policy.EmptyRequest
	address string
}

func (b *benchRequest) Path() (string, error) { return "/api/items?page=2", nil }

func (b *benchRequest) ClientAddress() (string, error) { return b.address, nil }

// BenchmarkRequest is one request of one rule, by one of 100 000 clients, some
// of which are at their limit.
func BenchmarkRequest(b *testing.B) {
	run, err := NewRun("bench", []byte(`{"rules": [{"name": "per-ip", "match": {"path": {"prefix": "/api"}},
		"key": [{"client_ip": true}], "limits": [{"requests": 10, "window": "1s"}]}]}`), 0)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 10, 100_000)
	clients := make([]string, 1<<16)
	for i := range clients {
		n := zipf.Uint64()
		clients[i] = fmt.Sprintf("10.%d.%d.%d:4000", n>>16&255, n>>8&255, n&255)
	}
	b.ReportAllocs()
	now, r := limiter.Instant(0), &benchRequest{}
	for i := 0; b.Loop(); i++ {
		now += 500
		r.address = clients[i%len(clients)]
		run.Request(now, now, r, nil)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	x := run.Report()
	b.ReportMetric(float64(x.Refused)/float64(x.Requests), "refused")
}
