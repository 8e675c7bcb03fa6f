package policy

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// headersOf are the headers of an answer, of either kind.
func headersOf(v *Verdict) [][2]string {
	if v.Reply != nil {
		return v.Reply.Headers
	}
	return v.Headers
}

// allStyles is a configuration with every style of headers.
func allStyles(rules string) string {
	return `{"headers": ["retry-after", "ratelimit", "x-ratelimit"], "rules": [` + rules + `]}`
}

func TestHeaders(t *testing.T) {
	e := newEvaluator(t, allStyles(`{"name": "per-user", "key": [], "limits": [{"requests": 2, "window": "1.5s"}]}`))
	const policy = `"per-user";q=2;w=2`
	for i, c := range []struct {
		at   limiter.Instant
		want [][2]string
	}{
		{0, [][2]string{{"ratelimit-policy", policy}, {"ratelimit", `"per-user";r=1;t=2`}, {"x-ratelimit-limit", "2"}, {"x-ratelimit-remaining", "1"}, {"x-ratelimit-reset", "2"}}},
		{second, [][2]string{{"ratelimit-policy", policy}, {"ratelimit", `"per-user";r=0;t=2`}, {"x-ratelimit-limit", "2"}, {"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "2"}}},
		{second, [][2]string{{"retry-after", "1"}, {"ratelimit-policy", policy}, {"ratelimit", `"per-user";r=0;t=1`}, {"x-ratelimit-limit", "2"}, {"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1"}}},
	} {
		if got := headersOf(e.Evaluate(c.at, get("/"))); !reflect.DeepEqual(got, c.want) {
			t.Errorf("request %d: headers = %v, want %v", i, got, c.want)
		}
	}
}

// TestHeaderStyles: each alone, and on which answers.
func TestHeaderStyles(t *testing.T) {
	for styles, want := range map[string][2]string{ // on the admitted and the refused
		``: {"", ""}, `"retry-after"`: {"", "retry-after"}, `"ratelimit"`: {"ratelimit-policy ratelimit", "ratelimit-policy ratelimit"},
		`"x-ratelimit"`: {"x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset", "x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset"},
		`"ratelimit", "retry-after", "ratelimit"`: {"ratelimit-policy ratelimit", "retry-after ratelimit-policy ratelimit"},
	} {
		config := `{"headers": [` + styles + `], "rules": [{"name": "a", "key": [], "limits": [{"requests": 1, "window": "60s"}]}]}`
		e := newEvaluator(t, config)
		for i, want := range want {
			var names []string
			for _, h := range headersOf(e.Evaluate(0, get("/"))) {
				names = append(names, h[0])
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("headers [%s] of answer %d = %q, want %q", styles, i, got, want)
			}
		}
	}
}

// TestHeadersOfSeveralLimits: all of them, in order; on a refusal RateLimit has
// those that refuse. A rule on trial, an unlimited key and a rule that does not
// match are absent; an override shows its own limits.
func TestHeadersOfSeveralLimits(t *testing.T) {
	e := newEvaluator(t, allStyles(`
		{"name": "a", "key": [{"header": "x-k"}], "limits": [{"requests": 2, "window": "60s"}, {"requests": 50, "window": "1h", "name": "hourly"}],
		 "overrides": [{"key": ["alice"], "limits": [{"requests": 9, "window": "1s"}]}, {"key": ["free"], "unlimited": true}]},
		{"name": "b", "key": [], "limits": [{"requests": 3, "window": "10s", "algorithm": "token_bucket", "burst": 5}]},
		{"name": "trial", "key": [], "limits": [{"requests": 1, "window": "1s"}], "shadow": true},
		{"name": "other", "match": {"path": {"exact": "/other"}}, "key": [], "limits": [{"requests": 1, "window": "1s"}]}`))
	const plain = `"a-1m";q=2;w=60, "hourly";q=50;w=3600, "b";q=5;w=10`
	for i, c := range []struct{ k, policy, limit, remaining, reset, retry string }{
		{"v", plain, `"a-1m";r=1;t=60, "hourly";r=49;t=3600, "b";r=4;t=4`, "1", "60", ""},
		{"v", plain, `"a-1m";r=0;t=60, "hourly";r=48;t=3600, "b";r=3;t=7`, "0", "60", ""},
		{"v", plain, `"a-1m";r=0;t=60`, "0", "60", "60"},
		{"alice", `"a";q=9;w=1, "b";q=5;w=10`, `"a";r=8;t=1, "b";r=2;t=10`, "2", "10", ""},
		{"free", `"b";q=5;w=10`, `"b";r=1;t=14`, "1", "14", ""},
		{"free", `"b";q=5;w=10`, `"b";r=0;t=17`, "0", "17", ""},
		{"free", `"b";q=5;w=10`, `"b";r=0;t=4`, "0", "4", "4"},
		{"v", plain, `"a-1m";r=0;t=60, "b";r=0;t=4`, "0", "60", "60"},
	} {
		got := headersOf(e.Evaluate(0, get("/", "x-k", c.k)))
		for name, want := range map[string]string{"ratelimit-policy": c.policy, "ratelimit": c.limit, "x-ratelimit-remaining": c.remaining,
			"x-ratelimit-reset": c.reset, "retry-after": c.retry} {
			if header(got, name) != want {
				t.Errorf("request %d of %s: %s = %q, want %q", i, c.k, name, header(got, name), want)
			}
		}
	}
}

// TestHeadersWithoutATime: what can never pass has no t and no retry-after.
func TestHeadersWithoutATime(t *testing.T) {
	e := newEvaluator(t, allStyles(`{"name": "a", "key": [], "limits": [{"requests": 2, "window": "60s"}], "cost": 3}`))
	got := headersOf(e.Evaluate(0, get("/")))
	if header(got, "ratelimit") != `"a";r=2` || header(got, "retry-after") != "" || header(got, "x-ratelimit-remaining") != "2" {
		t.Errorf("headers = %v, want two left and no time", got)
	}
}

// a field of these forms is a structured field (RFC 9651): a list of strings
// with integers as parameters.
var (
	policyForm = regexp.MustCompile(`^"[a-z0-9_-]+";q=[0-9]{1,15};w=[0-9]{1,15}(, "[a-z0-9_-]+";q=[0-9]{1,15};w=[0-9]{1,15})*$`)
	limitForm  = regexp.MustCompile(`^"[a-z0-9_-]+";r=[0-9]{1,15}(;t=[0-9]{1,15})?(, "[a-z0-9_-]+";r=[0-9]{1,15}(;t=[0-9]{1,15})?)*$`)
	timeForm   = regexp.MustCompile(`;t=([0-9]+)`)
)

// TestHeadersKeepTheirPromise under every algorithm: the fields are well formed
// and each once, and who waits as long as they say is admitted.
func TestHeadersKeepTheirPromise(t *testing.T) {
	for _, algorithm := range algorithms {
		e := newEvaluator(t, allStyles(`{"name": "a", "key": [], "limits": [{"requests": 3, "window": "7s", "algorithm": "`+algorithm+`"}, {"requests": 20, "window": "1m"}]},
			{"name": "b", "key": [], "limits": [{"requests": 2000, "window": "366d", "algorithm": "`+algorithm+`"}]}`))
		refused := 0
		for now := limiter.Instant(0); now < 200*second; now += 777_777 {
			v := e.Evaluate(now, get("/"))
			got := headersOf(v)
			if !policyForm.MatchString(header(got, "ratelimit-policy")) || !limitForm.MatchString(header(got, "ratelimit")) {
				t.Fatalf("%s: fields of %v are not well formed", algorithm, got)
			}
			if v.Reply == nil {
				continue
			}
			refused++
			wait, err := strconv.ParseInt(header(got, "retry-after"), 10, 64)
			for _, m := range timeForm.FindAllStringSubmatch(header(got, "ratelimit"), -1) {
				if s, _ := strconv.ParseInt(m[1], 10, 64); s > wait || s < 1 || err != nil {
					t.Fatalf("%s: retry-after %d, %v beside %q", algorithm, wait, err, header(got, "ratelimit"))
				}
			}
			now += limiter.At(time.Duration(wait) * time.Second)
			if v := e.Evaluate(now, get("/")); v.Reply != nil {
				t.Fatalf("%s: refused again %d s later: %v", algorithm, wait, v.Reply.Headers)
			}
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", algorithm)
		}
	}
}

// TestHeadersOfGlobalLimits have the numbers of the engine, beside those of this
// proxy; of a proxy that the engine fails, those of its share.
func TestHeadersOfGlobalLimits(t *testing.T) {
	config := shared(6, `, "limits": [{"requests": 9, "window": "1m"}]`)
	p, g := proxies(t, config[:len(config)-1]+`, "replicas": 3}`, 2), newEngine(t)
	r := get("/", "x-k", "v")
	g.decide(p[0], 0, r)
	const policy = `"a";q=3;w=60, "a-global";q=6;w=10`
	for i, want := range []struct{ policy, limit, remaining string }{
		{policy, `"a";r=2;t=60, "a-global";r=4;t=10`, "2"}, {policy, `"a";r=1;t=60, "a-global";r=3;t=10`, "1"},
	} {
		fields := headersOf(g.decide(p[1], second, r))
		if got := header(fields, "ratelimit-policy"); got != want.policy {
			t.Errorf("request %d: policy %q, want %q", i, got, want.policy)
		}
		if got := header(fields, "ratelimit"); got != want.limit || header(fields, "x-ratelimit-remaining") != want.remaining {
			t.Errorf("request %d: %q and %v, want %q", i, got, fields, want.limit)
		}
	}
	g.down = true
	fields := headersOf(g.decide(p[0], 2*second, r))
	if got, want := header(fields, "ratelimit-policy"), `"a";q=3;w=60, "a-global";q=2;w=10`; got != want {
		t.Errorf("without the engine: policy %q, want %q", got, want)
	}
	if got, want := header(fields, "ratelimit"), `"a";r=1;t=60, "a-global";r=1;t=10`; got != want {
		t.Errorf("without the engine: %q, want %q", got, want)
	}
	g.decide(p[0], 2*second, r)
	fields = headersOf(g.decide(p[1], 2*second, r))
	if header(fields, "retry-after") != "" || header(fields, "ratelimit-policy") == "" {
		t.Errorf("the share of another proxy is %v", fields)
	}
}
