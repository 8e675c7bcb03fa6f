//go:build wasip1

package main

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"unsafe"

	"github.com/weirproxy/weir/limiter"
)

// These are the host calls of the proxy-wasm ABI 0.2.0, and one of WASI preview
// 1, that Weir makes.

//go:wasmimport wasi_snapshot_preview1 clock_time_get
func clockTimeGet(id uint32, precision uint64, nanoseconds unsafe.Pointer) uint32

//go:wasmimport env proxy_log
func proxyLog(level logLevel, message *byte, messageSize int32) status

//go:wasmimport env proxy_get_buffer_bytes
func proxyGetBufferBytes(bufferType uint32, start, maxSize int32, value, size unsafe.Pointer) status

//go:wasmimport env proxy_set_tick_period_milliseconds
func proxySetTickPeriodMilliseconds(period uint32) status

//go:wasmimport env proxy_get_header_map_pairs
func proxyGetHeaderMapPairs(mapType uint32, value, size unsafe.Pointer) status

//go:wasmimport env proxy_get_header_map_value
func proxyGetHeaderMapValue(mapType uint32, key *byte, keySize int32, value, size unsafe.Pointer) status

//go:wasmimport env proxy_replace_header_map_value
func proxyReplaceHeaderMapValue(mapType uint32, key *byte, keySize int32, value *byte, valueSize int32) status

//go:wasmimport env proxy_set_property
func proxySetProperty(path *byte, pathSize int32, value *byte, valueSize int32) status

//go:wasmimport env proxy_get_property
func proxyGetProperty(path *byte, pathSize int32, value, size unsafe.Pointer) status

//go:wasmimport env proxy_get_shared_data
func proxyGetSharedData(key *byte, keySize int32, value, size, cas unsafe.Pointer) status

//go:wasmimport env proxy_set_shared_data
func proxySetSharedData(key *byte, keySize int32, value *byte, valueSize int32, cas uint32) status

//go:wasmimport env proxy_send_local_response
func proxySendLocalResponse(code uint32, details *byte, detailsSize int32, body *byte, bodySize int32,
	headers *byte, headersSize int32, grpcStatus int32) status

//go:wasmimport env proxy_http_call
func proxyHTTPCall(cluster *byte, clusterSize int32, headers *byte, headersSize int32, body *byte, bodySize int32,
	trailers *byte, trailersSize int32, timeout uint32, token unsafe.Pointer) status

//go:wasmimport env proxy_grpc_call
func proxyGRPCCall(service *byte, serviceSize int32, name *byte, nameSize int32, method *byte, methodSize int32,
	metadata *byte, metadataSize int32, message *byte, messageSize int32, timeout uint32, token unsafe.Pointer) status

//go:wasmimport env proxy_set_effective_context
func proxySetEffectiveContext(id uint32) status

//go:wasmimport env proxy_continue_stream
func proxyContinueStream(streamType uint32) status

//go:wasmimport env proxy_define_metric
func proxyDefineMetric(kind uint32, name *byte, nameSize int32, id unsafe.Pointer) status

//go:wasmimport env proxy_increment_metric
func proxyIncrementMetric(id uint32, offset int64) status

//go:wasmimport env proxy_record_metric
func proxyRecordMetric(id uint32, value uint64) status

// A status is what a host call returns.
type status uint32

const (
	statusOK                   status = 0
	statusNotFound             status = 1
	statusSerializationFailure status = 3
	statusCasMismatch          status = 8
)

// err says which call failed, and how; nothing of what was asked for.
func (s status) err(call string) error {
	if s == statusOK {
		return nil
	}
	return errors.New(call + ": status " + strconv.Itoa(int(s)))
}

// Where host calls leave their results. The VM has one thread, and a variable
// of a function would escape to the heap on every call.
var returned struct {
	value       *byte
	size        int32
	cas         uint32
	metric      uint32
	token       uint32
	nanoseconds uint64
}

func valueAt() (value, size unsafe.Pointer) {
	returned.value, returned.size = nil, 0
	return unsafe.Pointer(&returned.value), unsafe.Pointer(&returned.size)
}

// bytes returns the value that the last call left.
func bytes() []byte {
	if returned.value == nil || returned.size <= 0 {
		return nil
	}
	return unsafe.Slice(returned.value, returned.size)
}

// text is bytes as a string, without a copy: nobody writes to that memory.
func text() string {
	b := bytes()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// monotonic is the steady clock, which has one origin for all workers.
const monotonic = 1

func now() (limiter.Instant, error) {
	if errno := clockTimeGet(monotonic, 1, unsafe.Pointer(&returned.nanoseconds)); errno != 0 {
		return 0, errors.New("clock_time_get: errno " + strconv.Itoa(int(errno)))
	}
	return limiter.Instant(returned.nanoseconds / 1000), nil
}

// A logLevel is how much a line matters to the proxy.
type logLevel uint32

const (
	severe   logLevel = 4 // an error
	critical logLevel = 5
)

// log writes a line to the proxy's log. If that fails there is nobody to tell.
func log(level logLevel, line string) {
	proxyLog(level, unsafe.StringData(line), int32(len(line)))
}

// Buffers of the host.
const (
	callResponseBody = 4
	grpcMessage      = 5
	configuration    = 7
)

// buffer returns what is in a buffer, empty if there is none.
func buffer(bufferType uint32) ([]byte, error) {
	value, size := valueAt()
	s := proxyGetBufferBytes(bufferType, 0, math.MaxInt32, value, size)
	if s == statusNotFound {
		return nil, nil
	}
	return bytes(), s.err("proxy_get_buffer_bytes")
}

func setTickPeriod(milliseconds uint32) error {
	return proxySetTickPeriodMilliseconds(milliseconds).err("proxy_set_tick_period_milliseconds")
}

// The header maps of a stream.
const (
	requestHeaders      = 0
	responseHeaders     = 2
	callResponseHeaders = 6
)

// header returns the first header of the name, empty if there is none.
func header(mapType uint32, name string) (string, error) {
	value, size := valueAt()
	s := proxyGetHeaderMapValue(mapType, unsafe.StringData(name), int32(len(name)), value, size)
	if s == statusNotFound {
		return "", nil
	}
	return text(), s.err("proxy_get_header_map_value")
}

// headerPairs returns all headers.
func headerPairs(mapType uint32) (headerMap, error) {
	value, size := valueAt()
	if s := proxyGetHeaderMapPairs(mapType, value, size); s != statusOK {
		return headerMap{}, s.err("proxy_get_header_map_pairs")
	}
	return parseHeaders(bytes())
}

// replaceHeader leaves a response one header of the name.
func replaceHeader(name, value string) error {
	return proxyReplaceHeaderMapValue(responseHeaders, unsafe.StringData(name), int32(len(name)),
		unsafe.StringData(value), int32(len(value))).err("proxy_replace_header_map_value")
}

// lookUp asks for a property of the stream, whose path is joined by NUL bytes.
// It is empty if there is none.
func lookUp(path string) (string, status) {
	value, size := valueAt()
	s := proxyGetProperty(unsafe.StringData(path), int32(len(path)), value, size)
	if s == statusNotFound {
		return "", statusOK
	}
	return text(), s
}

func property(path string) (string, error) {
	value, s := lookUp(path)
	return value, s.err("proxy_get_property")
}

// setProperty leaves a value for the access log. Envoy takes the name as it
// is, and has it in the filter state after "wasm."; there is no path.
func setProperty(name, value string) error {
	return proxySetProperty(unsafe.StringData(name), int32(len(name)),
		unsafe.StringData(value), int32(len(value))).err("proxy_set_property")
}

// appendPairs appends headers as the ABI serialises them: their number, the
// sizes of all names and values, then each with a NUL byte after it.
func appendPairs(b []byte, pairs [][2]string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(pairs)))
	for _, p := range pairs {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p[0])))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p[1])))
	}
	for _, p := range pairs {
		b = append(append(b, p[0]...), 0)
		b = append(append(b, p[1]...), 0)
	}
	return b
}
