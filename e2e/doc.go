// Package e2e tests Weir as it is used. The scenarios in scenarios/ and the
// traces of ladder.json run on three backends: the Go core ([native_test.go]),
// the built module under wazero ([module_test.go]) and in a real Envoy
// ([envoy_test.go]). What one backend alone can show has its own test: faults
// and interleavings under wazero, contention and start-up in Envoy.
//
// Everything here needs build/weir.wasm and an Envoy, which make test provides;
// what is missing is a failure.
//
//	scenario/    the form of a scenario, and how it runs
//	wasmhost/    a small proxy-wasm host on wazero
//	envoyproc/   a real Envoy as a child process
//	demo/        the scripted session of make run and make demo
package e2e
