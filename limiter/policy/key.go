package policy

import "encoding/binary"

// A part is one part of a rule's key.
type part struct {
	kind   kind
	source source
}

// missing is what happens to a request that lacks a part of the key.
type missing string

const (
	missingClientIP missing = "client_ip" // the client's address stands in
	missingSkip     missing = "skip"      // the rule does not apply
	missingReject   missing = "reject"    // the request is refused
	missingShared   missing = "shared"    // all that lack the part share a window
)

// appendKey appends the key of a request: the rule's identity, then each part
// as its kind and its value with the length before it, so that no value can
// pass for another part, another value or a missing one. It reports false if
// a part is missing and the rule does not say what stands in for it.
func (r *Rule) appendKey(b []byte, v *view) (key []byte, complete bool, err error) {
	b = append(b, r.id[:]...)
	for _, p := range r.key {
		kind := p.kind
		value, err := p.source.value(v)
		if err == nil && value == "" {
			kind = kindMissing
			switch r.onMissing {
			case missingSkip, missingReject:
				return b, false, nil
			case missingClientIP:
				if value, err = wholeClientIP.value(v); value != "" {
					kind = kindFallback
				}
			}
		}
		if err != nil {
			return b, false, err
		}
		b = appendPart(b, kind, value)
	}
	return b, true, nil
}

func appendPart(b []byte, k kind, value string) []byte {
	return appendBytes(append(b, byte(k)), value)
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
