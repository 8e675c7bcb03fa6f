package explain

import (
	"strconv"
	"strings"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/replay"
	"github.com/weirproxy/weir/limiter/policy"
)

// conditionText is a condition's text, as in: header x-api-key exact "s3cret",
// with a hash in place of what a header that is called like a credential is
// compared with. The hash is that of the same value in a key.
func conditionText(text string) string {
	if !strings.HasPrefix(text, "header ") {
		return text
	}
	var b strings.Builder
	for {
		before, _, found := strings.Cut(text, `"`)
		if b.WriteString(before); !found {
			return b.String()
		}
		quoted, err := strconv.QuotedPrefix(text[len(before):])
		if err != nil {
			return b.String() // rather too little
		}
		text = text[len(before)+len(quoted):]
		if words := strings.Fields(before); policy.IsCredential(words[len(words)-2]) { // before how it is compared
			value, _ := strconv.Unquote(quoted) // is quoted
			quoted = replay.Value(policy.KeyPart{Value: value, Secret: true})
		}
		b.WriteString(quoted)
	}
}
