package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/limiter"
)

// TestTakeGarbage: a value that makes no sense counts as empty, is told, is left
// alone by who is refused, and overwritten by who is admitted.
func TestTakeGarbage(t *testing.T) {
	s := load(t, server)
	limits := []limiter.Limit{
		{Algorithm: limiter.SlidingLog, Requests: 5, Window: time.Minute},
		{Algorithm: limiter.TokenBucket, Requests: 5, Window: time.Minute},
	}
	nines := strings.Repeat("9", 400)
	texts := []string{"", nines + " 1 1", "x", "1 2", "1 2 3 ", "1 2 60000000", "1 4294967296 0", "-1 -1 1", "99999999999999999999 1 1", "1 1 1e3", "nan 1 1"}
	lists := [][]any{
		{""}, {"x"}, {"1 2 3"}, {"0 0 0 0 0 0"}, {"5 100 5 100 0 0", "7"}, {"5 100 5 101 0 0"}, {"5 100 5 100 1 0"}, {"4294967296 1 4294967296 1 0 0"},
		{"3 100 1 300 100 1"}, {"3 100 1 300 100 1", "x"}, {"3 100 1 300 100 1", "100", "100"}, {"3 100 1 300 100 1", "100:2"}, {"3 100 1 300 100 1", "150"},
		{"3 100 1 300 100 1", nines}, {"3 100 1 300 201 1", "100"}, {"3 100 1 300 0 1", "100"}, {"9 9 9 9 9 9 9"}, {"1e3 1 1 1 0 0"},
		{"2 100 1 99999999999999999999 1 1"},
	}
	const now = 100 + 60_000_000 // the oldest has just left
	for i, put := range garbage(texts, lists) {
		for j, l := range limits {
			c := call{at: at(now), charges: []charge{{name: "garbage", limits: []limiter.Limit{l}, cost: 6}}}
			key := c.keys()[0]
			s.Del(t.Context(), key)
			if err := put(s, key); err != nil {
				t.Fatal(err)
			}
			before := s.Dump(t.Context(), key).Val()
			never := limiter.Decision{Limit: 5, Remaining: 5, RetryAfter: limiter.Never}
			if _, got := s.do(c); !equal(got, reply{corrupt: 1, each: []limiter.Decision{never}}) || s.Dump(t.Context(), key).Val() != before {
				t.Errorf("garbage %d, limit %d: a refusal: %v", i, j, got)
			}
			c.charges[0].cost = 2
			if _, got := s.do(c); !got.admitted || got.corrupt != 1 || got.each[0].Remaining != 3 {
				t.Errorf("garbage %d, limit %d: %v", i, j, got)
			}
			if _, got := s.do(c); !got.admitted || got.corrupt != 0 || got.each[0].Remaining != 1 {
				t.Errorf("garbage %d, limit %d, the next: %v", i, j, got)
			}
		}
	}
}

// TestTakeGarbageWithin: what makes no sense in the middle of a list is found by who
// comes that far, to drop it or to say when it will have left.
func TestTakeGarbageWithin(t *testing.T) {
	s := load(t, server)
	l := limiter.Limit{Algorithm: limiter.SlidingLog, Requests: 5, Window: time.Minute}
	for _, test := range []struct {
		now     limiter.Instant
		cost    int64
		want    bool
		corrupt int64
	}{
		{400, 1, false, 0}, {400, 2, false, 0}, {400, 3, true, 1}, {400, 5, true, 1},
		{60_000_100, 1, true, 0}, {60_000_150, 1, true, 0}, {60_000_199, 1, true, 0}, {60_000_200, 1, true, 1},
		{120_000_000, 5, true, 0}, // all has left, and nobody looks
	} {
		c := call{at: at(test.now), charges: []charge{{name: "within", limits: []limiter.Limit{l}, cost: test.cost}}}
		s.Del(t.Context(), c.keys()...)
		s.RPush(t.Context(), c.keys()[0], "5 100 1 300 50 1", "100", "20:x", "30")
		if _, r := s.do(c); r.admitted != test.want || r.corrupt != test.corrupt {
			t.Errorf("cost %d at %d: %v", test.cost, test.now, r)
		}
	}
}

// garbage returns what puts each of the values, and values of other types, under a
// key. Strings make no sense to sliding windows, nor lists to buckets.
func garbage(texts []string, lists [][]any) (puts []func(script, string) error) {
	for _, v := range texts {
		puts = append(puts, func(s script, key string) error { return s.Set(s.t.Context(), key, v, 0).Err() })
	}
	for _, v := range lists {
		puts = append(puts, func(s script, key string) error { return s.RPush(s.t.Context(), key, v...).Err() })
	}
	return append(puts,
		func(s script, key string) error { return s.HSet(s.t.Context(), key, "a", 1).Err() },
		func(s script, key string) error { return s.SAdd(s.t.Context(), key, 1).Err() },
		func(s script, key string) error { return s.ZAdd(s.t.Context(), key, redis.Z{Member: "a"}).Err() },
	)
}

// TestTakeArguments: a call that is not complete is an error and changes nothing.
func TestTakeArguments(t *testing.T) {
	s := load(t, server)
	c := call{charges: []charge{{name: "arguments", limits: ladder(time.Minute), cost: 1}}}
	args := c.args()
	wrong := slices.Clone(args)
	wrong[2+7*4+3] = "fixed_window"
	for _, args := range [][]any{nil, args[:1], args[:len(args)-1], append(slices.Clone(args), "1"), wrong} {
		if err := s.EvalSha(t.Context(), s.sha, c.keys(), args...).Err(); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	if n := s.Exists(t.Context(), c.keys()...).Val(); n != 0 {
		t.Errorf("%d keys were written", n)
	}
}

// TestTakeCluster: keys with one hash tag are of one node, others are refused.
func TestTakeCluster(t *testing.T) {
	s := load(t, startRedis(t, "--cluster-enabled", "yes"))
	var slots []int
	for slot := range 16384 {
		slots = append(slots, slot)
	}
	if err := s.ClusterAddSlots(t.Context(), slots...).Err(); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(s.ClusterInfo(t.Context()).Val(), "cluster_state:ok") {
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		time.Sleep(5 * time.Millisecond)
	}
	c := call{charges: []charge{{name: "one", limits: ladder(time.Minute), cost: 1}}}
	if _, r := s.do(c); !r.admitted {
		t.Error(r)
	}
	c.charges = append(c.charges, charge{name: "other", limits: ladder(time.Minute), cost: 1})
	if err := s.EvalSha(t.Context(), s.sha, c.keys(), c.args()...).Err(); err == nil || !strings.Contains(err.Error(), "CROSSSLOT") {
		t.Errorf("keys of two slots: %v", err)
	}
}

// TestTakeWithoutMemory: where Redis has no memory to give, a call fails and leaves
// no trace, in windows that have something to drop too.
func TestTakeWithoutMemory(t *testing.T) {
	s := load(t, startRedis(t))
	c := call{charges: []charge{{name: "full", limits: ladder(time.Second), cost: 1}}}
	for _, now := range []limiter.Instant{1_000_000, 1_200_000, 1_500_000} {
		c.at = at(now)
		s.do(c)
	}
	dumps := func() (all string) {
		for _, key := range c.keys() {
			all += s.Dump(t.Context(), key).Val()
		}
		return all
	}
	before := dumps()
	if err := s.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	c.at = at(2_100_000) // the first event has left, and an element of the list with it
	if err := s.EvalSha(t.Context(), s.sha, c.keys(), c.args()...).Err(); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("without memory: %v", err)
	}
	if dumps() != before {
		t.Error("a call that failed left a trace")
	}
	c.charges[0].name = "new"
	if err := s.EvalSha(t.Context(), s.sha, c.keys(), c.args()...).Err(); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("a new key without memory: %v", err)
	}
	s.ConfigSet(t.Context(), "maxmemory", "0")
	c.charges[0].name = "full"
	if _, r := s.do(c); !r.admitted || r.each[0].Remaining != 2 {
		t.Errorf("with memory again: %v", r)
	}
}
