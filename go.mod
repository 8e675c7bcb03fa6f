module github.com/weirproxy/weir

// The floor is the release that the module is built and measured with: the
// WebAssembly output of the standard compiler changes between releases.
go 1.26.0

require (
	github.com/dchest/siphash v1.2.3
	github.com/go-json-experiment/json v1.27.2
	github.com/tetratelabs/wazero v1.12.0
	golang.org/x/sys v0.48.0
)

// Test dependencies.
require (
	github.com/dunglas/httpsfv v1.1.2
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	google.golang.org/grpc v1.85.0
)

require (
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
