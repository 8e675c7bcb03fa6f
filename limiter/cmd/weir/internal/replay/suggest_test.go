package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// randomHits are of a few busy users and many quiet ones, with bursts. Many come
// at the same time, or a window after another.
func randomHits(rng *rand.Rand, costs ...string) (hits []hit) {
	at := limiter.Instant(rng.Int64N(1e15))
	for range 600 {
		if rng.IntN(3) > 0 {
			at += ms * limiter.Instant(rng.Int64N(40)) * 5
		}
		h := by(fmt.Sprint("user-", rng.IntN(1+rng.IntN(40))), at)
		h.headers["x-cost"] = costs[rng.IntN(len(costs))]
		hits = append(hits, h)
		if rng.IntN(50) == 0 {
			hits = append(hits, slices.Repeat([]hit{h}, rng.IntN(9))...)
		}
	}
	return hits
}

// A promising is a kind of limit, with what its suggestions are worth. The
// configuration has a %d for the requests.
type promising struct {
	name, config string
	costs        []string
	of           map[string]report.Accuracy
}

func onBoth(a report.Accuracy) map[string]report.Accuracy {
	return map[string]report.Accuracy{"requests": a, "clients": a}
}

// promises has every algorithm, with its options.
func promises() (list []promising) {
	one := []string{"1"}
	add := func(name, limit, rule, top string, costs []string, of map[string]report.Accuracy) {
		list = append(list, promising{name, `{` + top + `"rules": [{"name": "a", "key": [{"header": "x-user"}], ` + rule +
			`"limits": [{"requests": %d, "window": "1s"` + limit + `}]}]}`, costs, of})
	}
	add("sliding_log", ``, ``, ``, one, onBoth(report.Exact))
	add("inclusive", `, "inclusive": true`, ``, ``, one, onBoth(report.Exact))
	add("in shadow", ``, `"shadow": true, `, ``, one, onBoth(report.Exact))
	add("replicas", ``, ``, `"replicas": 3, `, one, onBoth(report.Exact))
	add("all cost alike", ``, `"cost": {"header": "x-cost", "max": 9}, `, ``, []string{"3"}, onBoth(report.Exact))
	add("uneven", ``, `"cost": {"header": "x-cost", "max": 9}, `, ``, []string{"1", "2", "5"},
		map[string]report.Accuracy{"requests": report.Estimate, "clients": report.Exact})
	add("dear", ``, `"cost": 2000, `, ``, one, nil)
	for _, x := range []struct {
		algorithm, option string
		of                report.Accuracy
	}{
		{"sliding_buckets", ``, report.Exact}, {"sliding_buckets", `, "buckets": 7`, report.Exact}, {"fixed_window", ``, report.Exact},
		{"sliding_counter", ``, report.Estimate}, {"token_bucket", ``, report.AtMost}, {"leaky_bucket", ``, report.AtMost},
		{"token_bucket", `, "burst": 4`, report.AtMost},
	} {
		add(x.algorithm+x.option, `, "algorithm": "`+x.algorithm+`"`+x.option, ``, ``, one, onBoth(x.of))
		add(x.algorithm+x.option+" of replicas", `, "algorithm": "`+x.algorithm+`"`+strings.Replace(x.option, "4", "12", 1), ``, `"replicas": 3, `, one, onBoth(x.of))
		if strings.Contains(x.algorithm, "bucket") {
			add(x.algorithm+x.option+" at a cost", `, "algorithm": "`+x.algorithm+`"`+strings.Replace(x.option, "4", "12", 1), `"cost": 2, `, ``, one, onBoth(x.of))
		}
	}
	return list
}

// TestSuggestionsKeepTheirWord: a configuration with what is suggested refuses
// what was promised, and the next smaller limit more than was asked for.
func TestSuggestionsKeepTheirWord(t *testing.T) {
	for _, p := range promises() {
		t.Run(p.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			seen := 0
			for range 8 {
				hits := randomHits(rng, p.costs...)
				_, run := replay(t, fmt.Sprintf(p.config, 3), 0, hits...)
				x := run.Report()
				for _, s := range x.Rules[0].Suggestions {
					seen++
					p.check(t, s, max(1, x.Replicas), hits)
				}
			}
			if want := p.of != nil; (seen > 0) != want {
				t.Errorf("%d suggestions", seen)
			}
		})
	}
}

// check replays a suggestion, and, where it is exact, that a proxy with one
// request less refuses too many. A limit of less than one cannot be had.
func (p promising) check(t *testing.T, s report.Suggestion, replicas int64, hits []hit) {
	t.Helper()
	if s.Accuracy != p.of[s.Of] {
		t.Fatalf("%+v, want one that is %s", s, p.of[s.Of])
	}
	got, total := p.refused(t, s, s.Requests, hits)
	allowed := int64(s.Share * float64(total))
	switch {
	case total != s.Total || s.Refused > allowed:
		t.Errorf("%+v: of %d, at most %d", s, total, allowed)
	case s.Accuracy == report.Exact && got != s.Refused, s.Accuracy == report.AtMost && got > s.Refused:
		t.Errorf("%+v: a replay refuses %d", s, got)
	}
	if less := s.Requests - replicas; s.Accuracy == report.Exact && less > 0 {
		if got, _ := p.refused(t, s, less, hits); got <= allowed {
			t.Errorf("%+v: %d would have done, which refuses %d", s, less, got)
		}
	}
}

// refused is how much a limit refuses, and of how much, in the units of a
// suggestion.
func (p promising) refused(t *testing.T, s report.Suggestion, requests int64, hits []hit) (refused, total int64) {
	t.Helper()
	_, run := replay(t, fmt.Sprintf(p.config, requests), 0, hits...)
	r := run.Report().Rules[0]
	if s.Of == "clients" {
		return r.RefusedClients, r.Clients
	}
	return r.Refused + r.Shadow, r.Refused + r.Shadow + r.Admitted
}

// TestShortBurstSuggestsNothing: 3 per 10 s with a burst of 1 refuse most of
// what a window of 3 would admit.
func TestShortBurstSuggestsNothing(t *testing.T) {
	for _, algorithm := range []string{"token_bucket", "leaky_bucket"} {
		config := `{"rules": [{"name": "a", "key": [{"header": "x-user"}], "limits": [
			{"requests": 3, "window": "10s", "algorithm": "` + algorithm + `", "burst": 1}, {"requests": 9, "window": "1m"}]}]}`
		_, run := replay(t, config, 0, by("alice", 0))
		r := run.Report().Rules[0]
		for _, s := range r.Suggestions {
			if s.Limit != "a-1m" {
				t.Errorf("%s: suggestion %+v", algorithm, s)
			}
		}
		want := "Nothing is suggested for a-10s: " + algorithm + " holds 1 at once, less than its limit of 3, and refuses what no window tells."
		if len(r.Suggestions) != 6 || len(r.SuggestionNotes) != 1 || r.SuggestionNotes[0].Note != want || r.SuggestionNotes[0].Limit != "a-10s" {
			t.Errorf("%d suggestions, notes %+v", len(r.Suggestions), r.SuggestionNotes)
		}
	}
}

// TestSuggestionsCanBeWritten: what no configuration may say is not suggested.
func TestSuggestionsCanBeWritten(t *testing.T) {
	const config = `{"replicas": 500000, "rules": [{"name": "a", "key": [], "limits": [{"requests": %d, "window": "1s"}]}]}`
	for hits, want := range map[int]int64{1: 500_000, 2: 1_000_000, 3: 0} {
		_, run := replay(t, fmt.Sprintf(config, 1), 0, make([]hit, hits)...)
		got := int64(0)
		for _, s := range run.Report().Rules[0].Suggestions {
			got = max(got, s.Requests)
		}
		if got != want {
			t.Errorf("a limit of %d is suggested, want %d", got, want)
		}
	}
	if _, err := NewRun("test", fmt.Appendf(nil, config, maxLog), 0); err != nil {
		t.Error(err)
	}
	if _, err := NewRun("test", fmt.Appendf(nil, config, maxLog+1), 0); err == nil {
		t.Errorf("a configuration may have a limit above %d", maxLog)
	}
	const slow = `{"rules": [{"name": "a", "key": [], "limits": [{"requests": 1000, "burst": 1000, "window": "1d", "algorithm": "token_bucket"}]}]}`
	if _, run := replay(t, slow, 0, hit{}); len(run.Report().Rules[0].Suggestions) != 0 {
		t.Errorf("1 a day is suggested for a bucket of 1000, which takes years to refill")
	}
}

// TestDearRequests cost more than is told: they would be refused by whatever
// could be suggested, and so would their clients.
func TestDearRequests(t *testing.T) {
	const config = `{"rules": [{"name": "a", "key": [{"header": "x-user"}], "cost": {"header": "x-cost", "max": 5000}, "limits": [{"requests": 9000, "window": "1s"}]}]}`
	dear := by("alice", 0)
	dear.headers["x-cost"] = "2000"
	_, run := replay(t, config, 0, dear, by("bob", 0))
	if got := run.Report().Rules[0].Suggestions; len(got) != 0 {
		t.Errorf("suggestions %+v", got)
	}
}

// TestReplicasAreTold: limits are shown as they are divided and as they are
// written, but for those that all proxies share, whose suggestions are theirs.
func TestReplicasAreTold(t *testing.T) {
	const config = `{"replicas": 3, "global": {"redis": {"cluster": "c"}}, "rules": [
		{"name": "a", "key": [{"header": "x-user"}], "limits": [{"requests": 1e1, "window": "1s"}], "global": {"limits": [{"requests": 20, "window": "1s"}]}},
		{"name": "b", "key": [{"header": "x-user"}], "global": {"limits": [{"requests": 20, "window": "1s"}]}}]}`
	_, run := replay(t, config, 0, by("alice", 0), by("alice", 0))
	x := run.Report()
	a, b := x.Rules[0], x.Rules[1]
	if x.Replicas != 3 || a.Limits[0].Requests != 3 || a.Limits[0].Configured != 10 || a.Limits[0].Global || a.Limits[1].Requests != 20 || a.Limits[1].Configured != 0 || !a.Limits[1].Global {
		t.Errorf("%d replicas, limits %+v", x.Replicas, a.Limits)
	}
	if a.Suggestions[0].Requests != 6 || b.Suggestions[0].Requests != 2 || b.Limits[0].Configured != 0 {
		t.Errorf("suggestions %+v\n%+v", a.Suggestions, b.Suggestions)
	}
	if want := "Nothing is suggested for a-global: it is global, and the rule has limits of its own, which are followed."; len(a.SuggestionNotes) != 1 || a.SuggestionNotes[0].Note != want || len(b.SuggestionNotes) != 0 {
		t.Errorf("notes %+v, %+v", a.SuggestionNotes, b.SuggestionNotes)
	}
}
