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

func TestCompileGood(t *testing.T) {
	const defaults = `test, 100000 keys, full allow, error allow, reply 429 "local_rate_limited", retry-after true: `
	wants := map[string]string{
		"shortest":        defaults + "a [] client_ip 1/1s",
		"no-rules":        defaults,
		"byte-order-mark": defaults + "a [] client_ip 1/1s",
		"blanks-around":   defaults + "a [] client_ip 1/1s",
		"windows":         defaults + "a [] client_ip 1/1ms 1/500ms 1/1s 1/1m0s 1/1h30m0s 1/24h0m0s 1/36h0m0s 1/8784h0m0s",
		"whole-numbers": `test, 1000 keys, full allow, error allow, reply 429 "local_rate_limited", retry-after true: ` +
			"a [{3 {24 56}}] client_ip 1000000/1s 1000000/1m0s 1000000/1h0m0s",
		"everything": `edge, 10 keys, full deny, error deny, reply 503 "slow down", retry-after false: ` +
			"per-user_2 {{ /api/} [GET POST]} [{2 {x-user-id}} {3 {32 64}} {3 {32 56}} {4 {é}}] reject 10/1s(inclusive) 1000/1h0m0s; " +
			"login {{/login } []} [] shared 5/1m0s",
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

// describe writes out a policy in one line.
func describe(p *Policy) string {
	var rules []string
	for _, r := range p.Rules {
		words := []string{r.Name}
		if !reflect.DeepEqual(r.match, match{}) {
			words = append(words, fmt.Sprint(r.match))
		}
		words = append(words, fmt.Sprint(r.key), string(r.onMissing))
		for i := range r.Limits.Len() {
			l := r.Limits.At(i)
			word := fmt.Sprintf("%d/%v", l.Requests, l.Window)
			if l.Inclusive {
				word += "(inclusive)"
			}
			words = append(words, word)
		}
		rules = append(rules, strings.Join(words, " "))
	}
	return fmt.Sprintf("%s, %d keys, full %s, error %s, reply %d %q, retry-after %v: %s",
		p.Namespace, p.Store.MaxKeys, p.Store.OnFull, p.OnError, p.reply.status, p.reply.body, p.retryAfter, strings.Join(rules, "; "))
}

// TestEveryFieldIsStrict misspells each field of the fullest configuration
// (B56): none may be passed over.
func TestEveryFieldIsStrict(t *testing.T) {
	full := string(fixtures(t, "good")["everything"])
	names := []string{
		"namespace", "rules", "reply", "headers", "on_error", "store", "name", "match", "key", "on_missing_key", "limits",
		"path", "methods", "prefix", "exact", "header", "client_ip", "ipv6_prefix", "constant",
		"requests", "window", "algorithm", "inclusive", "status", "body", "format", "text", "max_keys", "on_full",
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
