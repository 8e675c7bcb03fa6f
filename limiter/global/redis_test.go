package global

import (
	"crypto/sha1"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// TestScript is what Redis knows it by, and of the parts that lie beside.
func TestScript(t *testing.T) {
	sum := sha1.Sum([]byte(Script))
	if got := hex.EncodeToString(sum[:]); got != scriptSHA1 {
		t.Errorf("the script is %s to Redis, and not %s: change scriptSHA1", got, scriptSHA1)
	}
	var text string
	for _, part := range []string{"arithmetic", "sliding", "bucket", "take"} {
		data, err := os.ReadFile(part + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	if text != Script {
		t.Error("the script is not made of its parts")
	}
}

// TestCommand holds the arguments to the contract at the head of take.lua.
func TestCommand(t *testing.T) {
	_, asks := asksOf(t, redisConfig("", twoWindows+","+shadowBucket), hit{user: "alice", cost: "3"})
	key := func(i int) string { return asks[i].Key.String() }
	want := command{
		"EVALSHA", scriptSHA1, "3",
		"weir:a:{" + key(0) + "}:sliding_log:1000000",
		"weir:a:{" + key(0) + "}:sliding_buckets:3600000000:60",
		"weir:b:{" + key(1) + "}:token_bucket:60000000",
		"", "take",
		"0", "", "3", "sliding_log", "10", "1000000", "0",
		"0", "", "3", "sliding_buckets", "500", "3600000000", "60",
		"1", "s", "1", "token_bucket", "20", "60000000", "5",
	}
	if got := evalsha(asks); !slices.Equal(got, want) {
		t.Errorf("command\n%q, want\n%q", got, want)
	}
	want[0], want[1] = "EVAL", Script
	if got := evalScript(asks); !slices.Equal(got, want) {
		t.Errorf("command with the script\n%q, want\n%q", got, want)
	}
	_, asks = asksOf(t, redisConfig("", `{"name": "a", "key": [], "global": {"limits": [{"requests": 2, "window": "1s", "inclusive": true}]}}`), hit{})
	if got := evalsha(asks); got[len(got)-1] != "1" {
		t.Errorf("%q, want an inclusive window", got)
	}
}

// TestKeysTellWindowsApart, and nothing of what the client sent.
func TestKeysTellWindowsApart(t *testing.T) {
	seen := map[string]bool{}
	for _, user := range []string{"alice", "bob"} {
		for _, rules := range []string{twoWindows, strings.Replace(twoWindows, `"a"`, `"c"`, 1), strings.Replace(twoWindows, "1h", "2h", 1)} {
			_, asks := asksOf(t, redisConfig("", rules), hit{user: user})
			for _, key := range evalsha(asks)[3:5] {
				if strings.Contains(key, user) {
					t.Errorf("key %q has the client's word in it", key)
				}
				seen[key] = true
			}
		}
	}
	if len(seen) != 10 { // the windows of a second are the same with either hour
		t.Errorf("%d keys, want 10: %v", len(seen), seen)
	}
	_, asks := asksOf(t, redisConfig(`, "secret": "0123456789abcdef"`, twoWindows), hit{user: "alice"})
	if seen[evalsha(asks)[3]] {
		t.Error("the secret changes no key")
	}
}

// TestAnswers reads replies of the script, and refuses what is none.
func TestAnswers(t *testing.T) {
	_, asks := asksOf(t, redisConfig("", twoWindows+","+shadowBucket), hit{user: "alice"})
	good := []int64{1, 0, 0, 0, 10, 0, 250_000, 900_000, 1, 500, 499, 0, 3_600_000_000, 0, 20, 20, -1, 0}
	got, corrupt, err := answers(good, asks)
	if err != nil || corrupt != 0 || len(got) != 2 || len(got[0].Each) != 2 || len(got[1].Each) != 1 {
		t.Fatalf("answers %+v, %d corrupt, %v", got, corrupt, err)
	}
	want := []limiter.Decision{
		{Limit: 10, RetryAfter: 250 * time.Millisecond, ResetAfter: 900 * time.Millisecond},
		{Allowed: true, Limit: 500, Remaining: 499, ResetAfter: time.Hour},
		{Limit: 20, Remaining: 20, RetryAfter: limiter.Never},
	}
	if !slices.Equal(append(got[0].Each, got[1].Each...), want) {
		t.Errorf("decisions %+v, want %+v", got, want)
	}
	good[2] = 3 // all of them
	if _, corrupt, err := answers(good, asks); corrupt != 3 || err != nil {
		t.Errorf("%d corrupt, %v, want 3", corrupt, err)
	}
	for i, wrong := range map[int][]int64{ // at an index, values that make no sense there
		2: {-1, 4, 1 << 62}, 3: {2, -1, 1}, 4: {0, -5}, 5: {-1, 11}, 6: {-2, 0}, 7: {-1}, 8: {0}, 11: {5, -1},
	} {
		for _, value := range wrong {
			bad := slices.Clone(good)
			bad[i] = value
			if got, _, err := answers(bad, asks); err == nil {
				t.Errorf("%d at %d: %+v, want an error", value, i, got)
			}
		}
	}
	for n := range len(good) + 2 {
		bad := append(slices.Clone(good), 0, 0)[:n]
		if _, _, err := answers(bad, asks); (err == nil) != (n == len(good)) {
			t.Errorf("%d integers of %d: %v", n, len(good), err)
		}
	}
}

// TestRedisRequest is what each dialect wants.
func TestRedisRequest(t *testing.T) {
	const rule = `{"name": "a", "key": [], "global": {"limits": [{"requests": 2, "window": "1s"}]}}`
	for _, test := range []struct {
		engine       string
		headers      [][2]string
		begins, ends string
	}{
		{"", [][2]string{{":method", "POST"}, {":path", "/"}, {":authority", "c"}}, "EVALSHA/" + scriptSHA1 + "/1/weir%3Aa%3A%7B", "%7D%3Asliding_log%3A1000000//take/0//1/sliding_log/2/1000000/0"},
		{`, "token": "user:pass", "authority": "redis.test"`, [][2]string{{":method", "POST"}, {":path", "/"}, {":authority", "redis.test"}, {"authorization", "Basic dXNlcjpwYXNz"}}, "EVALSHA/", "/0"},
		{`, "dialect": "upstash", "token": "T"`, [][2]string{{":method", "POST"}, {":path", "/"}, {":authority", "c"}, {"content-type", "application/json"}, {"authorization", "Bearer T"}},
			`["EVALSHA","` + scriptSHA1 + `","1","weir:a:{`, `}:sliding_log:1000000","","take","0","","1","sliding_log","2","1000000","0"]`},
	} {
		g, asks := asksOf(t, redisConfig(test.engine, rule), hit{})
		m := RedisRequest(g, asks, false)
		if body := string(m.Body); !slices.Equal(m.Headers, test.headers) || !strings.HasPrefix(body, test.begins) || !strings.HasSuffix(body, test.ends) {
			t.Errorf("%s: %v\n%s", test.engine, m.Headers, body)
		}
		if body := RedisRequest(g, asks, true).Body; len(body) < len(Script) {
			t.Errorf("%s: the script is not sent along: %s", test.engine, body)
		}
	}
}

// TestParseRedisReply reads bodies of both dialects.
func TestParseRedisReply(t *testing.T) {
	g, asks := asksOf(t, redisConfig("", `{"name": "a", "key": [], "global": {"limits": [{"requests": 2, "window": "1s"}]}}`), hit{})
	for body, want := range map[string]error{
		`{"EVALSHA":[5,1,0,1,2,1,0,1000000]}`: nil, `{"result":[5,1,0,1,2,1,0,1000000]}`: nil, "{\"EVAL\":[5,1,0,1,2,1,0,1000000]}\r\n": nil,
		`{"EVALSHA":[false,"NOSCRIPT No matching script."]}`: ErrNoScript, `{"error":"NOSCRIPT No matching script."}`: ErrNoScript,
		`{"EVALSHA":[false,"OOM command not allowed"]}`: ErrRedis, `{"error":"WRONGPASS"}`: ErrRedis, `{"EVALSHA":[false]}`: ErrRedis,
		`{"EVALSHA":[5,1,0,1,2,1,0]}`: errReply, `{"EVALSHA":[5,1,0,1,2,1,0,1e99]}`: errReply, `{"EVALSHA":["5"]}`: errReply, `{"EVALSHA":{}}`: errReply,
		`{"EVALSHA":null}`: errReply, `{"error":`: errReply, `{}`: errReply, `[]`: errReply, ``: errReply, `{"EVALSHA":[5,1,0,1,2,1,0,1000000`: errReply,
		`{"EVALSHA":[[5]]}`: errReply, `<html>`: errReply,
	} {
		got, corrupt, err := ParseRedisReply(g, []byte(body), asks)
		if err != want || (err == nil) != (len(got) == 1) || corrupt != 0 {
			t.Errorf("%s: %v, %d corrupt, %v, want %v", body, got, corrupt, err, want)
		}
	}
	for _, body := range []string{`{"EVALSHA":[5,1,1,1,2,1,0,1000000]}`, `{"result":[5,1,1,1,2,1,0,1000000]}`} {
		if got, corrupt, err := ParseRedisReply(g, []byte(body), asks); len(got) != 1 || corrupt != 1 || err != nil {
			t.Errorf("%s: %v, %d corrupt, %v, want 1", body, got, corrupt, err)
		}
	}
}

// FuzzParseRedisReply never panics, and takes nothing that makes no sense.
func FuzzParseRedisReply(f *testing.F) {
	g, asks := asksOf(f, redisConfig("", twoWindows), hit{user: "alice"})
	for _, seed := range []string{`{"EVALSHA":[1,0,0,0,10,0,250,900,1,500,499,0,3600]}`, `{"error":"NOSCRIPT"}`, `{"EVALSHA":[false,"x"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		checkAnswers(t, asks, func() ([]policy.Answer, error) {
			list, corrupt, err := ParseRedisReply(g, body, asks)
			if corrupt < 0 || corrupt > 2 {
				t.Errorf("%d corrupt values of 2", corrupt)
			}
			return list, err
		})
	})
}

// checkAnswers holds what was parsed to what a decision can be.
func checkAnswers(t *testing.T, asks []policy.Ask, parse func() ([]policy.Answer, error)) {
	t.Helper()
	got, err := parse()
	if err != nil {
		return
	}
	if len(got) != len(asks) {
		t.Fatalf("%d answers to %d asks", len(got), len(asks))
	}
	for _, a := range got {
		for _, d := range a.Each {
			if d.Remaining < 0 || d.Remaining > d.Limit || d.RetryAfter < 0 || d.ResetAfter < 0 || d.Allowed && d.RetryAfter != 0 {
				t.Errorf("decision %+v", d)
			}
		}
	}
}
