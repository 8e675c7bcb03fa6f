package replay

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// secrets hashes what must not be shown. The seed is drawn for each run of the
// tool, so that one secret looks alike in one report and in no other, and nobody
// can try out guesses.
var secrets = limiter.NewSeed()

// maxValue is how many bytes of a value are shown.
const maxValue = 100

// KeyText writes a key for people: its sources and values, secrets hashed, in
// one line.
func KeyText(parts []policy.KeyPart) string {
	if len(parts) == 0 {
		return "(all)"
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Source + "=" + Value(p)
	}
	return strings.Join(texts, ", ")
}

// Value writes the value of a part of a key for people.
func Value(p policy.KeyPart) string {
	value := p.Value
	switch {
	case p.Missing && value == "":
		return "(missing)"
	case p.Secret:
		return hashed(value)
	}
	if len(value) > maxValue {
		cut := maxValue
		for cut > 0 && !utf8.RuneStart(value[cut]) {
			cut--
		}
		value = value[:cut] + "…"
	}
	if quoted := fmt.Sprintf("%q", value); quoted[1:len(quoted)-1] != value || strings.ContainsAny(value, " ,=()#") {
		value = quoted
	}
	if p.Missing {
		return "(missing: " + value + ")"
	}
	return value
}

// hashed stands for a secret.
func hashed(secret string) string {
	return fmt.Sprintf("#%08x", uint32(secrets.Fingerprint([]byte(secret))))
}
