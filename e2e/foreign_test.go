package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// TestForeignValuesReadAsEmpty puts what is no shard under our keys.
func TestForeignValuesReadAsEmpty(t *testing.T) {
	for _, value := range []string{"", "\x00", "\x01", "\x01short", "\x02another layout", strings.Repeat("\xff", 5000)} {
		host := newHost(t, readModule(t))
		vm := newVM(t, host, oneAMinute("deny"))
		if got, err := vm.Do(t.Context(), keyed("a")); err != nil || got.Status != 200 {
			t.Fatal(got, err)
		}
		for _, key := range host.Shared.Keys() {
			if strings.Contains(key, "/table/") {
				host.Shared.Set(key, []byte(value), 0)
			}
		}
		checkRecovery(t, vm)
		if n, _ := host.Metrics.Get("weir.filter.e2e.corrupt"); (n > 0) != (value != "" && value != "\x01") {
			t.Errorf("value %.20q: corrupt = %d", value, n)
		}
	}
}

// asked are what a request asks the host for, by call and a part of the argument.
var asked = [][2]string{
	{"proxy_get_header_map_pairs", ""},
	{"proxy_get_header_map_value", ":status"},
	{"proxy_get_property", "source.address"},
	{"proxy_get_shared_data", "/table/"},
}

// TestGarbageFromTheHost gives the module bytes that a proxy would not, of any
// size, and says wrong things of where they are: a null pointer, no size, a
// negative one, too many bytes of the module's own memory. (More than the memory
// has would be a trap, and a host that lies so could as well write there.)
func TestGarbageFromTheHost(t *testing.T) {
	random := make([]byte, 300)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	for _, value := range [][]byte{nil, {0}, []byte("\xff\xfe"), random, bytes.Repeat([]byte{0xff}, 64<<10), bytes.Repeat([]byte("/a"), 1<<19)} {
		tryGarbage(t, fmt.Sprintf("%.8q of %d bytes", value, len(value)), func(host *wasmhost.Host, wanted func(call, arg string) bool) {
			host.Tamper = func(call, arg string, real []byte) []byte {
				if wanted(call, arg) {
					return value
				}
				return real
			}
		})
	}
	for name, place := range map[string]func(address, size uint32) (uint32, uint32){
		"null":      func(_, size uint32) (uint32, uint32) { return 0, max(size, 1) },
		"no size":   func(address, _ uint32) (uint32, uint32) { return max(address, 64), 0 },
		"negative":  func(address, _ uint32) (uint32, uint32) { return max(address, 64), 0xFFFFFFFF },
		"too large": func(address, size uint32) (uint32, uint32) { return max(address, 64), size + 4000 },
		"cut short": func(address, size uint32) (uint32, uint32) { return address, size / 2 },
		"shifted":   func(address, size uint32) (uint32, uint32) { return max(address, 64) + 3, size },
		"page zero": func(_, size uint32) (uint32, uint32) { return 8, size },
	} {
		tryGarbage(t, name, func(host *wasmhost.Host, wanted func(call, arg string) bool) {
			host.Misplace = func(call, arg string, address, size uint32) (uint32, uint32) {
				if wanted(call, arg) {
					return place(address, size)
				}
				return address, size
			}
		})
	}
}

// tryGarbage sets a hook for each thing that is asked for, and checks that each
// request gets one of the answers that there are, that a metric tells of those
// that could not be decided, and that the VM is well afterwards.
func tryGarbage(t *testing.T, name string, hook func(*wasmhost.Host, func(call, arg string) bool)) {
	w := newWorld(t, "deny")
	for _, of := range asked {
		t.Run(of[0]+"("+of[1]+")/"+name, func(t *testing.T) {
			hit := false
			hook(w.host, func(call, arg string) bool {
				wanted := call == of[0] && strings.Contains(arg, of[1])
				hit = hit || wanted
				return wanted
			})
			errors, mark := w.errors(), len(w.host.Logs())
			fresh, full := w.run(t, "fresh")
			w.host.Tamper, w.host.Misplace = nil, nil
			checkLines(t, w.host.Logs()[mark:], 1)
			var failed int64
			for _, got := range []wasmhost.Response{fresh, full} {
				switch got.Status {
				case 503:
					failed++
				case 200, 401, 429:
				default:
					t.Errorf("status %d", got.Status)
				}
			}
			if !hit || w.errors()-errors < failed || w.errors() > errors && len(w.host.Logs()) == mark {
				t.Errorf("hit %v, %d requests failed, %d errors counted, logged %q", hit, failed, w.errors()-errors, w.host.Logs()[mark:])
			}
			w.checkRecovery(t)
		})
	}
}

// TestOddVersions: a value without a version is an error, since a set without
// one would overwrite. One that never matches ends after some tries.
func TestOddVersions(t *testing.T) {
	for name, test := range map[string]struct {
		version   func(uint32) uint32
		conflicts int64
	}{
		"none":    {func(uint32) uint32 { return 0 }, 0},
		"another": {func(cas uint32) uint32 { return cas + 1000 }, 64},
		"absent":  {func(uint32) uint32 { return 0xFFFFFFFF }, 64},
	} {
		w := newWorld(t, "deny")
		w.run(t, "half") // has one of two
		w.host.Version = func(key string, cas uint32) uint32 {
			if strings.Contains(key, "/table/") {
				return test.version(cas)
			}
			return cas
		}
		mark := len(w.host.Logs())
		checkKeyed(t, w.vm, "half", 1, 503)
		w.host.Version = nil
		if logged := w.host.Logs()[mark:]; len(logged) != 1 || w.errors() != 1 {
			t.Errorf("%s: logged %q, %d errors", name, logged, w.errors())
		}
		if n, _ := w.host.Metrics.Get("weir.filter.e2e.conflicts"); n != test.conflicts {
			t.Errorf("%s: %d conflicts, want %d", name, n, test.conflicts)
		}
		checkKeyed(t, w.vm, "half", 1, 200)
		checkKeyed(t, w.vm, "half", 2, 429)
		w.checkRecovery(t)
	}
}

// TestDamagedShards cuts a real shard at every length and turns every bit of it.
// What comes of it is counted or looks like a shard; in either case the key gets
// its quota back.
func TestDamagedShards(t *testing.T) {
	w := newWorld(t, "deny")
	key, shard := w.shard(t)
	for i := range len(shard) * 9 {
		w.sweep(t)
		w.fill(t)
		_, damaged := w.shard(t)
		what := fmt.Sprintf("cut at %d", i)
		if bit := i - len(shard); bit < 0 {
			damaged = damaged[:min(i, len(damaged))]
		} else {
			what = fmt.Sprintf("bit %d", bit)
			damaged[bit/8%len(damaged)] ^= 1 << (bit % 8)
		}
		w.host.Shared.Set(key, damaged, 0)
		mark := len(w.host.Logs())
		if got, err := w.vm.Do(t.Context(), keyed("full")); err != nil || got.Status != 200 && got.Status != 429 {
			t.Fatalf("%s: status %d, %v", what, got.Status, err)
		}
		checkLines(t, w.host.Logs()[mark:], 0)
		// A shard that says it is of the future is taken at its word for no
		// longer than a window, which begins when it is met.
		for n := range 2 {
			w.host.SetNow(apart*time.Duration(w.runs) + time.Duration(n+1)*(time.Hour+time.Minute))
			if got, err := w.vm.Do(t.Context(), keyed("full")); err != nil || n == 1 && got.Status != 200 {
				t.Errorf("%s: status %d, %v after two windows", what, got.Status, err)
			}
		}
	}
	if n, _ := w.host.Metrics.Get("weir.filter.e2e.corrupt"); n < int64(len(shard)) {
		t.Errorf("%d corrupt shards counted", n)
	}
}

// shard returns the one that has the full key.
func (w *world) shard(t *testing.T) (key string, value []byte) {
	t.Helper()
	for _, key := range w.host.Shared.Keys() {
		if value, _, _ := w.host.Shared.Get(key); strings.Contains(key, "/table/") && len(value) > 1 {
			return key, value
		}
	}
	t.Fatal("no shard")
	return "", nil
}

// TestGuestMemoryIsFlat is the other half of B77: requests, refusals, responses
// and sweeps leave nothing behind in the VM. A quarter of them warms it up.
func TestGuestMemoryIsFlat(t *testing.T) {
	requests := 20_000
	if *long {
		requests = 200_000
	}
	w := newWorld(t, "deny")
	var warm uint32
	for i := range requests / 2 {
		if i == requests/8 {
			warm = w.vm.MemoryBytes()
		}
		w.host.SetNow(time.Duration(i) * 10 * time.Millisecond)
		if fresh, full := w.run(t, fmt.Sprint(i%5000)); fresh.Status != 401 && fresh.Status != 429 || full.Status != 429 && full.Status != 200 {
			t.Fatalf("request %d: status %d and %d", i, fresh.Status, full.Status)
		}
		if i%100 == 0 {
			if err := w.vm.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if now := w.vm.MemoryBytes(); now != warm {
		t.Errorf("%d bytes of memory after %d requests, %d after a quarter of them", now, requests, warm)
	}
	t.Logf("%d requests, %d pages, before and after", requests, warm>>16)
}
