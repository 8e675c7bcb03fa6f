package wasmhost

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTrapEndsTheVM(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/panic", "request panics as told"},
		{"/nothing", "bad argument"}, // a counter does not move by 0
		{"/twice", "decided twice: a local response after a local response"},
		{"/greedy", "restricted_callback: proxy_set_tick_period_milliseconds"},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			host := newHost(t)
			vm, other := newVM(t, host), newVM(t, host)
			_, err := vm.Do(context.Background(), get(test.path))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q in it", err, test.want)
			}
			if _, err := vm.Do(context.Background(), get("/config")); err == nil || !vm.Dead() {
				t.Errorf("dead %v, and another request: %v", vm.Dead(), err)
			}
			wantBody(t, other, get("/config"), "config")
		})
	}
}

func TestPluginThatDoesNotStart(t *testing.T) {
	host := newHost(t)
	for configuration, want := range map[string]string{
		"refuse": `plugin "root" refused to start; it logged:` + "\n\terror: refused as told",
		"panic":  "panic: start panics as told",
	} {
		_, err := host.NewVM(context.Background(), Plugin{RootID: "root", Configuration: []byte(configuration)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("configuration %q: error %v, want %q in it", configuration, err, want)
		}
	}
}

func TestModuleMayLackCallbacks(t *testing.T) {
	host := newHost(t)
	vm := newVM(t, host)
	for _, name := range []string{
		"proxy_on_response_headers", "proxy_on_log", "proxy_on_done", "proxy_on_tick",
	} {
		delete(vm.exports, name)
	}
	if response := do(t, vm, get("/admit")); response.Status != 200 || len(response.Headers) != 1 {
		t.Errorf("response %+v", response)
	}
	if err := vm.Tick(context.Background()); err != nil {
		t.Error(err)
	}
	if logs := host.Logs(); logs != nil {
		t.Errorf("logs %q", logs)
	}
}

func TestPluginsOfOneVMTick(t *testing.T) {
	host := newHost(t)
	vm := newVM(t, host)
	second, err := vm.AddPlugin(context.Background(), Plugin{RootID: "second", Configuration: []byte("other")})
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.Tick(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := second.Tick(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"info: tick of config", "info: tick of other"}; !slices.Equal(host.Logs(), want) {
		t.Errorf("logs %q, want %q", host.Logs(), want)
	}
	if got := vm.TickPeriod(); got != 1500*time.Millisecond {
		t.Errorf("tick period %v", got)
	}
	if vm.MemoryPages() == 0 || vm.MemoryBytes() != vm.MemoryPages()*pageSize {
		t.Errorf("memory %d bytes, %d pages", vm.MemoryBytes(), vm.MemoryPages())
	}
}

func TestVMsRunInParallel(t *testing.T) {
	const workers, requests = 4, 50
	host := newHost(t)
	var wg sync.WaitGroup
	for range workers {
		vm := newVM(t, host)
		wg.Go(func() {
			for range requests {
				if _, err := vm.Do(context.Background(), get("/append/key/x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := host.Shared.Bytes(); got != workers*requests {
		t.Errorf("%d appended, want %d", got, workers*requests)
	}
}
