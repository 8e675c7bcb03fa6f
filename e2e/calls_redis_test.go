package e2e

import (
	"crypto/sha1" //nolint:gosec // Redis knows scripts by it
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
	"github.com/weirproxy/weir/limiter/global"
)

// commandOf takes the command apart that a call carries.
func (c *caller) commandOf(call *wasmhost.Call, dialect string) (command []string) {
	c.Helper()
	if dialect == "upstash" {
		c.must(json.Unmarshal(call.Body, &command))
		return command
	}
	for _, part := range strings.Split(string(call.Body), "/") {
		text, err := url.PathUnescape(part)
		c.must(err)
		command = append(command, text)
	}
	return command
}

var keyOfTwo = regexp.MustCompile(`^weir:two:\{[0-9a-f]{32}\}:sliding_log:3600000000$`)

// TestRedisIsAskedOnce: a request that is not paused, or asks twice, or asks
// elsewhere, or without the token, or for something else.
func TestRedisIsAskedOnce(t *testing.T) {
	sum := sha1.Sum([]byte(global.Script)) //nolint:gosec // as above
	for _, test := range []struct {
		engine, dialect string
		headers         [][2]string
		timeout         time.Duration
	}{
		{``, "webdis", [][2]string{{":authority", "redis"}}, 20 * time.Millisecond},
		{`, "token": "user:pass", "authority": "door:7379", "timeout": "1500ms"`, "webdis",
			[][2]string{{":authority", "door:7379"}, {"authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("user:pass"))}}, 1500 * time.Millisecond},
		{`, "dialect": "upstash", "token": "t0ken", "authority": "eu1.upstash.example"`, "upstash",
			[][2]string{{":authority", "eu1.upstash.example"}, {"content-type", "application/json"}, {"authorization", "Bearer t0ken"}}, 20 * time.Millisecond},
	} {
		c := newCaller(t, sharedByRedis(test.engine, ``))
		e, call := c.paused("a")
		headers := append([][2]string{{":method", "POST"}, {":path", "/"}}, test.headers...)
		if call.Cluster != "redis" || call.Timeout != test.timeout || !slices.Equal(call.Headers, headers) {
			t.Errorf("%s: cluster %q, timeout %v, headers %q, want %q", test.dialect, call.Cluster, call.Timeout, call.Headers, headers)
		}
		command := c.commandOf(call, test.dialect)
		want := []string{"EVALSHA", hex.EncodeToString(sum[:]), "1", "key", "", "take", "0", "", "1", "sliding_log", "2", "3600000000", "0"}
		if len(command) < 4 || !keyOfTwo.MatchString(command[3]) {
			t.Fatalf("command %q", command)
		}
		command[3] = "key"
		if !slices.Equal(command, want) {
			t.Errorf("command %q, want %q", command, want)
		}
		c.answer(call, strings.ReplaceAll(reply(admits), "EVALSHA", map[string]string{"webdis": "EVALSHA", "upstash": "result"}[test.dialect]))
		c.check(e, 200, "")
		c.counted("calls=1")
	}
}

// TestRedisDecides: an answer that is not heard, a refusal with other numbers
// than the engine's, or headers of the upstream beside our own.
func TestRedisDecides(t *testing.T) {
	c := newCaller(t, sharedByRedis("", ""))
	r := keyed("a")
	r.Upstream = wasmhost.Upstream{Status: 203, Headers: [][2]string{{"ratelimit", "theirs"}, {"RateLimit-Policy", "theirs"}, {"x-ratelimit-limit", "77"}, {"x-other", "stays"}}}
	e, err := c.vm.Begin(t.Context(), r)
	c.must(err)
	c.answer(c.vm.Calls()[0], reply(admits))
	c.check(e, 203, "")
	c.headers(e, map[string]string{"x-other": "stays", "x-ratelimit-limit": "2", "x-ratelimit-remaining": "1",
		"ratelimit-policy": `"two";q=9;w=3600, "two-global";q=2;w=3600`, "ratelimit": `"two";r=8;t=3600, "two-global";r=1;t=3600`})

	e, call := c.paused("a")
	c.answer(call, reply(refuses))
	c.check(e, 429, "local_rate_limited{two}")
	c.headers(e, map[string]string{"retry-after": "30", "ratelimit": `"two-global";r=0;t=30`, "x-ratelimit-limit": "2", "x-ratelimit-remaining": "0"})
	if got := string(e.Response().Properties["weir.rule"]); got != "two" {
		t.Errorf("the access log may name the rule %q", got)
	}
	c.counted("calls=2")
	if logs := c.host.Logs(); len(logs) > 0 {
		t.Errorf("logged %q", logs)
	}
}

// headers checks that a response has these headers once, with these values.
func (c *caller) headers(e *wasmhost.Exchange, want map[string]string) {
	c.Helper()
	got := map[string][]string{}
	for _, h := range e.Response().Headers {
		got[h[0]] = append(got[h[0]], h[1])
	}
	for name, value := range want {
		if !slices.Equal(got[name], []string{value}) {
			c.Errorf("%s: %q, want %q", name, got[name], value)
		}
	}
}

// TestRedisIsSentTheScriptOnce: a Redis that was restarted would never be of use
// again, or one that forgets would be asked for ever.
func TestRedisIsSentTheScriptOnce(t *testing.T) {
	for _, dialect := range []string{"webdis", "upstash"} {
		c := newCaller(t, sharedByRedis(`, "dialect": "`+dialect+`", "max_pending": 1`, ""))
		unknown := func(call *wasmhost.Call) {
			if dialect == "upstash" {
				c.must(c.vm.AnswerHTTP(t.Context(), call.Token, 400, nil, []byte(`{"error":"NOSCRIPT No matching script."}`)))
			} else {
				c.answer(call, noScript)
			}
		}
		for i, forgets := range []bool{false, true} {
			e, first := c.paused("a")
			unknown(first)
			calls := c.vm.Calls()
			if e.Over() || len(calls) != 1 || calls[0].Token == first.Token {
				t.Fatalf("over %v, %d calls", e.Over(), len(calls))
			}
			was, is := c.commandOf(first, dialect), c.commandOf(calls[0], dialect)
			if is[0] != "EVAL" || is[1] != global.Script || !slices.Equal(is[2:], was[2:]) {
				t.Errorf("%s: after %q sent %q", dialect, was, is)
			}
			if forgets {
				unknown(calls[0])
				c.counted("calls=2 rejected=1")
			} else {
				c.answer(calls[0], reply(admits))
				c.counted("calls=2")
			}
			c.check(e, 200, "")
			if len(c.vm.Calls()) != 0 {
				t.Errorf("%s, %d: %d calls are left", dialect, i, len(c.vm.Calls()))
			}
		}
	}
}

// TestTheScriptHasTheTimeThatIsLeft: a request that finds a Redis without the script
// late must not wait for twice the timeout.
func TestTheScriptHasTheTimeThatIsLeft(t *testing.T) {
	for _, test := range []struct{ passed, left time.Duration }{
		{0, 20 * time.Millisecond}, {300 * time.Microsecond, 19 * time.Millisecond}, {15 * time.Millisecond, 5 * time.Millisecond},
		{19 * time.Millisecond, time.Millisecond}, {19*time.Millisecond + time.Microsecond, 0}, {20 * time.Millisecond, 0}, {time.Minute, 0},
	} {
		c := newCaller(t, sharedByRedis("", `"on_global_error": "deny",`))
		e, call := c.paused("a")
		c.host.SetNow(time.Hour + test.passed)
		c.answer(call, noScript)
		if calls := c.vm.Calls(); test.left > 0 {
			if e.Over() || len(calls) != 1 || calls[0].Timeout != test.left {
				t.Errorf("after %v: over %v, calls %+v, want one of %v", test.passed, e.Over(), calls, test.left)
			}
			c.counted("calls=2")
			continue
		}
		c.check(e, 503, "local_rate_limit_error")
		c.counted("calls=1 timeout=1")
	}
}

// TestRedisTellsWhatIsCorrupt: a window that Redis found to make no sense begins
// anew, which nobody would know if it were not counted with those of this proxy.
func TestRedisTellsWhatIsCorrupt(t *testing.T) {
	for dialect, body := range map[string]string{"webdis": `{"EVALSHA":[1,`, "upstash": `{"result":[1,`} {
		c := newCaller(t, sharedByRedis(`, "dialect": "`+dialect+`"`, ""))
		for i, test := range []struct {
			numbers string
			status  int
			counted int64
		}{
			{"1,0,1,2,1,0,3600000000", 200, 0},
			{"1,1,1,2,1,0,3600000000", 200, 1},
			{"0,1,0,2,2,-1,0", 429, 2}, // whose cost never fits
			{"1,0,1,2,1,0,3600000000", 200, 2},
			{"1,2,1,2,1,0,3600000000", 200, 2}, // makes no sense itself
		} {
			e, call := c.paused(fmt.Sprint(i))
			c.answer(call, body+test.numbers+"]}")
			n, ok := c.host.Metrics.Get("weir.filter.e2e.corrupt")
			if got := e.Response(); !e.Over() || got.Status != test.status || n != test.counted || !ok {
				t.Errorf("%s, %s: status %d, %d corrupt, want %d and %d", dialect, test.numbers, got.Status, n, test.status, test.counted)
			}
		}
		c.counted("calls=5 malformed=1")
		if logs := c.host.Logs(); len(logs) > 0 {
			t.Errorf("logged %q", logs)
		}
	}
}
