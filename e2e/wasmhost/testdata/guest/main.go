//go:build wasip1

// Command guest is a filter that does what its request says, so that the tests
// of wasmhost can look at every host call from inside. The path is a verb with
// arguments, "/get/key"; the answer is a local reply whose body is the result,
// or the error. "/admit" lets the request pass.
package main

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"
)

func main() {}

func init() {
	proxywasm.SetPluginContext(func(uint32) types.PluginContext { return &plugin{} })
}

type plugin struct {
	types.DefaultPluginContext
	configuration string
	requests      proxywasm.MetricCounter
	level         proxywasm.MetricGauge
}

func (p *plugin) OnPluginStart(int) types.OnPluginStartStatus {
	configuration, err := proxywasm.GetPluginConfiguration()
	if err != nil {
		proxywasm.LogErrorf("no configuration: %v", err)
		return types.OnPluginStartStatusFailed
	}
	p.configuration = string(configuration)
	switch p.configuration {
	case "refuse":
		proxywasm.LogError("refused as told")
		return types.OnPluginStartStatusFailed
	case "panic":
		panic("start panics as told")
	}
	if err := proxywasm.SetTickPeriodMilliSeconds(1500); err != nil {
		proxywasm.LogErrorf("no tick: %v", err)
	}
	p.requests = proxywasm.DefineCounterMetric("requests")
	p.level = proxywasm.DefineGaugeMetric("level")
	return types.OnPluginStartStatusOK
}

func (p *plugin) OnTick() { proxywasm.LogInfo("tick of " + p.configuration) }

func (p *plugin) NewHttpContext(uint32) types.HttpContext { return &stream{plugin: p} }

type stream struct {
	types.DefaultHttpContext
	plugin *plugin
}

func (s *stream) OnHttpRequestHeaders(int, bool) types.Action {
	path, err := proxywasm.GetHttpRequestHeader(":path")
	if err != nil {
		return reply("path: " + err.Error())
	}
	words := strings.Split(strings.TrimPrefix(path, "/"), "/")
	words = append(words, "", "")
	switch verb := words[0]; verb {
	case "admit":
		return types.ActionContinue
	case "pause":
		return types.ActionPause
	case "refuse":
		return refuse()
	case "twice":
		refuse()
		return refuse()
	case "call":
		return call(words[1], words[2])
	case "panic":
		panic("request panics as told")
	default:
		return reply(s.plugin.do(verb, words[1], words[2]))
	}
}

// do carries out one verb and says what came of it.
func (p *plugin) do(verb, name, value string) string {
	switch verb {
	case "config":
		return p.configuration
	case "header":
		return result(proxywasm.GetHttpRequestHeader(name))
	case "property":
		return result(proxywasm.GetProperty(strings.Split(name, ".")))
	case "tell":
		return result("", proxywasm.SetProperty([]string{"guest", name}, []byte(value)))
	case "get":
		stored, cas, err := proxywasm.GetSharedData(name)
		return result(fmt.Sprintf("%s@%d", stored, cas), err)
	case "set":
		return result("", proxywasm.SetSharedData(name, []byte(value), 0))
	case "append":
		return result(appendShared(name, value))
	case "clock":
		return result(clock())
	case "count":
		p.requests.Increment(1)
		return fmt.Sprint(p.requests.Value())
	case "level":
		p.level.Add(-3)
		return fmt.Sprint(p.level.Value())
	case "greedy":
		greedy = true
		return result(proxywasm.GetHttpRequestHeader(":path"))
	case "nothing":
		p.requests.Increment(0)
	}
	return "no such verb: " + verb
}

// appendShared appends to a shared value, trying again while others do.
func appendShared(key, suffix string) (string, error) {
	for tries := 1; ; tries++ {
		stored, cas, err := proxywasm.GetSharedData(key)
		if err == types.ErrorStatusNotFound {
			cas = ^uint32(0)
		} else if err != nil {
			return "", err
		}
		err = proxywasm.SetSharedData(key, append(stored[:len(stored):len(stored)], suffix...), cas)
		if err == nil {
			return fmt.Sprint(tries), nil
		} else if err != types.ErrorStatusCasMismatch {
			return "", err
		}
	}
}

// greedy makes malloc call the host, which a host does not allow.
var greedy bool

// blocks keeps what malloc gave away for the garbage collector to see.
var blocks [8][]byte

// malloc is what the host prefers to the SDK's proxy_on_memory_allocate.
//
//go:wasmexport malloc
func malloc(size uint32) unsafe.Pointer {
	if greedy {
		_ = proxywasm.SetTickPeriodMilliSeconds(1)
	}
	block := make([]byte, size)
	copy(blocks[1:], blocks[:])
	blocks[0] = block
	return unsafe.Pointer(&block[0])
}

//go:wasmimport wasi_snapshot_preview1 clock_time_get
//go:noescape
func clockTimeGet(id uint32, precision uint64, now unsafe.Pointer) uint32

func clock() (string, error) {
	var now uint64
	if errno := clockTimeGet(1, 0, unsafe.Pointer(&now)); errno != 0 {
		return "", fmt.Errorf("errno %d", errno)
	}
	return fmt.Sprint(now), nil
}

//go:wasmimport env proxy_send_local_response
func sendLocalResponse(status uint32, details *byte, detailsSize uint32, body *byte, bodySize uint32,
	headers *byte, headersSize uint32, grpcStatus int32) uint32

// refuse answers as a rate limiter does, with details.
func refuse() types.Action {
	details, body := "over the limit", "slow down"
	headers := binary.LittleEndian.AppendUint32(nil, 1)
	headers = binary.LittleEndian.AppendUint32(headers, uint32(len("Retry-After")))
	headers = binary.LittleEndian.AppendUint32(headers, uint32(len("7")))
	headers = append(headers, "Retry-After\x007\x00"...)
	sendLocalResponse(429, unsafe.StringData(details), uint32(len(details)),
		unsafe.StringData(body), uint32(len(body)), &headers[0], uint32(len(headers)), 8)
	return types.ActionPause
}

// call asks a cluster, and does with the request what it is told when that has
// answered.
func call(cluster, then string) types.Action {
	headers := [][2]string{{":method", "POST"}, {":path", "/ask"}, {":authority", "them"}}
	if then == "badly" {
		headers = headers[1:]
	}
	_, err := proxywasm.DispatchHttpCall(cluster, headers, []byte("what?"), nil, 25, func(_, size, _ int) {
		answer := result(proxywasm.GetHttpCallResponseBody(0, size))
		headers, err := proxywasm.GetHttpCallResponseHeaders()
		proxywasm.LogInfo(fmt.Sprint("answer ", headers, err, " ", answer))
		for _, verb := range strings.Split(then, "+") {
			switch verb {
			case "reply":
				reply(answer)
			case "resume":
				_ = proxywasm.ResumeHttpRequest()
			}
		}
	})
	if err != nil {
		return reply(err.Error())
	}
	return types.ActionPause
}

func (s *stream) OnHttpResponseHeaders(int, bool) types.Action {
	if _, err := proxywasm.GetHttpRequestHeader(":path"); err != nil {
		_ = proxywasm.AddHttpResponseHeader("x-request-headers", err.Error())
	}
	status, err := proxywasm.GetHttpResponseHeader(":status")
	_ = proxywasm.ReplaceHttpResponseHeader("x-seen", result(status, err))
	_ = proxywasm.RemoveHttpResponseHeader("x-secret")
	return types.ActionContinue
}

func (s *stream) OnHttpStreamDone() {
	path, err := proxywasm.GetHttpRequestHeader(":path")
	proxywasm.LogInfo("done " + result(path, err))
}

func reply(body string) types.Action {
	_ = proxywasm.SendHttpResponse(200, nil, []byte(body), -1)
	return types.ActionPause
}

// result is the value, or the error in its place.
func result[T ~string | ~[]byte](value T, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(value)
}
