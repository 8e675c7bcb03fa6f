package wasmhost

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// guest builds the module of testdata/guest, which uses the Go SDK, once for all
// tests.
var guest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "wasmhost")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	module := filepath.Join(dir, "guest.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", module, ".")
	build.Dir = "testdata/guest"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build guest: %w\n%s", err, output)
	}
	return os.ReadFile(module)
})

func newHost(t *testing.T) *Host {
	t.Helper()
	module, err := guest()
	if err != nil {
		t.Fatal(err)
	}
	host, err := New(context.Background(), module)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close(context.Background()) })
	return host
}

func newVM(t *testing.T, host *Host) *VM {
	t.Helper()
	vm, err := host.NewVM(context.Background(), Plugin{RootID: "root", Configuration: []byte("config")})
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// get asks for a path, with more headers.
func get(path string, more ...[2]string) Request {
	return Request{Headers: append([][2]string{
		{":method", "GET"}, {":path", path}, {":authority", "example.com"},
	}, more...)}
}

func do(t *testing.T, vm *VM, request Request) Response {
	t.Helper()
	response, err := vm.Do(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// wantBody runs a verb of the guest and checks what it answers.
func wantBody(t *testing.T, vm *VM, request Request, want string) {
	t.Helper()
	if got := string(do(t, vm, request).Body); got != want {
		t.Errorf("%s = %q, want %q", request.Headers[1][1], got, want)
	}
}

func TestGuestReadsItsRequest(t *testing.T) {
	vm := newVM(t, newHost(t))
	withProperty := get("/property/source.address")
	withProperty.Properties = map[string][]byte{"source.address": []byte("10.0.0.1:80")}
	wantBody(t, vm, get("/config"), "config")
	wantBody(t, vm, get("/header/x-a", [2]string{"X-A", "1"}, [2]string{"x-a", "2"}), "1")
	wantBody(t, vm, get("/header/x-a", [2]string{"x-a", ""}), "")
	wantBody(t, vm, get("/header/x-a"), "error status returned by host: not found")
	wantBody(t, vm, withProperty, "10.0.0.1:80")
	wantBody(t, vm, get("/property/source.address"), "error status returned by host: not found")
	wantBody(t, vm, get("/property/request.headers.x-a", [2]string{"x-a", "1"}, [2]string{"x-a", "2"}), "1,2")
	wantBody(t, vm, get("/property/request.path"), "/property/request.path")
	wantBody(t, vm, get("/property/plugin_root_id"), "root")
	if got := do(t, vm, get("/tell/rule/per-user")).Properties["guest.rule"]; string(got) != "per-user" {
		t.Errorf("property guest.rule = %q", got)
	}
}

func TestAdmittedRequestGetsTheUpstreamsResponse(t *testing.T) {
	host := newHost(t)
	vm := newVM(t, host)
	request := get("/admit")
	request.Upstream = Upstream{Status: 404, Headers: [][2]string{{"x-seen", "by nobody"}, {"X-Secret", "s"}}}
	response := do(t, vm, request)
	if response.Local || response.Paused || response.Status != 404 {
		t.Errorf("response %+v", response)
	}
	want := [][2]string{
		{":status", "404"},
		{"x-request-headers", "error status returned by host: bad argument"},
		{"x-seen", "404"},
	}
	if !slices.Equal(response.Headers, want) {
		t.Errorf("headers %q, want %q", response.Headers, want)
	}
	if logs := host.Logs(); !slices.Contains(logs, "info: done /admit") {
		t.Errorf("logs %q", logs)
	}
	if response := do(t, vm, get("/pause")); !response.Paused || response.Status != 0 {
		t.Errorf("paused response %+v", response)
	}
}

func TestLocalReply(t *testing.T) {
	vm := newVM(t, newHost(t))
	grpc := [2]string{"content-type", "application/grpc"}
	tests := []struct {
		name    string
		request Request
		status  int
		body    string
		headers [][2]string
	}{
		{"http", get("/refuse"), 429, "slow down", [][2]string{
			{":status", "429"}, {"retry-after", "7"},
			{"content-length", "9"}, {"content-type", "text/plain"}, {"x-seen", "429"},
		}},
		{"grpc", get("/refuse", grpc), 200, "", [][2]string{
			{"retry-after", "7"}, {":status", "200"}, {"content-type", "application/grpc"},
			{"grpc-status", "8"}, {"grpc-message", "slow down"}, {"x-seen", "200"},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := do(t, vm, test.request)
			if !got.Local || got.Status != test.status || string(got.Body) != test.body {
				t.Errorf("local %v, status %d, body %q", got.Local, got.Status, got.Body)
			}
			if got.Details != "over_the_limit" || got.GRPCStatus != 8 {
				t.Errorf("details %q, grpc status %d", got.Details, got.GRPCStatus)
			}
			if !slices.Equal(got.Headers, test.headers) {
				t.Errorf("headers %q, want %q", got.Headers, test.headers)
			}
		})
	}
}

func TestClockIsTheTests(t *testing.T) {
	host := newHost(t)
	a, b := newVM(t, host), newVM(t, host)
	wantBody(t, a, get("/clock"), "1")
	host.SetNow(90 * time.Second)
	wantBody(t, a, get("/clock"), "90000000000")
	wantBody(t, b, get("/clock"), "90000000000")
}

func TestMetricsAreSharedByVMs(t *testing.T) {
	host := newHost(t)
	a, b := newVM(t, host), newVM(t, host)
	wantBody(t, a, get("/count"), "1")
	wantBody(t, b, get("/count"), "2")
	wantBody(t, b, get("/level"), "-3")
	want := map[string]int64{"requests": 2, "level": -3}
	if got := host.Metrics.Snapshot(); !maps.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
	if _, ok := host.Metrics.Get("unknown"); ok {
		t.Error("an unknown metric has a value")
	}
}
