package explain

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

const rules = `{
	"headers": ["retry-after", "ratelimit"], "reply": {"status": 503, "body": {"format": "problem"}},
	"exempt": [{"path": {"exact": "/free"}}],
	"rules": [
		{"name": "log", "match": {"path": {"prefix": "/api"}}, "key": [{"header": "x-k"}], "limits": [{"requests": 3, "window": "1s"}, {"requests": 5, "window": "1m"}],
			"overrides": [{"key": ["few"], "limits": [{"requests": 2, "window": "7s"}]}, {"key": ["all"], "unlimited": true}, {"key": ["none"], "block": true}]},
		{"name": "weighed", "match": {"path": {"exact": "/weighed"}}, "key": [], "cost": {"header": "x-cost", "max": 9}, "limits": [{"requests": 4, "window": "1s", "algorithm": "leaky_bucket", "burst": 2}]},
		{"name": "fixed", "match": {"path": {"exact": "/fixed"}}, "key": [{"client_ip": true}], "limits": [{"requests": 3, "window": "1s", "algorithm": "fixed_window"}]},
		{"name": "counter", "match": {"path": {"exact": "/counter"}}, "key": [{"client_ip": true}], "limits": [{"requests": 3, "window": "1s", "algorithm": "sliding_counter"}]},
		{"name": "slots", "match": {"path": {"exact": "/slots"}}, "key": [{"client_ip": true}], "limits": [{"requests": 3, "window": "1s", "algorithm": "sliding_buckets"}]},
		{"name": "trial", "match": {"path": {"exact": "/trial"}}, "key": [{"client_ip": true}], "shadow": true, "limits": [{"requests": 3, "window": "1s"}]}
	]}`

// TestExplainIsWhatAnEvaluatorAnswers: fresh is its first answer, and exhausted
// the one that it gives after requests of the same key have used it up.
func TestExplainIsWhatAnEvaluatorAnswers(t *testing.T) {
	for _, test := range []struct {
		line    string
		header  string
		rule    string // that is exhausted, if any
		until   int    // so many requests are admitted before it is
		refuses bool
	}{
		{"GET /api/x", "x-k: a", "log", 3, true},
		{"GET /api/x", "x-k: few", "log", 2, true},
		{"GET /api/x", "x-k: all", "", 0, false},
		{"GET /api/x", "x-k: none", "", 0, true},
		{"GET /api/x", "x-other: a", "log", 3, true},
		{"GET /weighed", "x-cost: 2", "weighed", 1, true},
		{"GET /weighed", "x-cost: 3", "weighed", 0, true},
		{"GET /fixed", "x-k: a", "fixed", 3, true},
		{"GET /counter", "x-k: a", "counter", 3, true},
		{"GET /slots", "x-k: a", "slots", 3, true},
		{"GET /trial", "x-k: a", "trial", 3, false},
		{"GET /free", "x-k: a", "", 0, false},
		{"GET /other", "x-k: a", "", 0, false},
	} {
		req, err := NewRequest(test.line, []string{test.header}, "192.0.2.1", nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Explain([]byte(rules), req)
		if err != nil {
			t.Fatal(err)
		}
		answers := ask(t, req, test.until)
		if fresh := answers[0]; !reflect.DeepEqual(x.Fresh, fresh) {
			t.Errorf("%s with %s: fresh is said to get %+v, and gets %+v", test.line, test.header, x.Fresh, fresh)
		}
		last := answers[test.until]
		for _, r := range x.Rules {
			if r.Name != test.rule {
				if r.Exhausted != nil {
					t.Errorf("%s with %s: the rule %s is said to give %+v, and has no key to use up", test.line, test.header, r.Name, r.Exhausted)
				}
				continue
			}
			if r.Exhausted == nil || !alike(*r.Exhausted, last) {
				t.Errorf("%s with %s: exhausted is said to get %+v, and gets %+v", test.line, test.header, r.Exhausted, last)
			}
		}
		if last.Passes == test.refuses {
			t.Errorf("%s with %s: after %d requests passes is %v", test.line, test.header, test.until, last.Passes)
		}
	}
}

// alike says whether two answers are the same but for what tells of limits: in
// an explanation all limits of a key are used up, and after requests the first.
func alike(a, b Answer) bool {
	return a.Passes == b.Passes && a.Status == b.Status && a.Details == b.Details && reflect.DeepEqual(a.Shadow, b.Shadow) && names(a) == names(b)
}

func names(a Answer) (all string) {
	for _, h := range a.Headers {
		all += h[0] + " "
	}
	return all
}

// ask has an evaluator answer a request once more than so many times, at once.
func ask(t *testing.T, req *Request, times int) (answers []Answer) {
	t.Helper()
	p, err := policy.Compile([]byte(rules), "weir")
	if err != nil {
		t.Fatal(err)
	}
	options := p.TableOptions(limiter.NewSeed())
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options)
	if err != nil {
		t.Fatal(err)
	}
	e := policy.NewEvaluator(p, table)
	for range times + 1 {
		answers = append(answers, newAnswer(p, e.Evaluate(0, req)))
	}
	return answers
}

// TestExhaustedTellsOfEachLimit, as all are used up.
func TestExhaustedTellsOfEachLimit(t *testing.T) {
	req, err := NewRequest("GET /api", []string{"x-k: a"}, "192.0.2.1", nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Explain([]byte(rules), req)
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]string{
		{"retry-after", "60"}, {"ratelimit-policy", `"log-1s";q=3;w=1, "log-1m";q=5;w=60`},
		{"ratelimit", `"log-1s";r=0;t=1, "log-1m";r=0;t=60`}, {"content-type", "application/problem+json"},
	}
	if got := x.Rules[0].Exhausted; got.Status != 503 || !reflect.DeepEqual(got.Headers, want) || !strings.Contains(got.Body, "log-1m") {
		t.Errorf("exhausted gets %+v, want the status 503, a body that names log-1m, and %q", got, want)
	}
}

// TestConditionsHideSecrets by the hash that the same value has in a key.
func TestConditionsHideSecrets(t *testing.T) {
	req, err := NewRequest("GET /", []string{"x-api-key: s3cret"}, "192.0.2.1", nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Explain([]byte(`{"rules": [{"name": "a", "match": {"headers": [{"name": "x-api-key", "exact": "s3cret"}]},
		"key": [{"header": "x-api-key"}], "limits": [{"requests": 1, "window": "1s"}]}]}`), req)
	if err != nil {
		t.Fatal(err)
	}
	r := x.Rules[0]
	if got, want := r.Conditions[0].Condition, "header x-api-key exact "+r.Key[0].Value; got != want || strings.Contains(got, "s3cret") {
		t.Errorf("the condition is %q, want %q", got, want)
	}
}

// TestExplainRefusesWhatIsWrong with the error of the policy.
func TestExplainRefusesWhatIsWrong(t *testing.T) {
	if x, err := Explain([]byte(`{"rules": 1}`), &Request{}); err == nil || !strings.HasPrefix(err.Error(), "rules: ") {
		t.Errorf("Explain() = %v, %v, want an error about rules", x, err)
	}
}
