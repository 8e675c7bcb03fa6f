// A module of its own, because of the SDK, which nothing else needs.
module github.com/weirproxy/weir/e2e/wasmhost/testdata/guest

go 1.26.0

require github.com/proxy-wasm/proxy-wasm-go-sdk v0.0.0-20260105142703-44c7d5847745
