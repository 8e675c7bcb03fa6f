package scenario

import (
	"testing"
	"time"
)

// A Backend is something that a scenario can run on.
type Backend interface {
	// Open starts a fresh proxy with the scenario's configuration, whose clock
	// is at the scenario's time 0.
	Open(t *testing.T, s Scenario) Session
}

// A Session is one proxy at work.
type Session interface {
	// Do sends a request at the given time, or as soon after as it can, and
	// lets the upstream answer as given if it is asked. Times never go back.
	Do(at time.Duration, r Request, up Upstream) (Response, error)
}

// Run takes every step of a scenario.
func Run(t *testing.T, b Backend, s Scenario) {
	t.Helper()
	session := b.Open(t, s)
	for i, step := range s.Steps {
		for n := range max(1, step.Times) {
			got, err := session.Do(time.Duration(step.At), step.Request, step.Upstream)
			if err == nil {
				err = step.Want.check(got)
			}
			if err != nil {
				t.Errorf("step %d, request %d: %s %s at %v: %v", i, n, step.Request.Method, step.Request.Path, time.Duration(step.At), err)
			}
		}
	}
}
