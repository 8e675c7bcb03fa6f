package replay

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirproxy/weir/limiter/policy"
)

// open are the settings of an engine that anybody may read. What else there is
// counts as a credential.
var open = []string{"cluster", "timeout", "max_pending", "domain", "dialect", "authority"}

// secrets are the JSON pointers of the values that may be credentials.
func (s *settings) secrets() map[jsontext.Pointer]bool {
	found := map[jsontext.Pointer]bool{}
	for i := range s.Rules {
		s.Rules[i].secrets(found, jsontext.Pointer(fmt.Sprintf("/rules/%d", i)))
	}
	for i, c := range s.Exempt {
		c.secrets(found, jsontext.Pointer(fmt.Sprintf("/exempt/%d", i)))
	}
	for engine, of := range s.Global {
		for name := range of {
			if !slices.Contains(open, name) {
				found[jsontext.Pointer("/global").AppendToken(engine).AppendToken(name)] = true
			}
		}
	}
	return found
}

func (r *ruleSettings) secrets(found map[jsontext.Pointer]bool, at jsontext.Pointer) {
	r.Match.secrets(found, at+"/match")
	for i, override := range r.Overrides {
		for j := range override.Key {
			if j >= len(r.Key) || isSecret(r.Key[j]) {
				found[at+jsontext.Pointer(fmt.Sprintf("/overrides/%d/key/%d", i, j))] = true
			}
		}
	}
	if r.Global == nil {
		return
	}
	for i, entry := range r.Global.Descriptor {
		if _, given := entry["value"]; given && isCredential(entry["name"]) {
			found[at+jsontext.Pointer(fmt.Sprintf("/global/descriptor/%d/value", i))] = true
		}
	}
}

// secrets adds what headers that are called like a credential are compared with.
func (c conditions) secrets(found map[jsontext.Pointer]bool, at jsontext.Pointer) {
	for i, h := range c.Headers {
		if !isCredential(h["name"]) {
			continue
		}
		for how, with := range h {
			if _, flag := with.(bool); how != "name" && !flag {
				found[(at + jsontext.Pointer(fmt.Sprintf("/headers/%d", i))).AppendToken(how)] = true
			}
		}
	}
}

// isSecret says whether a part of a key is likely a credential. One of a kind
// that is not known here is.
func isSecret(part map[string]any) bool {
	for kind, of := range part {
		switch kind {
		case "client_ip", "path", "method", "host", "jwt_claim", "peer_identity", "route", "constant":
		case "header", "query":
			return isCredential(of)
		case "property":
			return policy.IsCredential(fmt.Sprint(of))
		default:
			return true
		}
	}
	return false
}

// isCredential says whether a name is that of a credential, or no name.
func isCredential(name any) bool {
	text, ok := name.(string)
	return !ok || policy.IsCredential(text)
}
