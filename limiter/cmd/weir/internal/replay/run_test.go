package replay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

const ms = limiter.Instant(1000)

// a hit is a request with headers, whose response has a status.
type hit struct {
	policy.EmptyRequest
	at, end limiter.Instant
	headers map[string]string
	status  string
}

func (h hit) Header(name string) (string, error) { return h.headers[name], nil }

// Status implements policy.Response.
func (h hit) Status() (string, error) { return h.status, nil }

// by is a hit of a user.
func by(user string, at limiter.Instant) hit {
	return hit{at: at, end: at, headers: map[string]string{"x-user": user}, status: "200"}
}

func replay(t *testing.T, config string, resolution time.Duration, hits ...hit) (verdicts string, run *Run) {
	t.Helper()
	run, err := NewRun("test", []byte(config), resolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		v := run.Request(h.at, h.end, h, func() policy.Response { return h })
		switch {
		case v.Err != nil:
			verdicts += "e"
		case v.Reply != nil:
			verdicts += "r"
		default:
			verdicts += "."
		}
	}
	return verdicts, run
}

// limited is the configuration of one rule by user, with further members.
func limited(limit int, members string) string {
	return fmt.Sprintf(`{"rules": [{"name": "a", "key": [{"header": "x-user"}], "on_missing_key": "reject", %s "limits": [{"requests": %d, "window": "1s"}]}]}`, members, limit)
}

// TestRunCounts what becomes of requests.
func TestRunCounts(t *testing.T) {
	got, run := replay(t, limited(2, ""), time.Millisecond,
		by("alice", 0), by("alice", 100*ms), by("alice", 200*ms), by("alice", 999*ms), // the last by less than the resolution
		by("bob", 999*ms), by("", 999*ms), by("alice", 1000*ms), by("alice", 1001*ms))
	if want := "..rr.r.r"; got != want {
		t.Fatalf("verdicts %s, want %s", got, want)
	}
	x := run.Report()
	if x.Requests != 8 || x.Admitted != 4 || x.Refused != 4 || x.Errors != 0 || x.Unmatched != 0 {
		t.Errorf("totals %+v", x)
	}
	r := x.Rules[0]
	if r.Admitted != 4 || r.Refused != 3 || r.MissingKey != 1 || r.Close != 1 || r.Clients != 2 || r.RefusedClients != 1 {
		t.Errorf("rule %+v", r)
	}
	if want := [10]int64{4: 1}; r.Used != want {
		t.Errorf("used %v, want bob at a half", r.Used)
	}
	if len(r.TopRefused) != 1 || r.TopRefused[0].Key != "header x-user=alice" || r.TopRefused[0].Refused != 3 {
		t.Errorf("top %+v", r.TopRefused)
	}
	if !reflect.DeepEqual(x.Timeline.Admitted, []int64{3, 1}) || !reflect.DeepEqual(x.Timeline.Refused, []int64{3, 1}) {
		t.Errorf("timeline %+v", x.Timeline)
	}
}

// TestRunInShadow refuses nobody, and says whom it would have.
func TestRunInShadow(t *testing.T) {
	got, run := replay(t, limited(1, `"shadow": true,`), 0, by("alice", 0), by("alice", 1*ms), by("bob", 2*ms))
	x := run.Report()
	r := x.Rules[0]
	if got != "..." || x.Refused != 0 || r.Shadow != 1 || r.EnforcePercent != 0 || r.RefusedClients != 1 || len(r.TopRefused) != 1 {
		t.Errorf("%s, %+v", got, r)
	}
	if !reflect.DeepEqual(x.Timeline.Shadow, []int64{1}) || !reflect.DeepEqual(x.Timeline.Admitted, []int64{3}) {
		t.Errorf("timeline %+v", x.Timeline)
	}
}

// TestRunSuggests the limits that the same requests would have passed under.
func TestRunSuggests(t *testing.T) {
	var hits []hit
	for i := range 1000 { // one burst of ten; everybody else comes once
		user := fmt.Sprint("user-", i)
		if i >= 500 && i < 510 {
			user = "burst"
		}
		hits = append(hits, by(user, limiter.Instant(i)))
	}
	_, run := replay(t, limited(100, ""), 0, hits...)
	var got []string
	for _, s := range run.Report().Rules[0].Suggestions {
		got = append(got, fmt.Sprintf("%s %v: %d refuses %d of %d", s.Of, s.Share, s.Requests, s.Refused, s.Total))
	}
	want := []string{
		"requests 0.001: 9 refuses 1 of 1000", "requests 0.01: 1 refuses 9 of 1000", "requests 0.05: 1 refuses 9 of 1000",
		"clients 0.001: 10 refuses 0 of 991", "clients 0.01: 1 refuses 1 of 991", "clients 0.05: 1 refuses 1 of 991",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("suggestions:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, s := range run.Report().Rules[0].Suggestions { // they keep their word
		_, again := replay(t, limited(int(s.Requests), ""), 0, hits...)
		if r := again.Report().Rules[0]; s.Of == "requests" && r.Refused != s.Refused || s.Of == "clients" && r.RefusedClients != s.Refused {
			t.Errorf("a limit of %d refuses %d requests and %d clients, and not %+v", s.Requests, r.Refused, r.RefusedClients, s)
		}
	}
}

// TestRunSettles charges of responses when these come, in the order of their
// times, and not before.
func TestRunSettles(t *testing.T) {
	const charge = `"charge": {"when": "response", "statuses": ["401"]},`
	try := func(at, end limiter.Instant, status string) hit {
		h := by("alice", at)
		h.end, h.status = end, status
		return h
	}
	got, run := replay(t, limited(1, charge), 0,
		try(0, 300*ms, "401"), try(100*ms, 150*ms, "200"), try(200*ms, 250*ms, "200"), // nothing failed yet
		try(300*ms, 310*ms, "200"), // the first has failed by now
		try(1299*ms, 1299*ms, "200"), try(1300*ms, 1400*ms, "401"))
	if want := "...rr."; got != want {
		t.Errorf("verdicts %s, want %s", got, want)
	}
	if r := run.Report().Rules[0]; r.Charged != 2 || r.Admitted != 4 || r.Refused != 2 || r.Clients != 1 || r.RefusedClients != 1 {
		t.Errorf("rule %+v", r)
	}
}

// TestRunOfOverrides keeps keys with limits of their own out of what is
// suggested for the rule, and counts those that are blocked.
func TestRunOfOverrides(t *testing.T) {
	const overrides = `"overrides": [{"key": ["alice"], "limits": [{"requests": 9, "window": "1s"}]}, {"key": ["mallory"], "block": true}, {"key": ["probe"], "unlimited": true}],`
	got, run := replay(t, limited(1, overrides), 0,
		by("alice", 0), by("alice", 1), by("mallory", 2), by("mallory", 3), by("probe", 4), by("probe", 5), by("bob", 6), by("bob", 7))
	if want := "..rr...r"; got != want {
		t.Errorf("verdicts %s, want %s", got, want)
	}
	r := run.Report().Rules[0]
	if len(r.TopRefused) != 2 || r.TopRefused[0].Key != "header x-user=mallory" || r.TopRefused[0].Refused != 2 {
		t.Errorf("top %+v", r.TopRefused)
	}
	for _, s := range r.Suggestions {
		if s.Of == "requests" && (s.Total != 2 || s.Requests != 2) {
			t.Errorf("suggestion %+v, want one for bob alone", s)
		}
	}
}

// TestRunRefusesConfigurations that the module refuses, in the same words.
func TestRunRefusesConfigurations(t *testing.T) {
	_, err := NewRun("test", []byte(`{"rules": 1}`), 0)
	_, want := policy.Compile([]byte(`{"rules": 1}`), "weir")
	if err == nil || err.Error() != want.Error() {
		t.Errorf("NewRun() = %v, want %v", err, want)
	}
}

// TestSecretsAreHashed in every text of a key, alike within a report.
func TestSecretsAreHashed(t *testing.T) {
	const config = `{"rules": [{"name": "a", "key": [{"bearer_token": true}, {"header": "x-api-key"}, {"header": "x-user"}], "limits": [{"requests": 1, "window": "1s"}]}]}`
	h := hit{headers: map[string]string{"authorization": "Bearer T0PS3CRET", "x-api-key": "K3Y", "x-user": "al ice"}}
	_, run := replay(t, config, 0, h, h, h)
	text, err := json.Marshal(run.Report())
	if err != nil || strings.Contains(string(text), "S3CRET") || strings.Contains(string(text), "K3Y") {
		t.Errorf("report %s, %v", text, err)
	}
	key := run.Report().Rules[0].TopRefused[0]
	if !strings.HasPrefix(key.Key, "bearer_token=#") || !strings.Contains(key.Key, ", header x-api-key=#") || !strings.HasSuffix(key.Key, `header x-user="al ice"`) || key.Refused != 2 {
		t.Errorf("key %+v", key)
	}
}

func TestKeyText(t *testing.T) {
	for _, test := range []struct {
		parts []policy.KeyPart
		want  string
	}{
		{nil, "(all)"},
		{[]policy.KeyPart{{Source: "path", Value: "/a"}, {Source: "host", Value: "h"}}, "path=/a, host=h"},
		{[]policy.KeyPart{{Source: "header x", Value: "a,b"}}, `header x="a,b"`},
		{[]policy.KeyPart{{Source: "header x", Value: "\x1b[31m\x00"}}, `header x="\x1b[31m\x00"`},
		{[]policy.KeyPart{{Source: "header x", Missing: true}}, "header x=(missing)"},
		{[]policy.KeyPart{{Source: "header x", Value: "192.0.2.1", Missing: true}}, "header x=(missing: 192.0.2.1)"},
		{[]policy.KeyPart{{Source: "header x", Value: strings.Repeat("ä", 60)}}, "header x=" + strings.Repeat("ä", 50) + "…"},
	} {
		if got := KeyText(test.parts); got != test.want {
			t.Errorf("KeyText(%v) = %s, want %s", test.parts, got, test.want)
		}
	}
}

// TestRunOfGlobalLimits decides them as one proxy that sees all of the traffic,
// and gives back what the local limits had charged.
func TestRunOfGlobalLimits(t *testing.T) {
	const redis = `"global": {"redis": {"cluster": "c"}}, "rules": [
		{"name": "local", "key": [], "limits": [{"requests": 3, "window": "1s"}]},
		{"name": "a", "key": [{"header": "x-user"}], "global": {"limits": [{"requests": 1, "window": "1s"}]},
		 "overrides": [{"key": ["vip"], "limits": [{"requests": 9, "window": "1s"}]}]}]`
	got, run := replay(t, "{"+redis+"}", time.Millisecond,
		by("alice", 0), by("alice", 0), by("alice", 999*ms), // refused globally, which is not charged locally
		by("vip", 999*ms), by("bob", 999*ms), by("carol", 999*ms)) // refused locally
	if want := ".rr..r"; got != want {
		t.Errorf("verdicts %s, want %s", got, want)
	}
	x := run.Report()
	local, global := x.Rules[0], x.Rules[1]
	if local.Refused != 1 || global.Refused != 2 || global.Admitted != 4 || global.Clients != 3 || global.RefusedClients != 1 || global.Close != 1 {
		t.Errorf("local %+v\nglobal %+v", local, global)
	}
	if len(global.Limits) != 1 || global.TopRefused[0].Key != "header x-user=alice" || global.TopRefused[0].Refused != 2 {
		t.Errorf("global %+v", global)
	}
	for _, s := range global.Suggestions {
		if s.Of == "requests" && s.Total != 4 { // without the one of an override
			t.Errorf("suggestion %+v", s)
		}
	}
	const service = `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [{"name": "a", "key": [{"header": "x-user"}], "global": {}}]}`
	if got, run := replay(t, service, 0, by("alice", 0), by("alice", 0)); got != ".." || run.Report().Rules[0].Admitted != 2 {
		t.Errorf("a service whose limits nobody knows: %s", got)
	}
}
