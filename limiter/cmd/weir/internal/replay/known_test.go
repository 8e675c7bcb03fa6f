package replay

import (
	"strings"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// TestResponsesSuggestNothing: a rule that charges responses saw those that came
// under its own limit. Every client that asked counts, by what was charged to it.
func TestResponsesSuggestNothing(t *testing.T) {
	const charge = `"charge": {"when": "response", "statuses": ["401"]},`
	var hits []hit
	for i, user := range []string{"good", "good", "once", "often", "often", "often", "often"} {
		h := by(user, limiter.Instant(i)*ms)
		if user != "good" {
			h.status = "401"
		}
		hits = append(hits, h)
	}
	got, run := replay(t, limited(3, charge), 0, hits...)
	r := run.Report().Rules[0]
	if got != "......r" || r.Clients != 3 || r.RefusedClients != 1 || r.Used != [10]int64{0: 1, 3: 1} || r.Charged != 4 {
		t.Errorf("verdicts %s, rule %+v", got, r)
	}
	if len(r.Suggestions) != 0 || len(r.SuggestionNotes) != 1 || !strings.HasPrefix(r.SuggestionNotes[0].Note, "No limit is suggested: the rule charges responses") {
		t.Errorf("suggestions %+v, notes %+v", r.Suggestions, r.SuggestionNotes)
	}
}

// TestServiceIsUnknown: of a rule with limits of its own, and of one that has
// none. Another engine is known.
func TestServiceIsUnknown(t *testing.T) {
	const service = `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [
		{"name": "a", "key": [{"header": "x-user"}], "global": {}},
		{"name": "b", "key": [{"header": "x-user"}], "limits": [{"requests": 1, "window": "1s"}], "global": {"descriptor": [{"name": "u", "part": 0}]}},
		{"name": "c", "key": [{"header": "x-user"}], "limits": [{"requests": 9, "window": "1s"}]}]}`
	_, run := replay(t, service, 0, by("alice", 0), by("alice", 0))
	x := run.Report()
	for i, asks := range []bool{true, true, false} {
		r := x.Rules[i]
		told := len(r.SuggestionNotes) == 1 && strings.HasPrefix(r.SuggestionNotes[0].Note, "Nothing is suggested for the limits of the rate limit service")
		if r.RateLimitService != asks || told != asks || (len(r.Suggestions) > 0) != (i > 0) {
			t.Errorf("rule %s: asks a service %v, suggestions %+v, notes %+v", r.Name, r.RateLimitService, r.Suggestions, r.SuggestionNotes)
		}
	}
	const redis = `{"global": {"redis": {"cluster": "c"}}, "rules": [{"name": "a", "key": [], "global": {"limits": [{"requests": 1, "window": "1s"}]}}]}`
	if _, run := replay(t, redis, 0, by("alice", 0)); run.Report().Rules[0].RateLimitService {
		t.Error("Redis is taken for a rate limit service")
	}
}

// TestClientsThatTheEngineRefuses are refused, though the rule has limits of its
// own that admit them.
func TestClientsThatTheEngineRefuses(t *testing.T) {
	const config = `{"global": {"redis": {"cluster": "c"}}, "rules": [{"name": "a", "key": [{"header": "x-user"}],
		"limits": [{"requests": 9, "window": "1s"}], "global": {"limits": [{"requests": 1, "window": "1m"}]}}]}`
	got, run := replay(t, config, 0, by("alice", 0), by("alice", 0), by("bob", 0))
	if r := run.Report().Rules[0]; got != ".r." || r.Refused != 1 || r.Clients != 2 || r.RefusedClients != 1 {
		t.Errorf("verdicts %s, rule %+v", got, r)
	}
}

// TestOverriddenClientsSuggestNothing: they are clients, but not of the limits
// that are suggested.
func TestOverriddenClientsSuggestNothing(t *testing.T) {
	const overrides = `"overrides": [{"key": ["alice"], "limits": [{"requests": 9, "window": "1s"}]}],`
	_, run := replay(t, limited(1, overrides), 0, by("alice", 0), by("bob", 0), by("bob", 0))
	r := run.Report().Rules[0]
	for _, s := range r.Suggestions {
		if s.Of == "clients" && s.Total != 1 || r.Clients != 2 {
			t.Errorf("of %d clients, suggestion %+v", r.Clients, s)
		}
	}
	if len(r.Suggestions) != 6 {
		t.Errorf("suggestions %+v", r.Suggestions)
	}
}

// TestCrowdedTable: where the table forgets keys, a replay refuses less than
// is promised.
func TestCrowdedTable(t *testing.T) {
	config := `{"store": {"max_keys": 1}, ` + strings.TrimPrefix(limited(2, ""), "{")
	var hits []hit
	for range 50 {
		for _, c := range "abcdefghijklmnopqrstuvwxyz" {
			hits = append(hits, by(string(c), 0))
		}
	}
	_, run := replay(t, config, 0, hits...)
	r := run.Report().Rules[0]
	if r.Full+r.Evicted == 0 || len(r.Suggestions) == 0 || r.Suggestions[0].Accuracy != "estimate" || len(r.SuggestionNotes) != 1 {
		t.Errorf("rule %+v", r)
	}
}
