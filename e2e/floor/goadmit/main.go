//go:build wasip1

// Command goadmit is the admit floor written in Go, with the callbacks that
// Weir has: what is left between it and Weir is Weir's own work.
package main

import "unsafe"

//go:wasmimport wasi_snapshot_preview1 clock_time_get
func clockTimeGet(id uint32, precision uint64, nanoseconds unsafe.Pointer) uint32

//go:wasmimport env proxy_get_header_map_value
func getHeader(mapType uint32, key *byte, keySize int32, value, size unsafe.Pointer) uint32

//go:wasmimport env proxy_get_shared_data
func getShared(key *byte, keySize int32, value, size, cas unsafe.Pointer) uint32

//go:wasmimport env proxy_set_shared_data
func setShared(key *byte, keySize int32, value *byte, valueSize int32, cas uint32) uint32

// Where host calls leave their results.
var returned struct {
	header, value         *byte
	headerSize, valueSize int32
	cas                   uint32
	nanoseconds           [8]byte
}

var memory = make([]byte, 1<<17) // for values, anew in each callback
var used int

//go:wasmexport malloc
func malloc(size uint32) unsafe.Pointer {
	at := unsafe.Pointer(&memory[used])
	used += (int(size) + 7) &^ 7
	return at
}

//go:wasmexport proxy_abi_version_0_2_0
func abiVersion() {}

//go:wasmexport proxy_on_context_create
func onContextCreate(id, parent uint32) {}

//go:wasmexport proxy_on_request_headers
func onRequestHeaders(uint32, int32, bool) uint32 {
	used = 0
	const name = "x-key"
	getHeader(0, unsafe.StringData(name), int32(len(name)), unsafe.Pointer(&returned.header), unsafe.Pointer(&returned.headerSize))
	clockTimeGet(1, 1, unsafe.Pointer(&returned.nanoseconds))
	returned.cas = 0
	getShared(returned.header, returned.headerSize, unsafe.Pointer(&returned.value), unsafe.Pointer(&returned.valueSize), unsafe.Pointer(&returned.cas))
	setShared(returned.header, returned.headerSize, &returned.nanoseconds[0], 8, returned.cas)
	return 0
}

//go:wasmexport proxy_on_response_headers
func onResponseHeaders(uint32, int32, bool) uint32 { return 0 }

//go:wasmexport proxy_on_delete
func onDelete(uint32) {}

func main() {}
