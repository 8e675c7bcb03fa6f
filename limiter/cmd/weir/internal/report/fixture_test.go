package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// hostile is what a stranger may put into a key.
const hostile = "\"><script>alert(1)</script>'\u202egnp.exe\x00\x1b[31m\u009b2J\xff{{.}} style=\"x\" "

var monday = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// fixtures are the reports that every form is tested with.
func fixtures() map[string]*Report {
	return map[string]*Report{"one": one(), "empty": empty(), "two": two(), "six": six(), "hostile": attacked(),
		"doubted": doubted("other.log", `no line of it could be read: line 1 is "GET /": does not begin with "["`,
			"20000 of 40000 lines were further out of order than --disorder 10s: the figures do not hold; raise --disorder")}
}

// one is a day of traffic under two rules, one of them in shadow.
func one() *Report {
	return &Report{Command: "replay", Input: logs(), Runs: []Run{day1("limits.json", 1)}}
}

func logs() Input {
	return Input{
		Files: []string{"access.log.1.gz", "access.log"}, Format: "envoy",
		Lines: 1_203_450, Broken: 8, Late: 3, From: monday.Add(413 * time.Millisecond), To: monday.Add(day - time.Second),
		Sample: []BrokenLine{
			{"access.log.1.gz", 17, `time "[2026-13-30T" does not parse`, `[2026-13-30T00:00:01.413Z] "GET /api/x HTTP/1.1" 200 - 0 12`},
			{"access.log", 99_031, "ends within a quoted field", `[2026-11-30T09:14:01.413Z] "GET /api/`},
		},
		NotLogged: []NotLogged{{"header x-tier", 1_203_442}, {"cookie session", 40_112}},
	}
}

// day1 makes a run whose counts add up. The smaller the scale, the fewer are refused.
func day1(name string, scale float64) Run {
	random := rand.New(rand.NewPCG(1, 2))
	x := Run{Name: name, Config: config("10", "100"), Requests: 1_203_442, Errors: 2, Unmatched: 40_112}
	x.Timeline = Timeline{Start: monday, Width: Duration(6 * time.Minute)}
	left := x.Requests - x.Errors
	for i := range 240 {
		n := int64(5031 - 3200*math.Cos(2*math.Pi*float64(i)/240) + 300*random.NormFloat64())
		if i == 239 {
			n = left
		}
		left -= n
		var refused, shadow int64
		if i > 130 && i < 150 || random.IntN(40) == 0 {
			refused = int64(scale * float64(random.IntN(260)))
			shadow = int64(random.IntN(90))
		}
		x.Timeline.Admitted = append(x.Timeline.Admitted, n-refused)
		x.Timeline.Refused = append(x.Timeline.Refused, refused)
		x.Timeline.Shadow = append(x.Timeline.Shadow, shadow)
		x.Refused += refused
	}
	x.Admitted = x.Requests - x.Errors - x.Refused
	x.Rules = []Rule{perUser(&x, scale), perAddress(&x)}
	return x
}

func perUser(x *Run, scale float64) Rule {
	r := Rule{
		Name: "per-user", Key: []string{"header x-user-id"}, EnforcePercent: 100,
		Limits: []Limit{
			{Name: "per-user-1s", Algorithm: "sliding_log", Requests: 10, Window: Duration(time.Second)},
			{Name: "per-user-1h", Algorithm: "sliding_buckets", Requests: 1000, Window: Duration(time.Hour)},
		},
		Admitted: x.Requests - x.Unmatched - x.Refused - 312, Refused: x.Refused, MissingKey: 312, Close: 41, Evicted: 6,
		Clients: 8021, Sampled: 1, Used: [10]int64{5103, 1422, 704, 340, 201, 98, 64, 40, 21, 11}, RefusedClients: 17,
		SuggestionNotes: []SuggestionNote{},
	}
	for i := range 20 {
		n := int64(scale*900/float64(i*i+1)) + 1
		r.TopRefused = append(r.TopRefused, Key{fmt.Sprintf("user-%04d", 7919*(i+3)%10000), n, n + int64(i/15*7)})
	}
	for i, share := range []float64{0.001, 0.01, 0.05} {
		for j, window := range []Duration{Duration(time.Second), Duration(time.Hour)} {
			limit := []string{"per-user-1s", "per-user-1h"}[j]
			r.Suggestions = append(r.Suggestions,
				Suggestion{limit, window, "requests", share, int64([]int{12, 7, 4}[i] * (1 + 110*j)), int64(share * 1_150_000), 1_163_330, Exact},
				Suggestion{limit, window, "clients", share, int64([]int{31, 14, 8}[i] * (1 + 90*j)), int64(share * 8000), 8021, Exact})
		}
	}
	return r
}

func perAddress(x *Run) Rule {
	return Rule{
		Name: "per-address", Key: []string{"client_ip", "path"}, EnforcePercent: 0,
		Limits:   []Limit{{Name: "per-address", Algorithm: "token_bucket", Requests: 100, Window: Duration(time.Minute), Burst: 200}},
		Admitted: x.Requests - x.Unmatched - x.Timeline.shadow(), Shadow: x.Timeline.shadow(),
		Clients: 48_120, Sampled: 8, Used: [10]int64{47_000, 600, 256, 128, 64, 32, 16, 0, 8, 0}, RefusedClients: 16,
		TopRefused: []Key{{"203.0.113.7 /api/search", 600, 600}, {"2001:db8:7::/64 /api/search", 340, 512}},
		Suggestions: []Suggestion{
			{"per-address", Duration(time.Minute), "requests", 0.01, 88, 11_402, 1_163_330, Estimate},
			{"per-address", Duration(time.Minute), "clients", 0.01, 131, 480, 48_120, Estimate},
		},
		SuggestionNotes: []SuggestionNote{
			{"per-address", "per-address is counted as sliding_log does, for limits up to its burst: token_bucket refuses no more."},
			{"", "One client in 8 was followed: all of this is estimated."},
		},
	}
}

// config is a filter's JSON.
func config(second, minute string) string {
	return `{"rules":[{"name":"per-user","key":[{"header":"x-user-id"}],"limits":[{"requests":` + second +
		`,"window":"1s"},{"requests":1000,"window":"1h","algorithm":"sliding_buckets"}]},{"name":"per-address","shadow":true,` +
		`"key":[{"client_ip":true},{"path":true}],"limits":[{"requests":` + minute +
		`,"window":"1m","algorithm":"token_bucket","burst":200}]}],"exempt":[{"path":{"exact":"/healthz"}}]}`
}

// empty has no requests.
func empty() *Report {
	return &Report{Command: "replay", Input: Input{Files: []string{"-"}, Format: "nginx"}, Runs: []Run{{
		Name: "limits.json", Config: `{"rules":[]}`, Rules: []Rule{{Name: "idle", EnforcePercent: 100,
			Limits: []Limit{{Name: "idle", Algorithm: "sliding_log", Requests: 1, Window: Duration(time.Second)}}, Sampled: 1}},
	}}}
}

// two compares configurations, of which the second is stricter and has a rule
// more.
func two() *Report {
	a, b := day1("envoy/limits.json", 0.4), day1("envoy/limits-next.json", 1)
	b.Config = strings.Replace(config("5", "100"), `"exempt"`, `"replicas":2,"exempt"`, 1)
	b.Replicas, b.Rules[0].Limits[0].Requests, b.Rules[0].Limits[0].Configured = 2, 5, 10
	b.Rules[0].RefusedClients = 40
	b.Rules[1].EnforcePercent = 25
	b.Rules = append(b.Rules, Rule{Name: "login", Key: []string{"client_ip"}, EnforcePercent: 100,
		Limits: []Limit{{Name: "login", Algorithm: "sliding_log", Requests: 5, Window: Duration(15 * time.Minute)}}, Admitted: 12, Charged: 4, Clients: 3, Sampled: 1,
		Used: [10]int64{2, 0, 0, 1}, RateLimitService: true,
		SuggestionNotes: []SuggestionNote{{"", "No limit is suggested: the rule charges responses, and under another limit others would have come."}}})
	return &Report{Command: "replay", Input: logs(), Runs: []Run{a, b}}
}

// six is one simulation by every algorithm.
func six() *Report {
	r := &Report{Command: "simulate", Input: Input{
		Traffic: []string{"poisson 200/s over 8000 keys", "burst of 500 each 1m"}, Lines: 1_203_442, From: monday, To: monday.Add(day)}}
	for i, name := range []string{"sliding_log", "sliding_buckets", "sliding_counter", "token_bucket", "leaky_bucket", "fixed_window"} {
		x := day1(name, 1.2-float64(i)/10)
		x.Rules = x.Rules[:1]
		x.Rules[0].Limits[0].Algorithm = name
		x.Rules[0].Limits[0].WorstWindow = 10 + int64(i*i)
		r.Runs = append(r.Runs, x)
	}
	return r
}

// attacked is full of what strangers wrote.
func attacked() *Report {
	r := one()
	r.Input.Files = []string{hostile, strings.Repeat("a", 500)}
	r.Input.Sample = []BrokenLine{{hostile, 1, hostile, hostile + strings.Repeat("<", 3000)}}
	r.Input.NotLogged = []NotLogged{{"header " + hostile, 1}}
	x := &r.Runs[0]
	x.Timeline.Width = Duration(45 * time.Millisecond) // times with seconds are the widest
	x.Name, x.Config = hostile, `{"rules": "</pre></script><script>alert(2)</script>`+"\u202e\"}"
	x.Rules[0].Key = []string{"header " + hostile, strings.Repeat("k", 400)}
	x.Rules[0].TopRefused = []Key{{hostile, math.MaxInt64, math.MaxInt64}, {strings.Repeat("W", 9000), 1_000_000, 2_000_000},
		{strings.Repeat("א", 300), 1, 1}, {"", 1, 1}}
	return r
}
