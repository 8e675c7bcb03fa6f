package main

import (
	"slices"
	"time"
)

// A taker decides on one request of a key, and counts it if it admits it.
type taker interface {
	// take gets the zero time where the contender reads the clock itself.
	take(key string, now time.Time) bool
}

// A clock says whose clock a contender goes by.
type clock int

const (
	argument clock = iota // the time is an argument of every call
	settable              // it reads the clock, and tests can give it another
	own                   // it reads the clock, always
)

// A peer is one way to limit keys: an algorithm of Weir, or another library.
type peer struct {
	name  string
	way   string // how it counts
	clock clock

	// new returns a taker that holds each of so many keys to limit requests
	// per window.
	new func(keys int, limit int64, window time.Duration) taker
}

// contenders returns all of them, Weir's default algorithm first: it is what
// the others are compared with.
func contenders() []peer { return slices.Concat(weirs, others) }

// done ends what a taker does in the background, and lets go of its memory.
func done(t taker) {
	if c, ok := t.(interface{ close() }); ok {
		c.close()
	}
}

// must is for arguments that are known to be right.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
