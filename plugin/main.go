//go:build wasip1

// Command plugin is Weir as a proxy-wasm module. It decides nothing: it hands
// requests to [policy.Evaluator], gives limiter the proxy's shared data as its
// Store, and carries the answers back to the proxy.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o weir.wasm ./plugin
//
// The proxy runs one VM of the module per worker thread, each single-threaded.
// In every VM a [plugin] lives for each configuration, and a [stream] for each
// request under way, or one for all of them where nothing is remembered until
// the response.
//
// Start reading at [plugin.OnPluginStart] and [stream.OnHttpRequestHeaders].
package main

import (
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"
)

func init() {
	proxywasm.SetPluginContext(func(uint32) types.PluginContext { return new(plugin) })
}

// main is never run: the module is a library, which the proxy calls.
func main() {}
