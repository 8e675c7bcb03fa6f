package wasmhost

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// begin sends a request that makes one call.
func begin(t *testing.T, vm *VM, path string) (*Exchange, *Call) {
	t.Helper()
	before := len(vm.Calls())
	e, err := vm.Begin(context.Background(), get(path))
	if err != nil {
		t.Fatal(err)
	}
	calls := vm.Calls()
	if e.Over() || len(calls) != before+1 {
		t.Fatalf("%s: over %v, %d calls", path, e.Over(), len(calls))
	}
	return e, calls[before]
}

func TestCallIsAsTheGuestMadeIt(t *testing.T) {
	vm := newVM(t, newHost(t))
	e, call := begin(t, vm, "/call/them/resume")
	want := [][2]string{{":method", "POST"}, {":path", "/ask"}, {":authority", "them"}}
	if call.Cluster != "them" || !slices.Equal(call.Headers, want) || string(call.Body) != "what?" || call.Timeout != 25*time.Millisecond {
		t.Errorf("call %+v", call)
	}
	if _, other := begin(t, vm, "/call/them/resume"); other.Token == call.Token || call.Token == 0 {
		t.Errorf("tokens %d and %d", call.Token, other.Token)
	}
	if got := e.Response(); !got.Paused || got.Status != 0 {
		t.Errorf("before the answer: %+v", got)
	}
	wantBody(t, vm, get("/call/them/badly"), "error status returned by host: bad argument")
}

func TestAnswerDecidesTheRequest(t *testing.T) {
	host := newHost(t)
	vm := newVM(t, host)
	ctx := context.Background()
	passes, first := begin(t, vm, "/call/them/resume")
	replies, second := begin(t, vm, "/call/them/reply")
	if err := vm.AnswerHTTP(ctx, second.Token, 201, [][2]string{{"X-A", "1"}}, []byte("this")); err != nil {
		t.Fatal(err)
	}
	if got := replies.Response(); passes.Over() || !replies.Over() || !got.Local || string(got.Body) != "this" || got.Paused {
		t.Errorf("answered: %+v, and the other is over: %v", got, passes.Over())
	}
	if err := vm.FailHTTP(ctx, first.Token); err != nil {
		t.Fatal(err)
	}
	if got := passes.Response(); !passes.Over() || got.Local || got.Status != 200 || len(got.Headers) != 3 {
		t.Errorf("failed: %+v", got)
	}
	want := []string{"info: answer [[:status 201] [x-a 1]] <nil> this", "info: done /call/them/reply",
		"info: answer [] error status returned by host: not found error status returned by host: not found", "info: done /call/them/resume"}
	if got := host.Logs(); !slices.Equal(got, want) {
		t.Errorf("logs %q, want %q", got, want)
	}
	if calls := vm.Calls(); len(calls) > 0 {
		t.Errorf("%d calls wait", len(calls))
	}
	if err := vm.AnswerHTTP(ctx, first.Token, 200, nil, nil); err == nil || vm.Dead() {
		t.Errorf("answered twice: %v", err)
	}
}

// TestCallOutlivesItsRequest: as in Envoy, whose calls belong to the plugin.
func TestCallOutlivesItsRequest(t *testing.T) {
	ctx, host := context.Background(), newHost(t)
	vm := newVM(t, host)
	e, call := begin(t, vm, "/call/them/nothing")
	if err := e.Leave(ctx); err != nil || !e.Over() || !e.Response().Paused {
		t.Errorf("%v, over %v, response %+v", err, e.Over(), e.Response())
	}
	if err := vm.AnswerHTTP(ctx, call.Token, 200, nil, []byte("late")); err != nil {
		t.Error(err)
	}
	second, err := vm.AddPlugin(ctx, Plugin{RootID: "second", Configuration: []byte("other")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Do(ctx, get("/call/them/nothing")); err != nil || len(vm.Calls()) != 1 {
		t.Errorf("%v, %d calls", err, len(vm.Calls()))
	}
	if err := second.Remove(ctx); err != nil || len(vm.Calls()) != 0 {
		t.Errorf("%v, %d calls of a plugin that is gone", err, len(vm.Calls()))
	}
}

func TestDecidingTwiceEndsTheGuest(t *testing.T) {
	for then, want := range map[string]string{
		"reply+reply":   "a local response after a local response",
		"reply+resume":  "proxy_continue_stream after a local response",
		"resume+resume": "proxy_continue_stream after proxy_continue_stream",
		"resume+reply":  "a local response after proxy_continue_stream",
	} {
		vm := newVM(t, newHost(t))
		_, call := begin(t, vm, "/call/them/"+then)
		err := vm.AnswerHTTP(context.Background(), call.Token, 200, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "decided twice: "+want) || !vm.Dead() {
			t.Errorf("%s: %v, want %q in it", then, err, want)
		}
	}
}
