package traffic_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/traffic"
	"github.com/weirproxy/weir/limiter/policy"
)

// A client that wants two requests a second meets a limit of three in ten
// seconds, and waits as long as it is told.
func Example() {
	p, err := policy.Compile([]byte(`{
		"rules": [{"name": "per-user", "key": [{"header": "x-user-id"}], "limits": [{"requests": 3, "window": "10s"}]}]
	}`), "example")
	if err != nil {
		log.Fatal(err)
	}
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(limiter.NewSeed()))
	if err != nil {
		log.Fatal(err)
	}
	e, worst := policy.NewEvaluator(p, table), traffic.NewWorst(p)

	source, err := traffic.Parse("retry,rate=2,path=/api/orders")
	if err != nil {
		log.Fatal(err)
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g := traffic.New([]traffic.Source{source}, traffic.Options{Start: start, For: 12 * time.Second, Seed: 1, Names: traffic.Keyed(p)})
	var first limiter.Instant
	for at, r := g.Next(); r != nil; at, r = g.Next() {
		if first == 0 {
			first = at
		}
		v := e.Evaluate(at, r)
		worst.Note(at, v)
		g.Answer(v)
		fmt.Printf("%4.1f s  %s passes: %v\n", time.Duration((at-first)*1000).Seconds(), r.Client(), v.Reply == nil)
	}
	fmt.Println("worst window:", worst.Of(0, 0))
	// Output:
	//  0.0 s  client-1 passes: true
	//  0.5 s  client-1 passes: true
	//  1.0 s  client-1 passes: true
	//  1.5 s  client-1 passes: false
	// 10.5 s  client-1 passes: true
	// 11.0 s  client-1 passes: true
	// 11.5 s  client-1 passes: true
	// worst window: 3
}

// The second request ends first, and so comes first.
func ExampleWriteLog() {
	source, err := traffic.Parse("burst,size=3,clients=2,spread=10ms,latency=5ms,path=/api/orders")
	if err != nil {
		log.Fatal(err)
	}
	g := traffic.New([]traffic.Source{source}, traffic.Options{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seed: 2})
	if _, err := traffic.WriteLog(os.Stdout, g, traffic.LogOptions{Format: "nginx"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 10.0.0.2 - - [01/Jan/2026:00:00:00 +0000] "GET /api/orders HTTP/1.1" 200 1371 "-" "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1"
	// 10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /api/orders HTTP/1.1" 200 1445 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"
	// 10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /api/orders HTTP/1.1" 200 1353 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0"
}
