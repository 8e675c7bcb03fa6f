package replay

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/weirproxy/weir/limiter/policy"
)

// byteOrderMark may begin a configuration, and no JSON.
var byteOrderMark = []byte("\ufeff")

// settings is what a configuration says that its policy does not tell: what may
// be a credential, and limits as they are written.
type settings struct {
	Rules  []ruleSettings `json:"rules"`
	Exempt []conditions   `json:"exempt"`

	// Global has the settings of the engine under its name.
	Global map[string]map[string]any `json:"global"`
}

type ruleSettings struct {
	Match     conditions       `json:"match"`
	Key       []map[string]any `json:"key"`
	Overrides []struct {
		Key []string `json:"key"`
	} `json:"overrides"`
	Limits []struct {
		Requests float64 `json:"requests"`
	} `json:"limits"`
	Global *struct {
		Descriptor []map[string]any `json:"descriptor"`
	} `json:"global"`
}

type conditions struct {
	Headers []map[string]any `json:"headers"`
}

// errSettings quotes nothing of what was read, which may be a secret.
var errSettings = errors.New("cannot tell the settings of the configuration")

// readSettings reads a configuration that policy.Compile has taken.
func readSettings(config []byte) (s settings, err error) {
	if err := json.Unmarshal(bytes.TrimPrefix(config, byteOrderMark), &s); err != nil {
		return settings{}, errSettings
	}
	return s, nil
}

// rule is what is said of a rule, by its index.
func (s *settings) rule(i int) ruleSettings {
	if i < len(s.Rules) {
		return s.Rules[i]
	}
	return ruleSettings{}
}

// asksService says whether a rule asks a rate limit service, which alone knows
// its limits.
func (r *ruleSettings) asksService(g *policy.Global) bool {
	return r.Global != nil && g != nil && g.Engine == policy.RLS
}
