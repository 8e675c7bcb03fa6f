package traffic

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter/policy"
)

// refusal is a verdict that asks to wait.
func refusal(retryAfter string) *policy.Verdict {
	r := &policy.Reply{Status: 429, Headers: [][2]string{{"x-other", "9"}}}
	if retryAfter != "" {
		r.Headers = append(r.Headers, [2]string{"retry-after", retryAfter})
	}
	return &policy.Verdict{Reply: r}
}

// TestRetry drives one client through answers, and holds the time of each next
// request to what it was told. The times are from one request to the next.
func TestRetry(t *testing.T) {
	pass := &policy.Verdict{}
	for _, x := range []struct {
		name, spec string
		answers    []*policy.Verdict
		want       []time.Duration
	}{
		{"obeys Retry-After exactly", "retry,rate=10",
			[]*policy.Verdict{pass, refusal("3"), refusal("1"), pass, pass},
			[]time.Duration{100 * time.Millisecond, 3 * time.Second, time.Second, 100 * time.Millisecond, 100 * time.Millisecond}},
		{"waits after without one", "retry,rate=10,after=7s",
			[]*policy.Verdict{refusal(""), refusal("2"), refusal("")},
			[]time.Duration{7 * time.Second, 2 * time.Second, 7 * time.Second}},
		{"does not obey", "retry,rate=10,obey=false,after=30ms",
			[]*policy.Verdict{refusal("3"), refusal(""), pass},
			[]time.Duration{30 * time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond}},
		{"gives up", "retry,rate=10,tries=3",
			[]*policy.Verdict{refusal("3"), refusal("3"), refusal("3"), refusal("3"), refusal("3"), refusal("3"), refusal("3"), pass, refusal("3"), refusal("3")},
			[]time.Duration{3 * time.Second, 3 * time.Second, 100 * time.Millisecond, 3 * time.Second, 3 * time.Second, 100 * time.Millisecond,
				3 * time.Second, 100 * time.Millisecond, 3 * time.Second, 3 * time.Second}},
		{"counts an admitted request as unanswered", "retry,rate=10",
			[]*policy.Verdict{nil, nil}, []time.Duration{100 * time.Millisecond, 100 * time.Millisecond}},
	} {
		g := New(mustParse(t, x.spec+",latency=0s"), Options{Start: start, Seed: 3})
		last, _ := g.Next()
		if first := int64(last) - start.UnixMicro(); first < 0 || first >= 1e5 {
			t.Errorf("%s: the first request comes after %d µs", x.name, first)
		}
		for i, v := range x.answers {
			if v != nil {
				g.Answer(v)
			}
			at, _ := g.Next()
			if got := time.Duration(at-last) * time.Microsecond; got != x.want[i] {
				t.Errorf("%s: request %d comes %v after the one before, want %v", x.name, i+1, got, x.want[i])
			}
			last = at
		}
	}
}

// TestRetryWaits has a client wait for the response: it has one request under
// way at a time.
func TestRetryWaits(t *testing.T) {
	g := New(mustParse(t, "retry,rate=10,latency=300ms"), Options{Start: start, Seed: 3})
	slow := 0
	for range 200 {
		at, r := g.Next()
		took := r.Duration()
		next, _ := g.Next()
		if got := time.Duration(next-at) * time.Microsecond; got != max(took, 100*time.Millisecond) {
			t.Fatalf("a request takes %v, and the next one comes after %v", took, got)
		}
		if took > 100*time.Millisecond {
			slow++
		}
	}
	if slow < 150 {
		t.Errorf("%d slow requests", slow)
	}
}

// TestRetryRate has all clients admitted, who then send what they want.
func TestRetryRate(t *testing.T) {
	all := arrive(t, 10*time.Second, "retry,rate=20,clients=10,latency=1ms")
	perClient := map[int64]int{}
	for _, a := range all {
		perClient[a.client]++
	}
	for client := int64(1); client <= 10; client++ {
		if perClient[client] != 200 {
			t.Errorf("client %d sends %d requests in 10 s", client, perClient[client])
		}
	}
}

// TestOrder merges sources in the order of time, and those of one time in the
// order of the sources.
func TestOrder(t *testing.T) {
	all := arrive(t, 20*time.Second, "burst,size=3,every=1s,spread=1s", "burst,size=2,every=1s", "flood,rate=100", "retry,rate=9,clients=9")
	if !slices.IsSortedFunc(all, func(a, b arrival) int { return int(a.at - b.at) }) {
		t.Error("times go back")
	}
	if all[0] != (arrival{0, 1}) || all[1] != (arrival{0, 2}) || all[2] != (arrival{0, 2}) {
		t.Errorf("requests of one time: %v", all[:3])
	}
}

// TestDeterminism wants the same requests from the same seed, other ones from
// another, and those of a source whatever is beside it.
func TestDeterminism(t *testing.T) {
	specs := []string{"poisson,rate=50,clients=100,skew=1", "retry,rate=5,clients=10", "flood,rate=20"}
	draw := func(seed uint64, specs ...string) (all []Request) {
		g := New(mustParse(t, specs...), Options{Start: start, For: 5 * time.Second, Seed: seed})
		for _, r := g.Next(); r != nil; _, r = g.Next() {
			one := *r
			one.source = nil
			all = append(all, one)
		}
		return all
	}
	a, b, c := draw(1, specs...), draw(1, specs...), draw(2, specs...)
	if !slices.Equal(a, b) {
		t.Error("other requests with the same seed")
	}
	if slices.Equal(a, c) {
		t.Error("the same requests with another seed")
	}
	alone := draw(1, specs[0])
	beside := slices.DeleteFunc(slices.Clone(a), func(r Request) bool { return r.client > 100 })
	if !slices.Equal(alone, beside) {
		t.Error("a source makes other requests beside others")
	}
}

// TestFirst lets sources share clients, and keeps them apart otherwise.
func TestFirst(t *testing.T) {
	all := arrive(t, time.Second, "burst,size=3,clients=3", "burst,size=2,clients=2,start=1ms", "burst,size=2,clients=2,start=2ms,first=2",
		"burst,size=1,start=3ms", "burst,size=1,start=4ms,first=50", "burst,size=1,start=5ms")
	var clients []int64
	for _, a := range all {
		clients = append(clients, a.client)
	}
	if want := []int64{1, 2, 3, 4, 5, 2, 3, 6, 50, 51}; !slices.Equal(clients, want) {
		t.Errorf("got %v, want %v", clients, want)
	}
}

// TestDurations holds durations to the log-normal law: half are below the
// median, and a third or so beyond a deviation.
func TestDurations(t *testing.T) {
	g := New(mustParse(t, "flood,rate=1000,latency=40ms"), Options{Start: start, Seed: 8, Longest: time.Second})
	below, beyond := 0, 0
	const n = 20_000
	for range n {
		_, r := g.Next()
		took := r.Duration()
		if took < 40*time.Millisecond {
			below++
		}
		if math.Abs(math.Log(took.Seconds()/0.040)) > 0.7 {
			beyond++
		}
		if took > time.Second {
			t.Fatalf("a request takes %v", took)
		}
	}
	near(t, "below the median", below, n/2, math.Sqrt(n/4))
	near(t, "beyond a deviation", beyond, 0.3173*n, math.Sqrt(0.3173*0.6827*n))
}

// TestShop looks at what is made up if nothing is said.
func TestShop(t *testing.T) {
	g := New(mustParse(t, "flood,rate=1000"), Options{Start: start, Seed: 8})
	paths, methods, statuses, api := map[string]int{}, map[string]int{}, map[string]int{}, 0
	const n = 20_000
	for range n {
		_, r := g.Next()
		paths[r.path]++
		methods[r.method]++
		statuses[r.status]++
		if len(r.path) > 5 && r.path[:5] == "/api/" {
			api++
		}
	}
	if len(paths) < 500 || paths["/"] < 4*paths["/api/login"] || methods["GET"] < n*3/4 || methods["POST"] < n/100 {
		t.Errorf("%d paths, %d times /, %v", len(paths), paths["/"], methods)
	}
	if len(statuses) != 6 || statuses["200"]+statuses["201"] < n*8/10 || api < n/2 {
		t.Errorf("%v, %d times /api/", statuses, api)
	}
}
