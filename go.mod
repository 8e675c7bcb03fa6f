module github.com/weirproxy/weir

// The floor is the release that the module is built and measured with: the
// WebAssembly output of the standard compiler changes between releases.
go 1.26

require (
	github.com/dchest/siphash v1.2.3
	github.com/go-json-experiment/json v1.27.2
	github.com/proxy-wasm/proxy-wasm-go-sdk v0.0.0-20260105142703-44c7d5847745
	github.com/tetratelabs/wazero v1.12.0
)

require golang.org/x/sys v0.44.0 // indirect
