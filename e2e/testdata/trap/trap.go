//go:build wasip1

package main

import (
	"os"
	"strings"
)

// This file is laid over the package plugin by a test, to make a module that
// traps as a request tells it to:
//
//	x-trap: <place>-<how>
//
// The test also makes each callback, and the store, call reach as it begins.
// The module that users load has nothing of it.

// armed is the trap that waits for its place to be reached.
var armed string

// reach springs the trap if it waits for this place.
func reach(place string) {
	if place == "onRequestHeaders" {
		arm()
	}
	how, ok := strings.CutPrefix(armed, place+"-")
	if !ok {
		return
	}
	armed = ""
	switch how {
	case "panic":
		panic("trap")
	case "nil":
		var p *plugin
		p.complain = true
	case "stack":
		deep(1)
	case "memory":
		for {
			hog = append(hog, make([]byte, 64<<20))
		}
	case "deadlock": // which Go's runtime finds, and throws
		<-make(chan int)
	case "exit":
		os.Exit(3)
	}
}

// arm sets the trap that the request asks for.
func arm() {
	if trap, _ := header(requestHeaders, "x-trap"); trap != "" {
		armed = strings.Clone(trap)
	}
}

var hog [][]byte

func deep(n int) int {
	var frame [1000]byte
	frame[n%len(frame)] = 1
	return deep(n+1) + int(frame[n/2%len(frame)])
}
