package replay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirproxy/weir/limiter/policy"
)

// redact returns a configuration with its credentials hashed, as KeyText hashes
// those of requests: the values of overrides for a part of the key that is
// secret, and what a header that is called like one is compared with. All else is
// as it was written.
func redact(config []byte) string {
	secret := secretPointers(config)
	var out bytes.Buffer
	d, copied := jsontext.NewDecoder(bytes.NewReader(config)), int64(0)
	for {
		if kind := d.PeekKind(); kind != '"' {
			if _, err := d.ReadToken(); err != nil {
				break
			}
			continue
		}
		raw, err := d.ReadValue()
		if err != nil {
			break
		}
		if end := d.InputOffset(); !isName(d) && secret[d.StackPointer()] {
			out.Write(config[copied : end-int64(len(raw))])
			fmt.Fprintf(&out, "%q", hashed(string(raw)))
			copied = end
		}
	}
	out.Write(config[copied:])
	return out.String()
}

// isName says whether what was read last is the name of a member, which leaves
// an object with one more name than values.
func isName(d *jsontext.Decoder) bool {
	kind, read := d.StackIndex(d.StackDepth())
	return kind == '{' && read%2 == 1
}

// settings is as much of a configuration as may hold credentials.
type settings struct {
	Rules []struct {
		Match     conditions
		Key       []map[string]any
		Overrides []struct{ Key []string }
	}
	Exempt []conditions
	Global map[string]map[string]any
}

type conditions struct{ Headers []map[string]any }

// secretPointers are the JSON pointers of the strings that may be credentials.
// The configuration is one that policy.Compile has taken.
func secretPointers(config []byte) map[jsontext.Pointer]bool {
	var s settings
	found := map[jsontext.Pointer]bool{}
	if err := json.Unmarshal(bytes.TrimPrefix(config, []byte("\ufeff")), &s); err != nil {
		return found
	}
	for i, rule := range s.Rules {
		for j, override := range rule.Overrides {
			for k := range min(len(override.Key), len(rule.Key)) {
				if isSecret(rule.Key[k]) {
					found[pointer("/rules/%d/overrides/%d/key/%d", i, j, k)] = true
				}
			}
		}
		rule.Match.secrets(found, pointer("/rules/%d/match", i))
	}
	for engine := range s.Global {
		found[pointer("/global/%s/token", engine)] = true
		found[pointer("/global/%s/secret", engine)] = true
	}
	for i, c := range s.Exempt {
		c.secrets(found, pointer("/exempt/%d", i))
	}
	return found
}

func pointer(format string, args ...any) jsontext.Pointer {
	return jsontext.Pointer(fmt.Sprintf(format, args...))
}

// secrets adds what headers that are called like a credential are compared with.
func (c conditions) secrets(found map[jsontext.Pointer]bool, at jsontext.Pointer) {
	for i, h := range c.Headers {
		if name, _ := h["name"].(string); policy.IsCredential(name) {
			for _, how := range []string{"exact", "prefix", "suffix", "regex"} {
				found[at+pointer("/headers/%d/%s", i, how)] = true
			}
		}
	}
}

// isSecret says whether a part of a key is likely a credential.
func isSecret(part map[string]any) bool {
	for kind, of := range part {
		switch kind {
		case "bearer_token", "cookie":
			return true
		case "header", "query":
			name, _ := of.(string)
			return policy.IsCredential(name)
		case "property":
			return policy.IsCredential(fmt.Sprint(of))
		}
	}
	return false
}
