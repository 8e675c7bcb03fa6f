package wasmhost

import (
	"testing"
)

func TestBeforeInterleavesVMs(t *testing.T) {
	host := newHost(t)
	a, b := newVM(t, host), newVM(t, host)
	host.Before = func(vm *VM, call, arg string) {
		if vm == a && call == "proxy_set_shared_data" && arg == "key" && host.Shared.Len() == 0 {
			wantBody(t, b, get("/append/key/b"), "1")
		}
	}
	wantBody(t, a, get("/append/key/a"), "2") // the first try met b's value
	wantBody(t, b, get("/get/key"), "ba@2")
}

func TestFaultReachesTheGuest(t *testing.T) {
	tests := []struct{ call, arg, path, want string }{
		{"proxy_get_header_map_value", "x-a", "/header/x-a", "error status returned by host: internal failure"},
		{"proxy_get_property", "source.address", "/property/source.address", "error status returned by host: internal failure"},
		{"proxy_set_property", "guest.rule", "/tell/rule/x", "error status returned by host: internal failure"},
		{"proxy_get_shared_data", "key", "/get/key", "error status returned by host: internal failure"},
		{"proxy_set_shared_data", "key", "/set/key/x", "error status returned by host: internal failure"},
		{"clock_time_get", "", "/clock", "errno 10"},
	}
	host := newHost(t)
	vm := newVM(t, host)
	for _, test := range tests {
		t.Run(test.call, func(t *testing.T) {
			host.Fault = func(call, arg string) Status {
				if call == test.call && arg == test.arg {
					return InternalFailure
				}
				return OK
			}
			wantBody(t, vm, get(test.path), test.want)
		})
	}
	if host.Shared.Len() != 0 {
		t.Errorf("a faulty set stored %q", host.Shared.Keys())
	}
}

func TestTamperChangesWhatTheGuestGets(t *testing.T) {
	host := newHost(t)
	vm := newVM(t, host)
	host.Shared.Set("key", []byte("good"), 0)
	host.Tamper = func(call, arg string, value []byte) []byte {
		if call == "proxy_get_shared_data" && arg == "key" {
			return []byte("bad")
		}
		return value
	}
	wantBody(t, vm, get("/get/key"), "bad@1")
	if value, _, _ := host.Shared.Get("key"); string(value) != "good" {
		t.Errorf("stored %q", value)
	}
}

func TestMisplaceAndVersionSayWrongThings(t *testing.T) {
	host := newHost(t)
	vm := newVM(t, host)
	host.Shared.Set("key", []byte("good"), 0)
	host.Misplace = func(_, _ string, address, size uint32) (uint32, uint32) { return address + 1, size - 1 }
	host.Version = func(key string, cas uint32) uint32 { return cas + uint32(len(key)) }
	wantBody(t, vm, get("/get/key"), "ood@4")
}

func TestCallbackIsTheExportThatRuns(t *testing.T) {
	host := newHost(t)
	vm := newVM(t, host)
	seen := map[string]string{}
	host.Before = func(vm *VM, call, arg string) { seen[call+"("+arg+")"] = vm.Callback() }
	do(t, vm, get("/header/x-a", [2]string{"x-a", "1"}))
	if got := seen["proxy_get_header_map_value(x-a)"]; got != "proxy_on_request_headers" {
		t.Errorf("callback %q of calls %v", got, seen)
	}
}
