package policy

import (
	"testing"

	"github.com/dunglas/httpsfv"
)

// TestHeadersAreStructuredFields parses what every answer says with a library
// for RFC 9651: lists of strings with whole numbers as parameters.
func TestHeadersAreStructuredFields(t *testing.T) {
	e := newEvaluator(t, `{"headers": ["retry-after", "ratelimit"], "rules": [
		{"name": "a-b_c", "key": [{"header": "x-k"}], "limits": [{"requests": 2, "window": "1500ms"}, {"requests": 2147483647, "window": "366d", "algorithm": "sliding_buckets", "name": "yearly"}]},
		{"name": "bucket", "key": [], "limits": [{"requests": 3, "window": "7s", "algorithm": "token_bucket", "burst": 9}]}]}`)
	for range 12 {
		fields := headersOf(e.Evaluate(0, get("/", "x-k", "v")))
		if header(fields, "ratelimit-policy") == "" {
			t.Fatalf("headers = %v, want RateLimit-Policy", fields)
		}
		checkField(t, header(fields, "ratelimit-policy"), "q", "w")
		checkField(t, header(fields, "ratelimit"), "r", "t")
	}
}

// checkField checks a list of strings, each with these parameters.
func checkField(t *testing.T, field string, parameters ...string) {
	t.Helper()
	list, err := httpsfv.UnmarshalList([]string{field})
	if err != nil || len(list) == 0 {
		t.Fatalf("%q: %d members, %v", field, len(list), err)
	}
	for _, member := range list {
		item, ok := member.(httpsfv.Item)
		if name, isString := item.Value.(string); !ok || !isString || name == "" {
			t.Errorf("%q: member %v, want a string", field, member)
		}
		for _, p := range parameters {
			value, _ := item.Params.Get(p)
			if n, isNumber := value.(int64); !isNumber || n < 0 {
				t.Errorf("%q: parameter %s of %v is %v, want a number", field, p, item.Value, value)
			}
		}
	}
}
