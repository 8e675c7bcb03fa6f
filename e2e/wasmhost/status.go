package wasmhost

import "fmt"

// Status is what a host call answers. For calls of WASI it is an errno.
type Status uint32

// The statuses of the proxy-wasm ABI.
const (
	OK                   Status = 0
	NotFound             Status = 1
	BadArgument          Status = 2
	SerializationFailure Status = 3
	ParseFailure         Status = 4
	BadExpression        Status = 5
	InvalidMemoryAccess  Status = 6
	Empty                Status = 7
	CasMismatch          Status = 8
	ResultMismatch       Status = 9
	InternalFailure      Status = 10
	BrokenConnection     Status = 11
	Unimplemented        Status = 12
)

var statusNames = map[Status]string{
	OK:                   "ok",
	NotFound:             "not found",
	BadArgument:          "bad argument",
	SerializationFailure: "serialization failure",
	ParseFailure:         "parse failure",
	BadExpression:        "bad expression",
	InvalidMemoryAccess:  "invalid memory access",
	Empty:                "empty",
	CasMismatch:          "cas mismatch",
	ResultMismatch:       "result mismatch",
	InternalFailure:      "internal failure",
	BrokenConnection:     "broken connection",
	Unimplemented:        "unimplemented",
}

func (s Status) String() string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return fmt.Sprintf("status %d", uint32(s))
}
