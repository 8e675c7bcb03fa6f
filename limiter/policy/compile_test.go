package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// fixtures returns the files testdata/DIR/*.json by their names.
func fixtures(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures in testdata/%s: %v", dir, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".json")] = data
	}
	return files
}

// TestCompileBad compares the error of each testdata/bad/NAME.json with
// NAME.error, and so holds B36, B38, B56, B59 and B60.
func TestCompileBad(t *testing.T) {
	for name, data := range fixtures(t, "bad") {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", "bad", name+".error"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := Compile(data, "test")
			if p != nil || err == nil {
				t.Fatalf("Compile(%s) = %v, %v, want an error", data, p, err)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("Compile(%s) =\n%swant\n%s", data, got, want)
			}
		})
	}
}

// TestCompileGood compares what each testdata/good/NAME.json compiles to.
func TestCompileGood(t *testing.T) {
	const defaults = `test, 100000 keys, full allow, error allow, reply 429/8 "" "local_rate_limited" [], headers {true false false}, 1 replicas`
	const a = "a [] client_ip cost 1 100%"
	wants := map[string]string{
		"shortest":        defaults + "; " + a + " a=1/1s",
		"no-rules":        defaults,
		"byte-order-mark": defaults + "; " + a + " a=1/1s",
		"blanks-around":   defaults + "; " + a + " a=1/1s",
		"windows": defaults + "; " + a + " a-1ms=1/1ms a-500ms=1/500ms a-1s=1/1s a-1m=1/1m0s a-90m=1/1h30m0s a-1d=1/24h0m0s a-36h=1/36h0m0s" +
			" a-366d=1/8784h0m0s",
		"whole-numbers": `test, 1000 keys, full allow, error allow, reply 429/8 "" "local_rate_limited" [], headers {true false false}, 1 replicas; ` +
			"a [{3 {24 56}}] client_ip cost 1 100% a-1s=1000000/1s a-1m=1000000/1m0s a-1h=1000000/1h0m0s",
		"everything": `edge, 10 keys, full deny, error deny, reply 503/14 "" "slow down" [[x-team edge]], headers {false true true}, 2 replicas, ` +
			`exempt path "/healthz".""."" exempt clients [10.0.0.0/8 2001:db8::1/128] exempt path ""."".".js" preflight; ` +
			`per-user_2 path ""."/api/"."" methods [GET POST] host ""."".".example.com" ` +
			`x-tier "free".""."" x-a ""."a"."" x-b "".""."b" x-c ^(?:c+)$ x-d absent x-e ""."".""` + " " +
			`[{2 {2 x-user-id}} {3 {32 64}} {3 {24 56}} {4 {4 é}}] reject cost 2 to 50 by x-cost 100% burst-10=5/1s(inclusive) per-user_2-1h=500/1h0m0s ` +
			`override[per-user_2=50/1s] override[unlimited] override[block]; ` +
			`login path "/login".""."" [{5 {5 sid}} {6 {6 q}} {7 {7 }} {8 {8 }} {9 {9 }} {10 {10 }} ` +
			`{11 {metadata/filter_metadata/envoy.filters.http.jwt_authn/payload/sub}} {11 {metadata/filter_metadata/envoy.filters.http.jwt_authn/jwt/realm/id}} ` +
			`{12 {12 }} {13 {13 xds/route_name}} {14 {14 connection/id}}] shared cost 1 charged for [401 4xx] by {x-units 1 9} 100% login=2/1m0s(6 buckets); ` +
			`trial path ^(?:/[0-9]+)$ [] client_ip cost 3 shadow 50% trial=5/1s(burst 10)`,
		"global-redis": strings.Replace(defaults, "1 replicas", "3 replicas", 1) +
			` redis at redis within 50ms, 20 pending, domain "", dialect "upstash" as "eu1.upstash.example" with "t0ps3cret", secret true, error deny; ` +
			`both [{2 {2 x-k}}] client_ip cost 1 100% both=10/1s global[both-global-1s=10/1s both-global-1h=100/1h0m0s(6 buckets) of which here ` +
			`both-global-1s=3/1s both-global-1h=33/1h0m0s(6 buckets)] override[both-global=7/1s(burst 21) of which here both-global=2/1s(burst 7)] ` +
			`override[unlimited] override[block]; shared-only [] client_ip cost 1 shadow 100%  global[one=2/1m0s(inclusive) of which here one=1/1m0s(inclusive)]; ` +
			`local-only [] client_ip cost 1 100% local-only=2/1m0s`,
		"global-redis-least": defaults + ` redis at r within 20ms, 1000 pending, domain "", dialect "webdis" as "r" with "", secret false, error local; ` +
			`a [] client_ip cost 1 100%  global[a=1/1s of which here a=1/1s]`,
		"global-rls": defaults + ` rls at limits within 1m0s, 1000000 pending, domain "edge", dialect "" as "limits" with "", secret true, error allow; ` +
			`default [{2 {2 x-k}} {3 {24 64}}] client_ip cost 1 100%  global[rule="default":-1 header x-k="":0 client_ip /24 or /64="":1] override[default=9/1s]; ` +
			`own [{2 {2 x-k}} {7 {7 }}] client_ip cost 1 100% own=5/1s global[tier="free_1":-1 path="":1 user="":0]`,
	}
	files := fixtures(t, "good")
	for name, data := range files {
		if got := describe(mustCompile(t, string(data))); got != wants[name] {
			t.Errorf("Compile(good/%s) =\n%s, want\n%s", name, got, wants[name])
		}
	}
	if len(files) != len(wants) {
		t.Errorf("%d fixtures in testdata/good, want %d", len(files), len(wants))
	}
}

// TestEveryFieldIsStrict misspells each field of the fullest configuration
// (B56): none may be passed over.
func TestEveryFieldIsStrict(t *testing.T) {
	full := string(fixtures(t, "good")["everything"])
	names := []string{
		"namespace", "rules", "exempt", "reply", "headers", "on_error", "store", "replicas",
		"name", "match", "key", "on_missing_key", "limits", "overrides", "cost", "charge", "shadow", "enforce_percent",
		"path", "methods", "host", "exact", "prefix", "suffix", "regex", "present", "preflight",
		"header", "cookie", "query", "constant", "client_ip", "ipv4_prefix", "ipv6_prefix", "method", "bearer_token",
		"jwt_claim", "names", "provider_key", "peer_identity", "route", "property",
		"requests", "window", "algorithm", "burst", "buckets", "inclusive", "unlimited", "block", "default", "max", "when", "statuses",
		"status", "grpc_status", "body", "format", "text", "max_keys", "on_full",
	}
	for _, name := range names {
		for _, spelling := range []string{name + "x", strings.ToUpper(name[:1]) + name[1:]} {
			field := `"` + name + `":`
			if !strings.Contains(full, field) {
				t.Fatalf("testdata/good/everything.json has no field %q", name)
			}
			_, err := Compile([]byte(strings.Replace(full, field, `"`+spelling+`":`, 1)), "test")
			want := fmt.Sprintf("%s: unknown field, did you mean %q?", spelling, name)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Compile(%s for %s) = %v, want %s", spelling, name, err, want)
			}
		}
	}
}

func TestLargestLimits(t *testing.T) {
	p := mustCompile(t, `{"rules": [{"name": "a", "key": [], "limits": [{"requests": 1, "window": "365d"}]}]}`)
	e := NewEvaluator(p, newTable(t, p))
	e.run(t, []step{{at: 0, req: get("/")}})
	v := e.Evaluate(limiter.At(time.Second), get("/"))
	if want := [][2]string{{"retry-after", "31535999"}}; v.Reply == nil || !reflect.DeepEqual(v.Reply.Headers, want) {
		t.Errorf("Evaluate(1s) = %+v, want headers %v", v.Reply, want)
	}
}

func FuzzCompile(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		for _, data := range fixtures(f, dir) {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Compile(data, "test")
		if err != nil {
			if p != nil || err.Error() == "" || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("Compile(%q) = %v, %q, want no policy and one line", data, p, err)
			}
			return
		}
		again, err := Compile(data, "test")
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("Compile(%q) again = %+v, %v, want %+v", data, again, err, p)
		}
	})
}
