package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
)

// forms are the text and the page, in one line each.
func forms(t *testing.T, r *Report) map[string]string {
	t.Helper()
	var text, page bytes.Buffer
	must(t, r.WriteText(&text))
	must(t, r.WriteHTML(&page))
	_, shown, _ := strings.Cut(page.String(), "<body>")
	shown, _, _ = strings.Cut(shown, `<section class="raw">`)
	shown = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(shown, " ")
	return map[string]string{"text": strings.Join(strings.Fields(text.String()), " "), "page": strings.Join(strings.Fields(shown), " ")}
}

// little is a report of one rule in each run.
func little(runs int, change func(*Run)) *Report {
	r := &Report{Command: "replay", Input: Input{Files: []string{"-"}, Lines: 1}}
	for range runs {
		x := Run{Name: "a.json", Config: "{}", Requests: 1, Admitted: 1, Rules: []Rule{{Name: "r", EnforcePercent: 100, Sampled: 1, Admitted: 1, Clients: 1,
			Limits: []Limit{{Name: "r", Algorithm: "sliding_log", Requests: 3, Window: Duration(time.Second)}}}}}
		change(&x)
		r.Runs = append(r.Runs, x)
	}
	return r
}

// TestServiceIsTold in text and page, of one run, of two and of many, whether
// they refuse nothing, all the same, or one more than the others.
func TestServiceIsTold(t *testing.T) {
	for runs := 1; runs <= 3; runs++ {
		for refusing := range runs + 1 {
			r := little(runs, func(x *Run) { x.Rules[0].RateLimitService = true })
			for i := range refusing {
				r.Runs[i].Admitted, r.Runs[i].Refused = 0, 1
			}
			for form, text := range forms(t, r) {
				if !strings.Contains(text, " r asks a rate limit service, whose limits are not known here: it was taken to admit everything.") {
					t.Errorf("%s of %d runs, %d of which refuse: %s", form, runs, refusing, text)
				}
			}
		}
		for form, text := range forms(t, little(runs, func(*Run) {})) {
			if strings.Contains(text, "service") {
				t.Errorf("%s of %d runs, without one: %s", form, runs, text)
			}
		}
	}
}

// TestReplicasAreTold, and both numbers of a limit.
func TestReplicasAreTold(t *testing.T) {
	r := little(1, func(x *Run) {
		x.Replicas, x.Rules[0].Limits[0].Configured = 4, 12
		x.Rules[0].Suggestions = []Suggestion{{"r", Duration(time.Second), "requests", 0.01, 8, 0, 1, Exact}}
	})
	for form, text := range forms(t, r) {
		for _, want := range []string{"All requests were decided by one proxy of 4, with its share of each limit that is not global.",
			"3 per 1s, sliding_log, of this proxy: 12 in the configuration"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", form, want, text)
			}
		}
		if !regexp.MustCompile(`r 1s 12 8`).MatchString(text) {
			t.Errorf("%s: no row of 12 configured and 8 suggested: %s", form, text)
		}
	}
}

// TestNotesWithoutSuggestions are told, and nothing is said to be above.
func TestNotesWithoutSuggestions(t *testing.T) {
	for runs := 1; runs <= 3; runs++ {
		r := little(runs, func(x *Run) { x.Rules[0].SuggestionNotes = []SuggestionNote{{"", "No limit is suggested: because."}} })
		for form, text := range forms(t, r) {
			if !strings.Contains(text, "No limit is suggested: because.") || strings.Contains(text, "as above") || strings.Contains(text, "smallest limit") {
				t.Errorf("%s of %d runs: %s", form, runs, text)
			}
		}
	}
	same := little(2, func(x *Run) {
		x.Rules[0].Suggestions = []Suggestion{{"r", Duration(time.Second), "requests", 0.01, 8, 0, 1, Exact}}
	})
	for form, text := range forms(t, same) {
		if strings.Count(text, "as above") != 1 {
			t.Errorf("%s: %s", form, text)
		}
	}
	same.Runs[1].Rules[0].SuggestionNotes = []SuggestionNote{{"", "Of another algorithm."}}
	for form, text := range forms(t, same) {
		if strings.Contains(text, "as above") || !strings.Contains(text, "Of another algorithm.") {
			t.Errorf("%s, with a note in the second run: %s", form, text)
		}
	}
}

// TestOneOfAThing is not many of it.
func TestOneOfAThing(t *testing.T) {
	many := regexp.MustCompile(`\D 1 (requests|clients|responses|new keys|live keys|units)\b`)
	r := little(1, func(x *Run) {
		rule := &x.Rules[0]
		rule.Charged, rule.Full, rule.Evicted, rule.Limits[0].WorstWindow = 1, 1, 1, 1
		for _, of := range suggestedOf {
			rule.Suggestions = append(rule.Suggestions, Suggestion{"r", Duration(time.Second), of, 0.01, 8, 0, 1, Exact})
		}
	})
	for form, text := range forms(t, r) {
		if found := many.FindString(text); found != "" {
			t.Errorf("%s has %q: %s", form, found, text)
		}
		if strings.Count(text, "of 1 request") < 1 || strings.Count(text, "of 1 client") < 1 || !strings.Contains(text, "1 response") {
			t.Errorf("%s: %s", form, text)
		}
	}
	if !many.MatchString("or of 1 clients") || many.MatchString("of 31 clients") {
		t.Error("the pattern does not find what it is for")
	}
}
