package replay

import (
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// TestScaledIsEstimated: of a sample of the clients nothing is exact.
func TestScaledIsEstimated(t *testing.T) {
	_, run := replay(t, `{"rules": [{"name": "a", "key": [{"header": "x-user"}], "limits": [{"requests": 1, "window": "1s"}]}]}`, 0, by("a", 0))
	r := run.rules[0]
	for mask, want := range map[limiter.Fingerprint]report.Accuracy{0: report.Exact, 1: report.Estimate} {
		r.clients.mask = mask
		if got := r.accuracy(r.limits[0].Limit, "clients"); got != want {
			t.Errorf("mask %d: %s, want %s", mask, got, want)
		}
	}
}

// TestGlobalIsNotHeldToTheStore: store.max_keys is about the memory of a proxy.
func TestGlobalIsNotHeldToTheStore(t *testing.T) {
	var hits []hit
	for range 2 {
		for user := range 200 {
			hits = append(hits, by(string(rune('0'+user)), 0))
		}
	}
	_, run := replay(t, `{"global": {"redis": {"cluster": "c"}}, "store": {"max_keys": 20}, "rules": [
		{"name": "a", "key": [{"header": "x-user"}], "global": {"limits": [{"requests": 1, "window": "1s"}]}}]}`, 0, hits...)
	if x := run.Report(); x.Refused != 200 {
		t.Errorf("%d of 400 requests are refused, want the second of each of 200 users", x.Refused)
	}
}
