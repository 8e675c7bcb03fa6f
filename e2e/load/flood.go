package load

import (
	"context"
	"errors"
	"sync"
)

// A Source is asked for requests by one connection after the other, from the
// goroutine of that connection. It says false when there are no more.
type Source func(conn int) (Request, bool)

// Flood sends what the source has, over so many connections with so many
// requests in flight on each, as fast as the server answers, and counts the
// answers by status. It ends with the source, the context, or the first error
// of a connection, which it returns; the end of the context is none.
func Flood(ctx context.Context, addr string, connections, depth int, source Source) (Tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tallies := make([]Tally, connections)
	errs := make([]error, connections)
	var wg sync.WaitGroup
	for i := range connections {
		wg.Go(func() {
			tallies[i], errs[i] = flood(ctx, addr, depth, func() (Request, bool) { return source(i) })
			if errs[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	total := Tally{}
	for _, t := range tallies {
		total.Add(t)
	}
	return total, errors.Join(errs...)
}

// flood is Flood on one connection.
func flood(ctx context.Context, addr string, depth int, next func() (Request, bool)) (Tally, error) {
	conn, err := Dial(addr)
	if err != nil {
		return nil, err
	}
	tally := Tally{}
	batch := make([]Request, 0, depth)
	for more := true; more && ctx.Err() == nil && err == nil; {
		batch = batch[:0]
		for more && len(batch) < depth {
			var r Request
			if r, more = next(); more {
				batch = append(batch, r)
			}
		}
		err = conn.Pipeline(batch, func(_, status int) { tally[status]++ })
	}
	return tally, errors.Join(err, conn.Close())
}

// A Tally counts answers by their status.
type Tally map[int]int64

// Add adds another tally to t.
func (t Tally) Add(other Tally) {
	for status, n := range other {
		t[status] += n
	}
}

// Total is the number of all answers.
func (t Tally) Total() int64 {
	var n int64
	for _, count := range t {
		n += count
	}
	return n
}
