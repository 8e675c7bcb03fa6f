package e2e

import (
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

func TestNative(t *testing.T) {
	for _, s := range scenarios(t, seconds) {
		t.Run(s.Name, func(t *testing.T) { scenario.Run(t, native{}, s) })
	}
}

// native runs scenarios on the Go core alone.
type native struct{}

func (native) Open(t *testing.T, s scenario.Scenario) scenario.Session {
	t.Helper()
	p, err := policy.Compile(s.Config, "e2e")
	if err != nil {
		t.Fatal(err)
	}
	options := p.TableOptions(limiter.NewSeed())
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options)
	if err != nil {
		t.Fatal(err)
	}
	return nativeSession{policy.NewEvaluator(p, table)}
}

type nativeSession struct{ evaluator *policy.Evaluator }

func (n nativeSession) Do(at time.Duration, r scenario.Request) (scenario.Response, error) {
	v := n.evaluator.Evaluate(limiter.At(at), nativeRequest{r})
	if v.Reply == nil {
		return scenario.Response{Status: 200}, v.Err
	}
	response := scenario.Response{Status: v.Reply.Status, Body: v.Reply.Body, Headers: map[string][]string{}}
	for _, h := range v.Reply.Headers {
		response.Headers[h[0]] = append(response.Headers[h[0]], h[1])
	}
	return response, v.Err
}

// nativeRequest is a policy.Request made of a scenario's.
type nativeRequest struct{ r scenario.Request }

func (n nativeRequest) Method() (string, error) { return n.r.Method, nil }

func (n nativeRequest) Path() (string, error) { return n.r.Path, nil }

func (n nativeRequest) ClientAddress() (string, error) { return n.r.Client, nil }

func (n nativeRequest) Header(name string) (joined string, err error) {
	found := false
	for _, h := range n.r.Headers {
		if h[0] != name {
			continue
		}
		if found {
			joined += ","
		}
		joined, found = joined+h[1], true
	}
	return joined, nil
}
