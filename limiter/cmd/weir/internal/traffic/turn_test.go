package traffic

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

const mixed = `{
	"replicas": 2, "headers": ["ratelimit"],
	"rules": [
		{"name": "a", "key": [{"header": "x-a"}], "limits": [
			{"requests": 1e3, "window": "1m", "algorithm": "token_bucket", "burst": 40, "name": "n"},
			{"requests": 5, "window": "1s", "inclusive": true}],
		 "overrides": [{"key": ["x"], "limits": [{"algorithm": "sliding_buckets", "buckets": 7, "requests": 9, "window": "2s"}]},
			{"key": ["y"], "block": true}]},
		{"limits": [{"requests": 3, "window": "4s"}], "key": [{"constant": "algorithm"}], "name": "b"}
	]
}`

// TestTurn turns limits wherever they are, and nothing else.
func TestTurn(t *testing.T) {
	for algorithm, want := range map[string]string{
		"sliding_log": `[{"requests":1e3,"window":"1m","name":"n","algorithm":"sliding_log"},
			{"requests":5,"window":"1s","inclusive":true,"algorithm":"sliding_log"}],
			"overrides":[{"key":["x"],"limits":[{"requests":9,"window":"2s","algorithm":"sliding_log"}]},`,
		"leaky_bucket": `[{"requests":1e3,"window":"1m","burst":40,"name":"n","algorithm":"leaky_bucket"},
			{"requests":5,"window":"1s","algorithm":"leaky_bucket"}],
			"overrides":[{"key":["x"],"limits":[{"requests":9,"window":"2s","algorithm":"leaky_bucket"}]},`,
		"sliding_buckets": `[{"requests":1e3,"window":"1m","name":"n","algorithm":"sliding_buckets"},
			{"requests":5,"window":"1s","algorithm":"sliding_buckets"}],
			"overrides":[{"key":["x"],"limits":[{"buckets":7,"requests":9,"window":"2s","algorithm":"sliding_buckets"}]},`,
	} {
		want = `{"replicas":2,"headers":["ratelimit"],"rules":[{"name":"a","key":[{"header":"x-a"}],"limits":` + want +
			`{"key":["y"],"block":true}]},{"limits":[{"requests":3,"window":"4s","algorithm":"` + algorithm +
			`"}],"key":[{"constant":"algorithm"}],"name":"b"}]}`
		got, err := Turn([]byte("\ufeff"+mixed), limiter.Algorithm(algorithm))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := compact(t, got), compact(t, []byte(want)); !bytes.Equal(a, b) {
			t.Errorf("%s: got  %s\nwant %s", algorithm, a, b)
		}
	}
}

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b.Bytes()
}

// TestTurnCompiles turns a valid configuration to each algorithm, which its
// limits then have.
func TestTurnCompiles(t *testing.T) {
	for _, algorithm := range Algorithms {
		turned, err := Turn([]byte(mixed), limiter.Algorithm(algorithm))
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range compile(t, string(turned)).Rules {
			for _, l := range rule.Limits() {
				if string(l.Algorithm) != algorithm {
					t.Errorf("%s: rule %s has %s", algorithm, rule.Name, l.Algorithm)
				}
			}
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(Algorithms)))); n != 6 {
		t.Errorf("%d algorithms", n)
	}
	if _, err := Turn([]byte(`{"rules":[`), limiter.SlidingLog); err == nil {
		t.Error("half a configuration was turned")
	}
}
