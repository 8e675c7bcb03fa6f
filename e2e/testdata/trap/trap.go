//go:build wasip1

package main

import (
	"os"
	"strings"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// This file is laid over the package plugin by a test, to make a module that
// traps as a request tells it to:
//
//	x-trap: <place>-<how>
//
// The module that users load has nothing of it. Go runs the init functions of a
// package in the order of its files, so that this file must come after main.go.
func init() {
	proxywasm.SetPluginContext(func(uint32) types.PluginContext { return &trapPlugin{plugin: new(plugin)} })
}

// armed is the trap that waits for its place to be reached.
var armed string

type trapPlugin struct{ *plugin }

// OnPluginStart puts a trap under the table: what happens there happens inside
// the callbacks of Weir and not around them.
func (p *trapPlugin) OnPluginStart(size int) types.OnPluginStartStatus {
	if status := p.plugin.OnPluginStart(size); status != types.OnPluginStartStatusOK {
		return status
	}
	configuration, _ := proxywasm.GetPluginConfiguration()
	rootID, _ := property("plugin_root_id")
	compiled, err := policy.Compile(configuration, rootID)
	must(err)
	seed, err := sharedSeed()
	must(err)
	options := compiled.TableOptions(seed)
	p.table, err = limiter.NewTable(trapStore{newSharedData(compiled.Namespace, limiter.Shards(options.MaxKeys))}, options)
	must(err)
	p.evaluator = policy.NewEvaluator(compiled, p.table)
	return types.OnPluginStartStatusOK
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (p *trapPlugin) NewHttpContext(id uint32) types.HttpContext {
	reach("create")
	return trapStream{p.plugin.NewHttpContext(id)}
}

func (p *trapPlugin) OnTick() {
	reach("tick")
	p.plugin.OnTick()
}

type trapStream struct{ types.HttpContext }

func (s trapStream) OnHttpRequestHeaders(n int, end bool) types.Action {
	if trap, _ := header(requestHeaders, "x-trap"); trap != "" {
		armed = strings.Clone(trap)
	}
	reach("before")
	action := s.HttpContext.OnHttpRequestHeaders(n, end)
	reach("request")
	return action
}

func (s trapStream) OnHttpResponseHeaders(n int, end bool) types.Action {
	reach("response")
	return s.HttpContext.OnHttpResponseHeaders(n, end)
}

func (s trapStream) OnHttpStreamDone() {
	reach("done")
	s.HttpContext.OnHttpStreamDone()
}

type trapStore struct{ *sharedData }

func (s trapStore) Load(shard uint32, buffer []byte) ([]byte, uint64, error) {
	reach("inside")
	return s.sharedData.Load(shard, buffer)
}

// reach springs the trap if it waits for this place.
func reach(place string) {
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

var hog [][]byte

func deep(n int) int {
	var frame [1000]byte
	frame[n%len(frame)] = 1
	return deep(n+1) + int(frame[n/2%len(frame)])
}
