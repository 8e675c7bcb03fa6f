package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// A cause is a way in which an engine fails, and the counter that tells of it.
type cause struct {
	name    string
	fail    func(c *caller, call *wasmhost.Call) error
	counter string
}

// says is an answer of HTTP.
func says(status int, body string) func(*caller, *wasmhost.Call) error {
	return func(c *caller, call *wasmhost.Call) error {
		return c.vm.AnswerHTTP(c.Context(), call.Token, status, [][2]string{{"content-type", "application/json"}}, []byte(body))
	}
}

func sends(message string) func(*caller, *wasmhost.Call) error {
	return func(c *caller, call *wasmhost.Call) error {
		return c.vm.AnswerGRPC(c.Context(), call.Token, []byte(message))
	}
}

func closes(code int) func(*caller, *wasmhost.Call) error {
	return func(c *caller, call *wasmhost.Call) error { return c.vm.CloseGRPC(c.Context(), call.Token, code) }
}

func numbers(list string) func(*caller, *wasmhost.Call) error {
	return says(200, `{"EVALSHA":[`+list+`]}`)
}

var redisCauses = []cause{
	{"no answer", func(c *caller, call *wasmhost.Call) error { return c.vm.FailHTTP(c.Context(), call.Token) }, "unreachable"},
	{"503", says(503, "no healthy upstream"), "unreachable"},
	{"504", says(504, "upstream request timeout"), "timeout"},
	{"500", says(500, ""), "rejected"},
	{"401", says(401, `{"error":"Unauthorized"}`), "rejected"},
	{"302", says(302, reply(admits)), "rejected"},
	{"204", says(204, ""), "rejected"},
	{"400 with an error", says(400, `{"error":"ERR wrong number of arguments"}`), "rejected"},
	{"400 with none", says(400, "Bad Request"), "malformed"},
	{"200 with an error", says(200, `{"EVALSHA":[false,"OOM command not allowed"]}`), "rejected"},
	{"empty", says(200, ""), "malformed"},
	{"garbage", says(200, "\x00\xff{["), "malformed"},
	{"a page", says(200, "<html>captive portal</html>"), "malformed"},
	{"cut short", says(200, reply(admits)[:len(reply(admits))-2]), "malformed"},
	{"too few", numbers("1,1,0,1,2,1,0"), "malformed"},
	{"too many", says(200, reply(admits, admits)), "malformed"},
	{"none", numbers(""), "malformed"},
	{"null", says(200, `{"EVALSHA":null}`), "malformed"},
	{"text for a number", numbers(`1,1,0,"1",2,1,0,3600000000`), "malformed"},
	{"a fraction", numbers("1,1,0,1,2,0.5,0,3600000000"), "malformed"},
	{"more than 64 bits", numbers("1,1,0,1,2,1,0,99999999999999999999"), "malformed"},
	{"remaining below 0", numbers("1,1,0,1,2,-1,0,3600000000"), "malformed"},
	{"remaining above the limit", numbers("1,1,0,1,2,3,0,3600000000"), "malformed"},
	{"admitted with a wait", numbers("1,1,0,1,2,1,5,3600000000"), "malformed"},
	{"refused without", numbers("1,0,0,0,2,0,0,3600000000"), "malformed"},
	{"more corrupt than was asked for", numbers("1,1,2,1,2,1,0,3600000000"), "malformed"},
	{"corrupt below 0", numbers("1,1,-1,1,2,1,0,3600000000"), "malformed"},
	{"neither admitted nor refused", numbers("1,2,0,2,2,1,0,3600000000"), "malformed"},
	{"huge", says(200, `{"EVALSHA":[`+strings.Repeat("1,", 1<<18)+`1]}`), "malformed"},
	{"deep", says(200, strings.Repeat(`{"a":[`, 50_000)), "malformed"},
}

var rlsCauses = []cause{
	{"deadline", closes(4), "timeout"},
	{"unavailable", closes(14), "unreachable"},
	{"permission", closes(7), "rejected"},
	{"unknown method", closes(12), "rejected"},
	{"no such code", closes(-1), "rejected"},
	{"closed well without an answer", closes(0), "rejected"},
	{"empty", sends(""), "malformed"},
	{"garbage", sends("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "malformed"},
	{"text", sends("<html>captive portal</html>"), "malformed"},
	{"no code of the whole", func(c *caller, call *wasmhost.Call) error {
		return c.vm.AnswerGRPC(c.Context(), call.Token, c.message(statusOf(rlsOK, 1))[2:])
	}, "malformed"},
	{"two statuses", func(c *caller, call *wasmhost.Call) error {
		return c.vm.AnswerGRPC(c.Context(), call.Token, c.message(statusOf(rlsOK, 1), statusOf(rlsOK, 1)))
	}, "malformed"},
	{"unknown code", func(c *caller, call *wasmhost.Call) error {
		return c.vm.AnswerGRPC(c.Context(), call.Token, c.message(statusOf(0, 1)))
	}, "malformed"},
	{"cut short", func(c *caller, call *wasmhost.Call) error {
		b := c.message(statusOf(rlsOK, 1))
		return c.vm.AnswerGRPC(c.Context(), call.Token, b[:len(b)-1])
	}, "malformed"},
}

// TestCausesOfFailure: a failure that admits or refuses other than
// on_global_error says, that another counter tells of, or that ends the VM.
func TestCausesOfFailure(t *testing.T) {
	for _, policy := range []string{"local", "allow", "deny"} {
		onError := fmt.Sprintf(`"on_global_error": %q,`, policy)
		redis, rls := newCaller(t, sharedByRedis("", onError)), newCaller(t, sharedByRLS("", onError))
		for _, cause := range redisCauses {
			t.Run(policy+"/redis/"+cause.name, func(t *testing.T) { redis.fails(t, cause, policy, true) })
		}
		for _, cause := range rlsCauses {
			t.Run(policy+"/rls/"+cause.name, func(t *testing.T) { rls.fails(t, cause, policy, false) })
		}
	}
}

// fails sends three requests of a key, all of which the engine fails. Of Redis
// the policy knows a limit, which is two; of a service it knows none.
func (c *caller) fails(t *testing.T, cause cause, policy string, known bool) {
	c.T = t
	for i := range 3 {
		e, call := c.paused(cause.name)
		c.must(cause.fail(c, call))
		switch {
		case policy == "deny":
			c.check(e, 503, "local_rate_limit_error")
		case policy == "local" && known && i == 2:
			c.check(e, 429, "local_rate_limited{two}")
			c.headers(e, map[string]string{"retry-after": "3600"})
		default:
			c.check(e, 200, "")
		}
		if len(c.vm.Calls()) != 0 {
			t.Error("there is another call")
		}
	}
	c.counted("calls=3 " + cause.counter + "=3")
	if logs := c.host.Logs(); len(logs) > 0 {
		t.Errorf("logged %q", logs)
	}
}

// TestCallThatCannotBeMade: a cluster that is not there must neither hang
// requests nor pass for admission where on_global_error says deny.
func TestCallThatCannotBeMade(t *testing.T) {
	for call, configuration := range map[string]func(string, string) string{"proxy_http_call": sharedByRedis, "proxy_grpc_call": sharedByRLS} {
		c := newCaller(t, configuration(`, "max_pending": 1`, `"on_global_error": "deny",`))
		c.host.Fault = func(name, _ string) wasmhost.Status {
			if name == call {
				return wasmhost.BadArgument
			}
			return wasmhost.OK
		}
		for i := range 3 {
			c.check(c.begin(fmt.Sprint(i)), 503, "local_rate_limit_error")
		}
		c.counted("unreachable=3")
		if logs := c.host.Logs(); len(logs) != 1 || logs[0] != "error: weir: "+call+": status 2" {
			t.Errorf("logged %q", logs)
		}
		c.host.Fault = nil
		c.host.SetNow(2 * time.Hour)
		e, made := c.paused("a")
		c.answerAs(made, true)
		c.check(e, 200, "")
	}
}
