package engine_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/limiter"
)

// redisServer is another Redis to test, such as an older one.
var redisServer = os.Getenv("REDIS_SERVER")

// server is one Redis for all tests; each has keys of its own.
var server *engine.Redis

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	server, err = engine.StartRedis(context.Background(), engine.RedisOptions{Executable: redisServer})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// A script is take.lua with its parts, loaded into a Redis.
type script struct {
	*redis.Client
	t   testing.TB
	sha string
}

func load(t testing.TB, r *engine.Redis) script {
	t.Helper()
	return loadAfter(t, r, "")
}

// loadAfter loads the script to run after another.
func loadAfter(t testing.TB, r *engine.Redis, prelude string) script {
	t.Helper()
	source := []byte(prelude)
	for _, part := range []string{"arithmetic", "sliding", "bucket", "take"} {
		text, err := os.ReadFile("../../limiter/global/" + part + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	client := redis.NewClient(&redis.Options{Addr: r.Addr, PoolSize: 1, ReadTimeout: time.Minute})
	t.Cleanup(func() { client.Close() })
	sha, err := client.ScriptLoad(t.Context(), string(source)).Result()
	if err != nil {
		t.Fatal(err)
	}
	return script{client, t, sha}
}

// A charge is what one key of a rule is asked for.
type charge struct {
	name   string // of the key
	limits []limiter.Limit
	cost   int64

	shadow, peekOnly, record bool
}

// A call is one request to the script. Its time is Redis' own without at.
type call struct {
	at      *limiter.Instant
	peek    bool
	charges []charge
}

func at(now limiter.Instant) *limiter.Instant { return &now }

// keys are the keys of a call, one for each limit of each charge.
func (c call) keys() (keys []string) {
	for _, charge := range c.charges {
		for _, limit := range charge.limits {
			keys = append(keys, keyOf(charge.name, limit))
		}
	}
	return keys
}

// keyOf names what a value can only be read with, as take.lua asks for.
func keyOf(name string, l limiter.Limit) string {
	return fmt.Sprintf("{%s}%s/%d/%d", name, l.Algorithm, l.Window.Microseconds(), l.Buckets)
}

func (c call) args() []any {
	now, mode := "", "take"
	if c.at != nil {
		now = fmt.Sprint(int64(*c.at))
	}
	if c.peek {
		mode = "peek"
	}
	args := []any{now, mode}
	for i, charge := range c.charges {
		for _, l := range charge.limits {
			args = append(args, i, charge.how(), charge.cost, string(l.Algorithm), l.Capacity(), l.Window.Microseconds(), option(l))
		}
	}
	return args
}

func (c charge) how() (how string) {
	if c.shadow {
		how += "s"
	}
	if c.peekOnly {
		how += "p"
	}
	if c.record {
		how += "r"
	}
	return how
}

func option(l limiter.Limit) int64 {
	switch {
	case l.Algorithm == limiter.TokenBucket || l.Algorithm == limiter.LeakyBucket:
		return l.Requests
	case l.Buckets != 0:
		return int64(l.Buckets)
	case l.Algorithm == limiter.SlidingBuckets:
		return limiter.DefaultBuckets
	case l.Inclusive:
		return 1
	default:
		return 0
	}
}

// queue adds the call to a pipeline.
func (s script) queue(p redis.Pipeliner, c call) *redis.Cmd {
	return p.EvalSha(s.t.Context(), s.sha, c.keys(), c.args()...)
}

// A reply is what the script says, without the time and with the decisions of
// all limits in a row.
type reply struct {
	admitted bool
	corrupt  int64
	each     []limiter.Decision
}

func (r reply) String() string {
	s := fmt.Sprintf("admitted %v, %d corrupt", r.admitted, r.corrupt)
	for _, d := range r.each {
		s += fmt.Sprintf("\n  %v of %d, %d left, retry after %d, reset after %d µs", d.Allowed, d.Limit, d.Remaining, d.RetryAfter.Microseconds(), d.ResetAfter.Microseconds())
	}
	return s
}

func equal(a, b reply) bool { return a.String() == b.String() }

func parse(t testing.TB, cmd *redis.Cmd) (now limiter.Instant, r reply) {
	t.Helper()
	n, err := cmd.Int64Slice()
	if err != nil {
		t.Fatal(err)
	}
	if len(n) < 3 || len(n)%5 != 3 {
		t.Fatalf("a reply of %d numbers", len(n))
	}
	r.admitted, r.corrupt = n[1] == 1, n[2]
	for d := n[3:]; len(d) > 0; d = d[5:] {
		retry := time.Duration(d[3]) * time.Microsecond
		if d[3] < 0 {
			retry = limiter.Never
		}
		r.each = append(r.each, limiter.Decision{Allowed: d[0] == 1, Limit: d[1], Remaining: d[2], RetryAfter: retry, ResetAfter: time.Duration(d[4]) * time.Microsecond})
	}
	return limiter.Instant(n[0]), r
}

// do makes one call.
func (s script) do(c call) (now limiter.Instant, r reply) {
	s.t.Helper()
	return parse(s.t, s.EvalSha(s.t.Context(), s.sha, c.keys(), c.args()...))
}

// A core is what the script is held to.
type core struct {
	t     testing.TB
	table *limiter.Table
}

// newCore returns a table of so many shards that hardly two keys share one: a
// new key drops the expired ones of its shard, and who then sets the clock
// back finds them gone.
func newCore(t testing.TB) core {
	t.Helper()
	const maxKeys = 1 << 18
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(maxKeys)), limiter.TableOptions{MaxKeys: maxKeys})
	if err != nil {
		t.Fatal(err)
	}
	return core{t, table}
}

func (c core) do(call call) (r reply) {
	c.t.Helper()
	var charges []limiter.Charge
	for _, asked := range call.charges {
		limits, err := limiter.NewLimits(asked.limits...)
		if err != nil {
			c.t.Fatal(err)
		}
		charges = append(charges, limiter.Charge{
			Key: c.table.Fingerprint([]byte(asked.name)), Limits: limits, Cost: asked.cost,
			Shadow: asked.shadow, PeekOnly: asked.peekOnly, Record: asked.record,
		})
	}
	decide := c.table.Take
	if call.peek {
		decide = c.table.Peek
	}
	result, err := decide(*call.at, charges)
	if err != nil {
		c.t.Fatal(err)
	}
	r.admitted, r.corrupt = result.Admitted, int64(result.Corrupt)
	for _, charge := range charges {
		for _, d := range charge.Each {
			r.each = append(r.each, bounded(d))
		}
	}
	return r
}

// longest is the longest wait that the script tells.
const longest = 1 << 53 * time.Microsecond

func bounded(d limiter.Decision) limiter.Decision {
	if d.RetryAfter != limiter.Never {
		d.RetryAfter = min(d.RetryAfter, longest)
	}
	d.ResetAfter = min(d.ResetAfter, longest)
	return d
}

// TestTakeRecordsWhatCanBeCounted: a value holds up to 2^32-1 units, whatever is
// recorded. What goes beyond is not counted, as the core has it.
func TestTakeRecordsWhatCanBeCounted(t *testing.T) {
	s, core := load(t, server), newCore(t)
	c := call{charges: []charge{{name: "countable", limits: ladder(time.Second)}}}
	for i, cost := range []int64{limiter.MaxRequests, limiter.MaxRequests, 2, 1, 1, 1, limiter.MaxRequests} {
		c.at = at(limiter.Instant(i * 1000))
		c.charges[0].record, c.charges[0].cost = true, cost
		want := core.do(c)
		if _, got := s.do(c); !equal(got, want) {
			t.Errorf("record %d: got %v\nwant %v", i, got, want)
		}
	}
	for _, now := range []limiter.Instant{1_000_999, 1_001_001, 1_003_000, 1_003_001, 1_200_000} {
		c = call{at: at(now), charges: []charge{{name: "countable", limits: ladder(time.Second), cost: 1, peekOnly: true}}}
		want := core.do(c)
		if _, got := s.do(c); !equal(got, want) {
			t.Errorf("at %d: got %v\nwant %v", now, got, want)
		}
	}
}
