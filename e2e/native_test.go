package e2e

import (
	"strconv"
	"strings"
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

func (n nativeSession) Do(at time.Duration, r scenario.Request, up scenario.Upstream) (scenario.Response, error) {
	v := n.evaluator.Evaluate(limiter.At(at), nativeRequest{r})
	if v.Err != nil {
		return scenario.Response{}, v.Err
	}
	response := scenario.Response{Status: up.Status, Headers: map[string][]string{}}
	if v.Reply != nil {
		response.Status, response.Body = v.Reply.Status, v.Reply.Body
		if r.Method == "HEAD" {
			response.Body = ""
		}
		addHeaders(response, v.Reply.Headers)
		return response, nil
	}
	addHeaders(response, up.Headers)
	for _, h := range v.Headers {
		response.Headers[h[0]] = []string{h[1]}
	}
	return response, n.evaluator.Settle(limiter.At(at), v.Deferred, nativeResponse{up}).Err
}

func addHeaders(response scenario.Response, headers [][2]string) {
	for _, h := range headers {
		response.Headers[h[0]] = append(response.Headers[h[0]], h[1])
	}
}

// nativeRequest is a policy.Request made of a scenario's.
type nativeRequest struct{ r scenario.Request }

func (n nativeRequest) Method() (string, error) { return n.r.Method, nil }

func (n nativeRequest) Path() (string, error) { return n.r.Path, nil }

func (n nativeRequest) Host() (string, error) { return n.r.Host, nil }

func (n nativeRequest) ClientAddress() (string, error) { return n.r.Client, nil }

func (n nativeRequest) Header(name string) (string, error) { return joined(n.r.Headers, name), nil }

func (n nativeRequest) Property(path string) (string, error) {
	return n.r.Properties[strings.ReplaceAll(path, "\x00", ".")], nil
}

// nativeResponse is a policy.Response made of a scenario's upstream.
type nativeResponse struct{ up scenario.Upstream }

func (n nativeResponse) Status() (string, error) { return strconv.Itoa(n.up.Status), nil }

func (n nativeResponse) Header(name string) (string, error) { return joined(n.up.Headers, name), nil }

// joined returns all values of a header with commas between.
func joined(headers [][2]string, name string) string {
	var values []string
	for _, h := range headers {
		if h[0] == name {
			values = append(values, h[1])
		}
	}
	return strings.Join(values, ",")
}
