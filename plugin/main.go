//go:build wasip1

// Command plugin is Weir as a proxy-wasm module. It decides nothing: it hands
// requests to [policy.Evaluator], gives limiter the proxy's shared data as its
// Store, and carries the answers back to the proxy.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o weir.wasm ./plugin
//
// The proxy runs one VM of the module per worker thread, each single-threaded.
// In every VM a [plugin] lives for each configuration, and a [stream] for each
// request under way that has something to do when its response comes.
//
// Weir speaks the proxy-wasm ABI itself, in callbacks.go and host.go, because
// the Go SDK exports every callback there is, each of which the proxy then
// calls for every request, and brings fmt with it: see the README.
//
// Start reading at [plugin.onConfigure] and [plugin.onRequest].
package main

// main is never run: the module is a library, which the proxy calls.
func main() {}
