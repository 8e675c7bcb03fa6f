package e2e

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
	"github.com/weirproxy/weir/e2e/wasmhost"
)

func TestModule(t *testing.T) {
	module := readModule(t)
	for _, s := range scenarios(t, seconds) {
		t.Run(s.Name, func(t *testing.T) { scenario.Run(t, wazero{module}, s) })
	}
}

// wazero runs scenarios on the module in two VMs, which take turns: whatever
// one does the other must know.
type wazero struct{ module []byte }

func (w wazero) Open(t *testing.T, s scenario.Scenario) scenario.Session {
	t.Helper()
	host := newHost(t, w.module)
	return &wazeroSession{t: t, host: host, vms: []*wasmhost.VM{newVM(t, host, string(s.Config)), newVM(t, host, string(s.Config))}}
}

type wazeroSession struct {
	t    *testing.T
	host *wasmhost.Host
	vms  []*wasmhost.VM
	turn int
}

func (w *wazeroSession) Do(at time.Duration, r scenario.Request, up scenario.Upstream) (scenario.Response, error) {
	w.host.SetNow(at)
	w.turn++
	request := moduleRequest(r)
	request.Upstream = wasmhost.Upstream{Status: up.Status, Headers: up.Headers}
	got, err := w.vms[w.turn%len(w.vms)].Do(w.t.Context(), request)
	response := scenario.Response{Status: got.Status, Headers: map[string][]string{}, Body: string(got.Body)}
	addHeaders(response, got.Headers)
	return response, err
}

func newHost(t testing.TB, module []byte) *wasmhost.Host {
	t.Helper()
	host, err := wasmhost.New(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close(context.Background()) })
	return host
}

func newVM(t testing.TB, host *wasmhost.Host, configuration string) *wasmhost.VM {
	t.Helper()
	vm, err := host.NewVM(t.Context(), wasmhost.Plugin{RootID: "e2e", Configuration: []byte(configuration)})
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// moduleRequest is a scenario's request as Envoy passes it: the client's
// address with a port, which is another on each call.
func moduleRequest(r scenario.Request) wasmhost.Request {
	headers := [][2]string{{":method", r.Method}, {":path", r.Path}, {":authority", r.Host}}
	properties := map[string][]byte{"source.address": []byte(net.JoinHostPort(r.Client, strconv.Itoa(40000+rand.IntN(10000))))}
	for path, value := range r.Properties {
		properties[path] = []byte(value)
	}
	return wasmhost.Request{Headers: append(headers, r.Headers...), Properties: properties}
}
