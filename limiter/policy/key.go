package policy

import (
	"encoding/binary"
	"net/netip"
)

// A part is one part of a rule's key.
type part struct {
	kind   kind
	source source
}

// A kind tells sources apart in an encoded key. The numbers are part of the
// stored format.
type kind byte

const (
	kindMissing  kind = 0 // the part is missing, and all such share a window
	kindFallback kind = 1 // the part is missing, and a client address stands in
	kindHeader   kind = 2
	kindClientIP kind = 3
	kindConstant kind = 4
)

// A source finds the value of a part in a request; an empty one is missing.
type source interface {
	value(r Request) (string, error)

	// appendDefinition appends what the source is, injectively.
	appendDefinition(b []byte) []byte
}

type headerSource struct{ name string }

func (s headerSource) value(r Request) (string, error) { return r.Header(s.name) }

func (s headerSource) appendDefinition(b []byte) []byte { return appendBytes(b, s.name) }

type constantSource struct{ text string }

func (s constantSource) value(Request) (string, error) { return s.text, nil }

func (s constantSource) appendDefinition(b []byte) []byte { return appendBytes(b, s.text) }

// clientIPSource is the network that the client's address lies in.
type clientIPSource struct{ ipv4Prefix, ipv6Prefix int }

// wholeClientIP is what stands in for a missing part by default.
var wholeClientIP = clientIPSource{ipv4Prefix: 32, ipv6Prefix: 64}

// value returns the 4 or 16 bytes of the network's first address after their
// number, or, for something that is no IP address, such as the name of a Unix
// socket, what the proxy said after a 0, so that neither is taken for the other.
func (s clientIPSource) value(r Request) (string, error) {
	text, err := r.ClientAddress()
	if err != nil || text == "" {
		return "", err
	}
	addr, ok := parseAddress(text)
	if !ok {
		return "\x00" + text, nil
	}
	bits := s.ipv6Prefix
	if addr.Is4() {
		bits = s.ipv4Prefix
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return "", err
	}
	first := network.Addr().AsSlice()
	return string(append([]byte{byte(len(first))}, first...)), nil
}

// parseAddress reads an address with or without a port. An IPv4 address
// mapped into IPv6 is the IPv4 address.
func parseAddress(text string) (netip.Addr, bool) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap(), true
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap(), err == nil
}

func (s clientIPSource) appendDefinition(b []byte) []byte {
	return append(b, byte(s.ipv4Prefix), byte(s.ipv6Prefix))
}

// appendKey appends the key of a request: the rule's identity, then each part
// as its kind and its value with the length before it, so that no value can
// pass for another part, another value or a missing one. It reports false if
// a part is missing and the rule does not say what stands in for it.
func (r *Rule) appendKey(b []byte, req Request) (key []byte, complete bool, err error) {
	b = append(b, r.id[:]...)
	for _, p := range r.key {
		kind := p.kind
		value, err := p.source.value(req)
		if err == nil && value == "" {
			kind = kindMissing
			switch r.onMissing {
			case missingSkip, missingReject:
				return b, false, nil
			case missingClientIP:
				if value, err = wholeClientIP.value(req); value != "" {
					kind = kindFallback
				}
			}
		}
		if err != nil {
			return b, false, err
		}
		b = appendBytes(append(b, byte(kind)), value)
	}
	return b, true, nil
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
