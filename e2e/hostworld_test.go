package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// A world is a host and a VM on which faults are tried one after the other: what
// one leaves behind the next would meet.
type world struct {
	host *wasmhost.Host
	vm   *wasmhost.VM
	deny bool // is on_error
	runs int
}

// apart is the time from one sweep to the next, in which all windows are over.
const apart = 4 * time.Hour

// newWorld has a key "full", which is at its limit.
func newWorld(t *testing.T, onError string) *world {
	t.Helper()
	host := newHost(t, readModule(t))
	w := &world{host: host, vm: newVM(t, host, everyCall(onError)), deny: onError == "deny"}
	w.fill(t)
	return w
}

func (w *world) fill(t *testing.T) {
	t.Helper()
	for i, want := range []int{200, 200, 429} {
		checkKeyed(t, w.vm, "full", i, want)
	}
}

// run sends a request of a fresh key, whose response is charged, and one of the
// key at its limit.
func (w *world) run(t *testing.T, key string) (fresh, full wasmhost.Response) {
	t.Helper()
	r := keyed(key)
	r.Upstream = wasmhost.Upstream{Status: 401}
	fresh, err := w.vm.Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if full, err = w.vm.Do(t.Context(), keyed("full")); err != nil {
		t.Fatal(err)
	}
	return fresh, full
}

// sweep forgets all keys, and fills the key that is to be full again.
func (w *world) sweep(t *testing.T) {
	t.Helper()
	w.runs++
	w.host.SetNow(apart * time.Duration(w.runs))
	for range sweepTicks {
		if err := w.vm.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// fault tries a fault of a request or of its response, and checks all that it
// must not do.
func (w *world) fault(t *testing.T, f callFault, status wasmhost.Status) {
	errors, mark := w.errors(), len(w.host.Logs())
	w.host.Before = faultIn(w.host, f.callback, f.call, status)
	fresh, full := w.run(t, fmt.Sprint("fresh-", w.runs))
	w.host.Before, w.host.Fault = nil, nil
	logged, counted := w.host.Logs()[mark:], w.errors()-errors
	checkLines(t, logged, 1)
	switch {
	case absentIsFine(f, status):
		if full.Status == 200 && w.deny && f.call == "proxy_get_shared_data" {
			t.Error("a key at its limit was admitted")
		}
	default:
		w.checkFate(t, "fresh", fresh, f.fresh, 401)
		w.checkFate(t, "full", full, f.full, 429)
		if len(logged) != f.logged || counted != f.errors {
			t.Errorf("logged %q, %d errors counted, want %d and %d", logged, counted, f.logged, f.errors)
		}
	}
	checkKeyed(t, w.vm, "full", 3, 429)
	w.checkRecovery(t)
}

// tickFault tries a fault of the sweep, which is then late.
func (w *world) tickFault(t *testing.T, f callFault, status wasmhost.Status) {
	errors, mark := w.errors(), len(w.host.Logs())
	w.host.Before = faultIn(w.host, f.callback, f.call, status)
	w.sweep(t)
	w.host.Before, w.host.Fault = nil, nil
	logged, counted := w.host.Logs()[mark:], w.errors()-errors
	checkLines(t, logged, sweepTicks)
	if reported := len(logged) > 0; reported != (f.logged > 0) && !absentIsFine(f, status) || counted != int64(len(logged)) {
		t.Errorf("logged %q, %d errors counted, want some of both: %v", logged, counted, f.logged > 0)
	}
	if fresh, full := w.run(t, "fresh"); fresh.Status != 401 || full.Status != 200 {
		t.Errorf("status %d and %d of keys whose windows are over", fresh.Status, full.Status)
	}
	w.checkRecovery(t)
}

// absentIsFine says whether the status is no failure: a header that is absent,
// a shard that is. In a set of shared data a mismatch is tried again, in vain.
func absentIsFine(f callFault, status wasmhost.Status) bool {
	return status == wasmhost.NotFound && strings.HasPrefix(f.call, "proxy_get_") ||
		status == wasmhost.CasMismatch && f.callback == onTick && f.call == "proxy_set_shared_data"
}

func (w *world) checkFate(t *testing.T, key string, got wasmhost.Response, want fate, status int) {
	t.Helper()
	details := ""
	switch {
	case want == hangs:
		status = 0
	case want == fails && w.deny:
		status, details = 503, "local_rate_limit_error"
	case want == fails:
		status = map[string]int{"fresh": 401, "full": 200}[key]
	case status == 429:
		details = "local_rate_limited{two}"
	}
	if got.Status != status || got.Details != details || got.Paused != (want == hangs) {
		t.Errorf("%s: status %d, details %q, paused %v, want %d %q", key, got.Status, got.Details, got.Paused, status, details)
	}
}

// checkLines checks that there is at most one error for each tick, and nothing
// of what the client sent, and that none of them tells of a panic.
func checkLines(t *testing.T, logged []string, most int) {
	t.Helper()
	for _, line := range logged {
		if !strings.HasPrefix(line, "error: weir: ") || strings.Contains(line, "canary") || strings.Contains(line, "panic") || strings.Contains(line, "192.0.2.1") {
			t.Errorf("logged %q", line)
		}
	}
	if len(logged) > most {
		t.Errorf("%d lines logged, want at most %d: %q", len(logged), most, logged)
	}
}

// checkRecovery lets all windows pass, which also lets a line be logged again,
// and checks that the VM works as before.
func (w *world) checkRecovery(t *testing.T) {
	t.Helper()
	w.sweep(t)
	w.fill(t)
	if fresh, full := w.run(t, "well"); fresh.Status != 401 || full.Status != 429 {
		t.Errorf("after the fault: status %d and %d", fresh.Status, full.Status)
	}
}

func (w *world) errors() int64 {
	n, _ := w.host.Metrics.Get("weir.filter.e2e.errors")
	return n
}
