package policy

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// claimPath is where Envoy's jwt_authn filter, which must run before Weir,
// leaves the payload of a token that it has verified.
const claimPath = "metadata\x00filter_metadata\x00envoy.filters.http.jwt_authn\x00"

// claimSource is a claim of a verified token.
type claimSource struct {
	path string // of the property
}

// newClaimSource returns the source of a claim, nested if it has several
// names. The key is what payload_in_metadata says in jwt_authn's provider.
func newClaimSource(key string, names []string) claimSource {
	return claimSource{claimPath + key + "\x00" + strings.Join(names, "\x00")}
}

func (s claimSource) value(v *view) (string, error) {
	value, err := v.Property(s.path)
	return renderClaim(value), err
}

func (s claimSource) appendDefinition(b []byte) []byte { return appendBytes(b, s.path) }

func (s claimSource) literal(text string) (string, error) { return text, nil }

// renderClaim tells by its bytes what kind of value a property was, which the
// ABI does not say: a string comes as it is, a boolean as one byte of 0 or 1,
// a number as the eight bytes of a double, and a list or an object as serialised
// pairs, which begin with a number in four bytes. In JSON text none of them is a
// string that an issuer would put into a claim.
//
// Whole numbers are rendered in decimal, so that 123 and "123" are one claim.
// Above 2^53 the proxy has rounded them, and an issuer must write strings. A
// list or an object is a missing claim, as is null, which has no form at all.
func renderClaim(value string) string {
	switch {
	case value == "\x00":
		return "false"
	case value == "\x01":
		return "true"
	case len(value) == 8 && !isText(value):
		f := math.Float64frombits(binary.LittleEndian.Uint64([]byte(value)))
		if f == math.Trunc(f) && math.Abs(f) <= maxWhole {
			return strconv.FormatInt(int64(f), 10)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case len(value) >= 4 && value[2] == 0 && value[3] == 0:
		return ""
	default:
		return value
	}
}

// isText says whether a string is UTF-8 without control characters, as any in
// a token is and hardly a double: of most whole numbers some byte is 0.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
