package replay

import (
	"regexp"
	"testing"

	"github.com/weirproxy/weir/limiter/policy"
)

// TestRedact hides the operator's credentials too, and changes nothing else.
func TestRedact(t *testing.T) {
	const limits = `"limits": [{"requests": 1,   "window": "1s"}]`
	for config, want := range map[string]string{
		`{"rules": [ ]}`: `{"rules": [ ]}`,
		`{"rules": [ ], "global": {"redis": {"cluster": "c", "token": "T0P:S3CRET", "secret": "0123456789abcdef"}}}`:                                                                                                                         `{"rules": [ ], "global": {"redis": {"cluster": "c", "token": "#", "secret": "#"}}}`,
		`{"rules": [{"name": "a", "key": [{"header": "x-api-key"}, {"header": "x-user"}], "overrides": [{"key": ["K1", "alice"], "block": true}], ` + limits + `}]}`:                                                                         `{"rules": [{"name": "a", "key": [{"header": "x-api-key"}, {"header": "x-user"}], "overrides": [{"key": ["#", "alice"], "block": true}], ` + limits + `}]}`,
		`{"rules": [{"name": "a", "key": [{"cookie": "c"}, {"bearer_token": true}, {"property": ["x", "token"]}], "overrides": [{"key": ["A", "B\"", "C"], "unlimited": true}], ` + limits + `}]}`:                                           `{"rules": [{"name": "a", "key": [{"cookie": "c"}, {"bearer_token": true}, {"property": ["x", "token"]}], "overrides": [{"key": ["#", "#", "#"], "unlimited": true}], ` + limits + `}]}`,
		`{"exempt": [{"headers": [{"name": "Authorization", "exact": "Bearer X"}, {"name": "x-tier", "exact": "free"}]}], "rules": [{"name": "a", "match": {"headers": [{"name": "x-secret", "prefix": "p"}]}, "key": [], ` + limits + `}]}`: `{"exempt": [{"headers": [{"name": "Authorization", "exact": "#"}, {"name": "x-tier", "exact": "free"}]}], "rules": [{"name": "a", "match": {"headers": [{"name": "x-secret", "prefix": "#"}]}, "key": [], ` + limits + `}]}`,
	} {
		if _, err := policy.Compile([]byte(config), "test"); err != nil {
			t.Fatalf("%s: %v", config, err)
		}
		got := regexp.MustCompile(`"#[0-9a-f]{8}"`).ReplaceAllString(redact([]byte(config)), `"#"`)
		if got != want {
			t.Errorf("redact(%s)\n= %s, want\n  %s", config, got, want)
		}
	}
}
