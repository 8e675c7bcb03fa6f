package policy

import (
	"net/netip"
	"strings"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// clientIPSource is the network that the client's address lies in.
type clientIPSource struct{ ipv4Prefix, ipv6Prefix int }

// wholeClientIP is what stands in for a missing part by default.
var wholeClientIP = clientIPSource{ipv4Prefix: 32, ipv6Prefix: 64}

// value returns the 4 or 16 bytes of the network's first address after their
// number, or, for something that is no IP address, such as the name of a Unix
// socket, what the proxy said after a 0, so that neither is taken for the other.
func (s clientIPSource) value(v *view) (string, error) {
	text, err := v.ClientAddress()
	if err != nil || text == "" {
		return "", err
	}
	addr, ok := parseAddress(text)
	if !ok {
		return "\x00" + text, nil
	}
	mark := v.scratch.mark()
	v.scratch.text, err = s.appendNetwork(v.scratch.text, addr)
	return v.scratch.since(mark), err
}

func (s clientIPSource) appendNetwork(b []byte, addr netip.Addr) ([]byte, error) {
	bits := s.ipv6Prefix
	if addr.Is4() {
		bits = s.ipv4Prefix
	}
	network, err := addr.Prefix(bits)
	if err != nil {
		return b, err
	}
	if addr.Is4() {
		first := network.Addr().As4()
		return append(append(b, 4), first[:]...), nil
	}
	first := network.Addr().As16()
	return append(append(b, 16), first[:]...), nil
}

func (s clientIPSource) appendDefinition(b []byte) []byte {
	return append(b, byte(s.ipv4Prefix), byte(s.ipv6Prefix))
}

func (s clientIPSource) literal(text string) (string, error) {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return "", brief.Errorf("%q is not an IP address", text)
	}
	network, err := s.appendNetwork(nil, addr.Unmap())
	return string(network), err
}

// parseAddress reads an address with or without a port. An IPv4 address
// mapped into IPv6 is the IPv4 address.
func parseAddress(text string) (netip.Addr, bool) {
	if strings.Contains(text, ":") {
		if both, err := netip.ParseAddrPort(text); err == nil {
			return both.Addr().Unmap(), true
		}
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap(), err == nil
}
