package policy

import (
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

const second = limiter.Instant(1_000_000)

// a request is a Request that answers from its fields, or with err.
type request struct {
	method, path, host, client string
	headers                    map[string]string
	properties                 map[string]string
	err                        map[string]error // by what was asked: method, path, host, client, a header or a property
}

func (r request) Method() (string, error) { return r.method, r.err["method"] }

func (r request) Path() (string, error) { return r.path, r.err["path"] }

func (r request) Header(name string) (string, error) { return r.headers[name], r.err[name] }

func (r request) Host() (string, error) { return r.host, r.err["host"] }

func (r request) Property(path string) (string, error) { return r.properties[path], r.err[path] }

func (r request) ClientAddress() (string, error) { return r.client, r.err["client"] }

// get is a request for a path with the headers given as name, value, …
func get(path string, headers ...string) request {
	r := request{method: "GET", path: path, client: "192.0.2.1:40001", headers: map[string]string{}}
	for i := 0; i < len(headers); i += 2 {
		r.headers[headers[i]] = headers[i+1]
	}
	return r
}

// from is a request by a client, without a header.
func from(client string) request { return request{method: "GET", path: "/", client: client} }

func mustCompile(t testing.TB, config string) *Policy {
	t.Helper()
	p, err := Compile([]byte(config), "test")
	if err != nil {
		t.Fatalf("Compile(%s) = %v, want no error", config, err)
	}
	return p
}

// one is the configuration of one rule, "a", with further members of the rule.
func one(limit, members string) string {
	return `{"rules": [{"name": "a", ` + members + `, "limits": [{"requests": ` + limit + `, "window": "60s"}]}]}`
}

// newTable returns an empty table for a policy.
func newTable(t testing.TB, p *Policy) *limiter.Table {
	t.Helper()
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(limiter.Seed{}))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// newEvaluator returns an evaluator of a configuration on an empty table.
func newEvaluator(t testing.TB, config string) *Evaluator {
	t.Helper()
	p := mustCompile(t, config)
	return NewEvaluator(p, newTable(t, p))
}

// a step is one request, and the details of the reply to it; "" if it passes.
type step struct {
	at   float64 // seconds
	req  request
	want string
}

func (e *Evaluator) run(t *testing.T, steps []step) {
	t.Helper()
	for i, s := range steps {
		v := e.Evaluate(limiter.At(time.Duration(s.at*1e9)), s.req)
		if got := details(v); got != s.want || v.Err != nil {
			t.Errorf("step %d: Evaluate(%gs, %v) = %q, %v, want %q", i, s.at, s.req, got, v.Err, s.want)
		}
	}
}

func details(v *Verdict) string {
	if v.Reply == nil {
		return ""
	}
	return v.Reply.Details
}

// limited are the details of a refusal by the rule.
func limited(rule string) string { return "local_rate_limited{" + rule + "}" }
