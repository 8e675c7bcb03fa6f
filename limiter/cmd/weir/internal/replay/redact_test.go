package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/policy"
)

// TestRedact hides the operator's credentials too, and changes nothing else.
func TestRedact(t *testing.T) {
	const limits = `"limits": [{"requests": 1,   "window": "1s"}]`
	for config, want := range map[string]string{
		`{"rules": [ ]}`: `{"rules": [ ]}`,
		`{"rules": [ ], "global": {"redis": {"cluster": "c", "token": "T0P:S3CRET", "secret": "0123456789abcdef"}}}`:                                                                                                                         `{"rules": [ ], "global": {"redis": {"cluster": "c", "token": "#", "secret": "#"}}}`,
		`{"rules": [{"name": "a", "key": [{"header": "x-api-key"}, {"header": "x-user"}], "overrides": [{"key": ["K1", "alice"], "block": true}], ` + limits + `}]}`:                                                                         `{"rules": [{"name": "a", "key": [{"header": "x-api-key"}, {"header": "x-user"}], "overrides": [{"key": ["#", "alice"], "block": true}], ` + limits + `}]}`,
		`{"rules": [{"name": "a", "key": [{"cookie": "c"}, {"bearer_token": true}, {"property": ["x", "token"]}], "overrides": [{"key": ["A", "B\"", "C"], "unlimited": true}], ` + limits + `}]}`:                                           `{"rules": [{"name": "a", "key": [{"cookie": "c"}, {"bearer_token": true}, {"property": ["x", "token"]}], "overrides": [{"key": ["#", "#", "#"], "unlimited": true}], ` + limits + `}]}`,
		`{"exempt": [{"headers": [{"name": "Authorization", "exact": "Bearer X"}, {"name": "x-tier", "exact": "free"}]}], "rules": [{"name": "a", "match": {"headers": [{"name": "x-secret", "prefix": "p"}]}, "key": [], ` + limits + `}]}`: `{"exempt": [{"headers": [{"name": "Authorization", "exact": "#"}, {"name": "x-tier", "exact": "free"}]}], "rules": [{"name": "a", "match": {"headers": [{"name": "x-secret", "prefix": "#"}]}, "key": [], ` + limits + `}]}`,

		// A mark before it, names with escapes, and numbers as protobuf has them.
		"\ufeff" + ` {"rules": [ ], "global": {"redis": {"cluster": "c", "token": "S"}}}`:                                                                                                       ` {"rules": [ ], "global": {"redis": {"cluster": "c", "token": "#"}}}`,
		`{"rules": [ ], "\u0067lobal": {"redis": {"cluster": "c", "tok\u0065n": "S", "max_pending": 1e1, "timeout": "5ms"}}}`:                                                                   `{"rules": [ ], "\u0067lobal": {"redis": {"cluster": "c", "tok\u0065n": "#", "max_pending": 1e1, "timeout": "5ms"}}}`,
		`{"replicas": 3.0, "rules": [{"name": "a", "k\u0065y": [{"head\u0065r": "x-api-k\u0065y"}], "overrides": [{"key": ["S"], "block": true}], ` + limits + `}]}`:                            `{"replicas": 3.0, "rules": [{"name": "a", "k\u0065y": [{"head\u0065r": "x-api-k\u0065y"}], "overrides": [{"key": ["#"], "block": true}], ` + limits + `}]}`,
		`{"exempt": [{"headers": [{"name": "cookie", "present": true}, {"name": "x-key", "regex": "S.*"}]}], "rules": []}`:                                                                      `{"exempt": [{"headers": [{"name": "cookie", "present": true}, {"name": "x-key", "regex": "#"}]}], "rules": []}`,
		`{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [{"name": "a", "key": [], "global": {"descriptor": [{"name": "api_key", "value": "S"}, {"name": "a", "value": "b"}]}}]}`: `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [{"name": "a", "key": [], "global": {"descriptor": [{"name": "api_key", "value": "#"}, {"name": "a", "value": "b"}]}}]}`,
	} {
		if _, err := policy.Compile([]byte(config), "test"); err != nil {
			t.Fatalf("%s: %v", config, err)
		}
		got := regexp.MustCompile(`"#[0-9a-f]{8}"`).ReplaceAllString(redact([]byte(config)), `"#"`)
		if got != want {
			t.Errorf("redact(%s)\n= %s, want\n  %s", config, got, want)
		}
	}
}

// TestRedactLeavesOut what it cannot follow, even if policy.Compile should ever
// take it.
func TestRedactLeavesOut(t *testing.T) {
	const secret = `"global": {"redis": {"cluster": "c", "token": "S3CRET"}}`
	for name, config := range map[string]string{
		"nothing":            "",
		"not JSON":           `global: {redis: {token: S3CRET}}`,
		"two values":         `{"rules": []} {` + secret + `}`,
		"ends early":         `{"rules": [], ` + secret,
		"a name twice":       `{"rules": [], ` + secret + `, "rules": []}`,
		"an engine twice":    `{` + secret + `, ` + secret + `}`,
		"not UTF-8":          `{"rules": [], ` + secret + `, "namespace": "` + "\xff" + `"}`,
		"half a surrogate":   `{"rules": [], ` + secret + `, "namespace": "\ud800"}`,
		"two marks":          "\ufeff\ufeff{" + secret + "}",
		"UTF-16":             "\xff\xfe{\x00}\x00S3CRET",
		"deep":               `{"rules": [], ` + secret + `, "x": ` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		"a list of tokens":   `{"global": {"redis": {"token": ["S3CRET"]}}}`,
		"a number":           `{"global": {"redis": {"token": 53}}}`,
		"a protobuf value":   `{"fields": {"global": {"structValue": {"fields": {"redis": {"stringValue": "S3CRET"}}}}}, "rules": {"listValue": {}}}`,
		"rules of an object": `{"rules": {"a": {"overrides": [{"key": ["S3CRET"]}]}}}`,
		"a key of objects":   `{"rules": [{"key": ["bearer_token"], "overrides": [{"key": ["S3CRET"]}]}]}`,
	} {
		if got := redact([]byte(config)); got != leftOut {
			t.Errorf("%s: redact(%.200s) = %.200s", name, config, got)
		}
	}
	for _, config := range []string{`{"a": "b`, "{\"a\": \"\xff\"}", `{"a": tru`, `{"a": "b"`, `{"a": 1, "a": 2}`} { // by itself it does not go on either
		if got, err := hide([]byte(config), nil); err == nil || got != "" {
			t.Errorf("hide(%s) = %s, %v", config, got, err)
		}
	}
}

// TestSecretsHashAlike in the configuration and in keys, however they are
// spelled.
func TestSecretsHashAlike(t *testing.T) {
	const config = `{"rules": [{"name": "a", "key": [{"header": "x-api-key"}], "overrides": [{"key": ["S\u0033CR\"ET"], "limits": [{"requests": 1, "window": "1h"}]}],
		"limits": [{"requests": 9, "window": "1s"}]}]}`
	h := hit{headers: map[string]string{"x-api-key": `S3CR"ET`}}
	_, run := replay(t, config, 0, h, h)
	x := run.Report()
	shown := regexp.MustCompile(`"(#[0-9a-f]{8})"`).FindStringSubmatch(x.Config)
	if key := x.Rules[0].TopRefused[0].Key; shown == nil || key != "header x-api-key="+shown[1] {
		t.Errorf("the key is %s, and in the configuration it is %q", key, shown)
	}
}

// spell writes a string in JSON, its letters plain or escaped as bits say.
func spell(text string, bits uint64) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || bits>>(i%64)&1 == 1 {
			b.WriteString(`\u00` + string(hex[c>>4]) + string(hex[c&15]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// FuzzRedact writes a configuration that has a secret wherever one can be, with
// names and values in any spelling, and looks for it in every form of the report.
func FuzzRedact(f *testing.F) {
	f.Add("token", uint64(0), false, " ")
	f.Add("", uint64(1<<40+5), true, "\n\t")
	f.Add("a\"b\\c", ^uint64(0), true, "")
	f.Fuzz(func(t *testing.T, tail string, bits uint64, mark bool, blank string) {
		blank = strings.Repeat(" ", len(blank)%3) + strings.Repeat("\n\t", len(blank)%2)
		tail = strings.Map(func(c rune) rune { return '!' + (c&0x7fffffff)%94 }, tail) // which headers hold and nobody trims
		const begin = "S3CRETS3CRET0123"
		secret := spell(begin+tail, bits)
		n := func(name string) string { return blank + spell(name, bits>>7|bits<<57) + blank + ":" }
		limits := n("limits") + `[{` + n("requests") + `1,` + n("window") + `"1s"}]`
		config := `{` + n("store") + `{` + n("max_keys") + `1},` + n("global") + `{` + n("redis") + `{` + n("cluster") + `"c",` + n("token") + secret + `,` + n("secret") + secret + `}},` +
			n("exempt") + `[{` + n("headers") + `[{` + n("name") + spell("X-Auth", bits) + `,` + n("exact") + secret + `}]}],` + blank +
			n("rules") + `[{` + n("name") + `"a",` + n("match") + `{` + n("headers") + `[{` + n("prefix") + secret + `,` + n("name") + `"cookie"}]},` +
			n("overrides") + `[{` + n("key") + `[` + secret + `,"u",` + secret + `],` + n("block") + `true}],` +
			n("key") + `[{` + n("header") + spell("x-api-key", bits) + `},{` + n("header") + `"x-user"},{` + n("bearer_token") + `true}],` + limits + `}]}` + blank
		if mark {
			config = "\ufeff" + config
		}
		run, err := NewRun("test", []byte(config), 0)
		if err != nil {
			t.Fatalf("%s: %v", config, err)
		}
		h := hit{headers: map[string]string{"cookie": begin + tail, "x-api-key": begin + tail, "x-user": "u", "authorization": "Bearer " + begin + tail}}
		run.Request(0, 0, h, nil)
		if x := run.Report(); len(x.Config) == len(leftOut) || x.Refused != 1 {
			t.Errorf("%s: %d refused, shown as %s", config, x.Refused, x.Config)
		}
		showsNot(t, run, begin)
		if strings.Contains(run.Report().Config, secret) {
			t.Errorf("the configuration has %s", secret)
		}
	})
}

// showsNot looks for a text in the report, side by side with itself, and decoded.
func showsNot(t *testing.T, run *Run, secret string) {
	t.Helper()
	x := run.Report()
	pair := report.Report{Command: "replay", Input: report.Input{Lines: 1}, Runs: []report.Run{x, x}}
	var b bytes.Buffer
	for _, write := range []func(io.Writer) error{pair.WriteText, pair.WriteJSON, pair.WriteHTML} {
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(b.String(), secret) {
		t.Errorf("the report has the secret: %s", b.String())
	}
	var all any
	if err := json.Unmarshal([]byte(x.Config), &all); err != nil || strings.Contains(fmt.Sprint(all), secret) {
		t.Errorf("the configuration is %v, %v", all, err)
	}
}
