package engine_test

import (
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/limiter"
)

// A step is one call under way.
type step struct {
	call          call
	want          reply
	got           *redis.Cmd
	before, after []*redis.StringCmd // dumps of its keys, which must not change
}

// do asks the core and queues the call for the script.
func (w *world) do(c call) (want reply) {
	w.t.Helper()
	want = w.core.do(c)
	st := step{call: c, want: want}
	forward := w.now >= w.latest
	traceless := c.peek || !want.admitted && forward
	if traceless {
		st.before = w.dumps(c)
	}
	st.got = w.script.queue(w.pipe, c)
	if traceless {
		st.after = w.dumps(c)
	}
	w.count(c, want, forward, traceless)
	w.latest = max(w.latest, w.now)
	if w.pending = append(w.pending, st); len(w.pending) == 200 {
		w.compare()
	}
	return want
}

func (w *world) dumps(c call) (dumps []*redis.StringCmd) {
	for _, key := range c.keys() {
		dumps = append(dumps, w.pipe.Dump(w.t.Context(), key))
	}
	return dumps
}

func (w *world) count(c call, want reply, forward, traceless bool) {
	w.seen["steps"]++
	w.seen.mark("admitted", want.admitted)
	w.seen.mark("refused", !want.admitted)
	w.seen.mark("peeked", c.peek)
	w.seen.mark("back", !forward)
	w.seen.mark("no trace", traceless)
	for _, charge := range c.charges {
		w.seen.mark("recorded", charge.record)
		w.seen.mark("in shadow", charge.shadow)
		w.seen.mark("peek only", charge.peekOnly)
	}
	w.seen.mark("never", slices.ContainsFunc(want.each, func(d limiter.Decision) bool { return d.RetryAfter == limiter.Never }))
}

// compare runs what is queued.
func (w *world) compare() {
	w.t.Helper()
	// A key that is not there makes its dump an error, and with it all of Exec.
	if _, err := w.pipe.Exec(w.t.Context()); err != nil && err != redis.Nil {
		w.t.Fatal(err)
	}
	for _, st := range w.pending {
		now, got := parse(w.t, st.got)
		if now != *st.call.at || !equal(got, st.want) {
			w.t.Fatalf("seed %d, call %d: %+v at %d\ngot %v, at %d\nwant %v", w.seed, w.n, st.call.charges, *st.call.at, got, now, st.want)
		}
		for i, before := range st.before {
			if before.Val() != st.after[i].Val() {
				w.t.Fatalf("seed %d, call %d: %+v at %d, %v: left a trace in %s", w.seed, w.n, st.call.charges, *st.call.at, got, st.call.keys()[i])
			}
		}
		w.n++
	}
	w.pending = w.pending[:0]
}

// clear deletes the world's keys.
func (w *world) clear() {
	w.t.Helper()
	if err := w.script.FlushDB(w.t.Context()).Err(); err != nil {
		w.t.Fatal(err)
	}
}
