package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// A crowd is a way to have many keys: the requests of a victim, which are of
// one key whatever i, of ordinary keys, of which there are a hundred, and of
// others, where each i is a key.
type crowd struct {
	name                    string
	key                     string // as a rule has it
	victim, ordinary, other func(i int64) load.Request
}

const ordinaryKeys = 100

// crowds are clients that make keys up, and clients with many addresses. One
// of IPv6 has a /64 to itself, which is one key: the victim is such a client.
var crowds = []crowd{{
	name:     "header",
	key:      `{"header": "x-key"}`,
	victim:   func(int64) load.Request { return with("x-key", "victim") },
	ordinary: func(i int64) load.Request { return with("x-key", "ordinary-"+strconv.FormatInt(i%ordinaryKeys, 10)) },
	other:    func(i int64) load.Request { return with("x-key", "other-"+strconv.FormatInt(i, 10)) },
}, {
	name:     "address",
	key:      `{"client_ip": true}`,
	victim:   func(i int64) load.Request { return from("2001:db8::%x:%x:1", i>>16, i&0xffff) },
	ordinary: func(i int64) load.Request { return from("192.0.2.%d", i%ordinaryKeys) },
	other:    func(i int64) load.Request { return from("2001:db9:%x:%x::%x", i>>16, i&0xffff, i&0xff) },
}}

func with(header, value string) load.Request {
	return load.Request{Path: "/", Headers: [][2]string{{header, value}}}
}

func from(format string, parts ...any) load.Request {
	return with("x-forwarded-for", fmt.Sprintf(format, parts...))
}

// each is a source of a request for each i from one number to before another.
func each(from, to int64, request func(i int64) load.Request) load.Source {
	var next atomic.Int64
	next.Store(from)
	return func(int) (load.Request, bool) {
		i := next.Add(1) - 1
		return request(i), i < to
	}
}

// floodConnections is how many connections a flood comes over, and floodDepth
// how many requests are in flight on each: Envoy hangs up on a client that has
// more than two answers waiting to be written.
const (
	floodConnections = 16
	floodDepth       = 2
)

// pour sends all that a source has as fast as it is answered.
func pour(t *testing.T, addr string, source load.Source) load.Tally {
	t.Helper()
	tally, err := load.Flood(t.Context(), addr, floodConnections, floodDepth, source)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// memory is what Envoy has of the machine, and what it has asked its allocator
// for, which is what the shared data takes and not what the VMs do.
type memory struct{ rss, allocated int64 }

func memoryOf(t *testing.T, envoy *envoyproc.Process) (m memory) {
	t.Helper()
	response, err := http.Get("http://" + envoy.Admin() + "/memory")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Allocated int64 `json:"allocated,string"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Allocated == 0 {
		t.Fatalf("envoy's memory: %+v, %v", answer, err)
	}
	m.allocated = answer.Allocated
	if m.rss, err = envoy.RSS(); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m memory) minus(other memory) memory {
	return memory{m.rss - other.rss, m.allocated - other.allocated}
}

func (m memory) String() string {
	return fmt.Sprintf("%d kB of memory, %d kB allocated", m.rss>>10, m.allocated>>10)
}

// tableBound is what README says that a table of one limit takes at most if no
// key has more requests than that in its window.
func tableBound(maxKeys, requests int64) int64 { return maxKeys * (45 + 6*requests) }

// What memory may grow by, beyond the table, for no reason of ours. Connections
// and caches of the allocator come and go, and the heap of a VM, once it has
// been used, keeps a few megabytes in play.
const (
	allocatedNoise = 1 << 20
	rssNoise       = 4 << 20
)

// checkGrowth fails if memory has grown by more than so many bytes, and noise.
func checkGrowth(t *testing.T, what string, grown memory, bound int64) {
	t.Helper()
	t.Logf("%s: %v more, bound %d kB", what, grown, bound>>10)
	if most := (memory{bound + rssNoise, bound + allocatedNoise}); grown.rss > most.rss || grown.allocated > most.allocated {
		t.Errorf("%s: %v more, want at most %v", what, grown, most)
	}
}
