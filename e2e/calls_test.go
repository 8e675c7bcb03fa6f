package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// A caller is a VM whose requests wait for an engine, which the test is.
type caller struct {
	*testing.T
	host   *wasmhost.Host
	vm     *wasmhost.VM
	counts map[string]int64 // of the engine's metrics, when they were last checked
}

// sharedByRedis and sharedByRLS are configurations of a rule, "two", with a
// local limit of nine an hour and a global one, and with more members of the
// engine and of the whole.
func sharedByRedis(engine, members string) string {
	return fmt.Sprintf(`{"global": {"redis": {"cluster": "redis"%s}}, %s
		"rules": [{"name": "two", "match": {"path": {"prefix": "/"}}, "key": [{"header": "x-key"}, {"client_ip": true}],
			"limits": [{"requests": 9, "window": "1h"}], "global": {"limits": [{"requests": 2, "window": "1h"}]}}],
		"headers": ["retry-after", "ratelimit", "x-ratelimit"]}`, engine, members)
}

func sharedByRLS(engine, members string) string {
	return fmt.Sprintf(`{"global": {"rls": {"cluster": "limits", "domain": "edge"%s}}, %s
		"rules": [{"name": "two", "key": [{"header": "x-key"}, {"client_ip": true}],
			"limits": [{"requests": 9, "window": "1h"}], "global": {}}],
		"headers": ["retry-after", "ratelimit", "x-ratelimit"]}`, engine, members)
}

func newCaller(t *testing.T, configuration string) *caller {
	t.Helper()
	host := newHost(t, readModule(t))
	c := &caller{T: t, host: host, vm: newVM(t, host, configuration), counts: map[string]int64{}}
	c.host.SetNow(time.Hour)
	return c
}

func (c *caller) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// begin sends a request of a key.
func (c *caller) begin(key string) *wasmhost.Exchange {
	c.Helper()
	e, err := c.vm.Begin(c.Context(), keyed(key))
	c.must(err)
	return e
}

// paused sends a request of a key that must wait for one call.
func (c *caller) paused(key string) (*wasmhost.Exchange, *wasmhost.Call) {
	c.Helper()
	before := len(c.vm.Calls())
	e := c.begin(key)
	calls := c.vm.Calls()
	if e.Over() || len(calls) != before+1 {
		c.Fatalf("key %s: over %v, %+v, and %d calls after %d", key, e.Over(), e.Response(), len(calls), before)
	}
	return e, calls[before]
}

// answer answers a call of Redis with status 200.
func (c *caller) answer(call *wasmhost.Call, body string) {
	c.Helper()
	c.must(c.vm.AnswerHTTP(c.Context(), call.Token, 200, nil, []byte(body)))
}

// check checks what a request has got.
func (c *caller) check(e *wasmhost.Exchange, status int, details string) {
	c.Helper()
	got := e.Response()
	if !e.Over() || got.Paused || got.Status != status || got.Details != details || got.Local != (details != "") {
		c.Errorf("over %v, response %+v, want status %d, details %q", e.Over(), got, status, details)
	}
}

// counted checks by how much the engine's metrics have moved since the last
// time, "calls=1 timeout=1", and no others.
func (c *caller) counted(want string) {
	c.Helper()
	var got []string
	for _, name := range []string{"calls", "shielded", "timeout", "unreachable", "rejected", "malformed", "overflow"} {
		n, ok := c.host.Metrics.Get("weir.filter.e2e.global_" + name)
		if !ok {
			c.Errorf("there is no metric %s", name)
		}
		if d := n - c.counts[name]; d != 0 {
			got = append(got, fmt.Sprintf("%s=%d", name, d))
		}
		c.counts[name] = n
	}
	if strings.Join(got, " ") != want {
		c.Errorf("counted %q, want %q", got, want)
	}
}

// flat checks that the memory is what it was, but for a megabyte: when Go collects
// garbage is not for a test to say.
func (c *caller) flat(pages uint32) {
	c.Helper()
	if got := c.vm.MemoryPages(); got > pages+16 {
		c.Errorf("%d pages of memory, and %d before", got, pages)
	}
}

// decided are the five numbers that the script gives for a limit.
type decided [5]int64

var (
	admits  = decided{1, 2, 1, 0, 3600e6}
	refuses = decided{0, 2, 0, 30e6, 1800e6}
)

// reply is what webdis says, when the script has decided.
func reply(limits ...decided) string {
	numbers := []int64{1700000000000000, 1, 0}
	for _, l := range limits {
		numbers[1] = min(numbers[1], l[0])
		numbers = append(numbers, l[:]...)
	}
	b, _ := json.Marshal(map[string][]int64{"EVALSHA": numbers})
	return string(b)
}

const noScript = `{"EVALSHA":[false,"NOSCRIPT No matching script. Please use EVAL."]}`

// statusOf is what a rate limit service says of a limit of two per hour.
func statusOf(code rlsv3.RateLimitResponse_Code, remaining uint32) *rlsv3.RateLimitResponse_DescriptorStatus {
	return &rlsv3.RateLimitResponse_DescriptorStatus{
		Code: code, LimitRemaining: remaining, DurationUntilReset: durationpb.New(30 * time.Second),
		CurrentLimit: &rlsv3.RateLimitResponse_RateLimit{Name: "theirs", RequestsPerUnit: 2, Unit: rlsv3.RateLimitResponse_RateLimit_HOUR},
	}
}

// message is a response of the service.
func (c *caller) message(statuses ...*rlsv3.RateLimitResponse_DescriptorStatus) []byte {
	c.Helper()
	response := &rlsv3.RateLimitResponse{OverallCode: rlsv3.RateLimitResponse_OK, Statuses: statuses}
	for _, s := range statuses {
		response.OverallCode = max(response.OverallCode, s.Code)
	}
	b, err := proto.Marshal(response)
	c.must(err)
	return b
}

const (
	rlsOK        = rlsv3.RateLimitResponse_OK
	rlsOverLimit = rlsv3.RateLimitResponse_OVER_LIMIT
)

// descriptor is a list of names and values, and one hit.
func descriptor(entries ...string) *ratelimitv3.RateLimitDescriptor {
	d := &ratelimitv3.RateLimitDescriptor{}
	for i := 0; i < len(entries); i += 2 {
		d.Entries = append(d.Entries, &ratelimitv3.RateLimitDescriptor_Entry{Key: entries[i], Value: entries[i+1]})
	}
	return d
}

var remainsHere = regexp.MustCompile(`"two";r=([0-9]+)`)

// remains checks what a response says is left of the local limit.
func (c *caller) remains(e *wasmhost.Exchange, want int) {
	c.Helper()
	for _, h := range e.Response().Headers {
		if m := remainsHere.FindStringSubmatch(h[1]); h[0] == "ratelimit" && m != nil && m[1] == strconv.Itoa(want) {
			return
		}
	}
	c.Errorf("headers %q, want %d units left", e.Response().Headers, want)
}
