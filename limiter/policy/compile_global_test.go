package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestEveryGlobalFieldIsStrict misspells each field, as TestEveryFieldIsStrict.
func TestEveryGlobalFieldIsStrict(t *testing.T) {
	good := fixtures(t, "good")
	for file, names := range map[string][]string{
		"global-redis": {"global", "on_global_error", "redis", "cluster", "dialect", "timeout", "max_pending", "secret", "authority", "token"},
		"global-rls":   {"rls", "cluster", "domain", "timeout", "max_pending", "secret", "descriptor", "name", "value", "part"},
	} {
		for _, name := range names {
			for _, spelling := range []string{name + "x", strings.ToUpper(name[:1]) + name[1:]} {
				bad := strings.Replace(string(good[file]), `"`+name+`":`, `"`+spelling+`":`, 1)
				_, err := Compile([]byte(bad), "test")
				want := fmt.Sprintf("%s: unknown field, did you mean %q?", spelling, name)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Compile(%s for %s) = %v, want %s", spelling, name, err, want)
				}
			}
		}
	}
}

// TestNoErrorQuotesASecret, nor a token, whatever else is wrong around them.
func TestNoErrorQuotesASecret(t *testing.T) {
	const token, secret = "t0ps3cret", "0123456789abcdef"
	full := string(fixtures(t, "good")["global-redis"])
	if !strings.Contains(full, token) || !strings.Contains(full, secret) {
		t.Fatal("the fixture has no secrets")
	}
	quoted := func(text string) bool { return strings.Contains(text, token) || strings.Contains(text, secret) }
	errs := 0
	check := func(config string) {
		_, err := Compile([]byte(config), "test")
		if err == nil {
			return
		}
		errs++
		var problems Problems
		errors.As(err, &problems)
		if text := fmt.Sprintf("%v %v %+v %#v", err, problems, problems, problems); quoted(text) {
			t.Errorf("Compile(%s): %s", config, text)
		}
	}
	for _, mutant := range []string{
		`"` + token + `", "token": "` + token + `"`, `["` + token + `"]`, `{"` + "x" + `": "` + token + `"}`, `"` + token + `\n"`, `"` + token + `\u0000"`,
	} {
		check(strings.Replace(full, `"`+token+`"`, mutant, 1))
		check(strings.Replace(full, `"`+secret+`"`, strings.ReplaceAll(mutant, token, secret[:15]), 1))
	}
	for _, field := range []string{"token", "secret", "authority", "dialect", "cluster", "timeout", "redis", "global"} {
		check(strings.Replace(full, `"`+field+`":`, `"`+field+`x":`, 1))
	}
	check(strings.Replace(full, `"redis": {`, `"redis": "redis://:`+token+`@host", "redis": {`, 1))
	check(`{"rules": [], "global": {"redis": "redis://:` + token + `@host"}}`)
	check(`{"rules": [], "global": "redis://:` + token + `@host"}`)
	check(`{"rules": [], "global": {"redis": {"cluster": "c", "authority": ":` + token + `@host"}}}`)
	check(full[:strings.Index(full, token)+3])
	if errs < 15 {
		t.Errorf("only %d errors", errs)
	}
}

// TestGlobalComesInAnyOrder: what rules say of the engine is read after it.
func TestGlobalComesInAnyOrder(t *testing.T) {
	parts := map[string]string{
		"rules":  `[{"global": {"limits": [{"requests": 7, "window": "1s"}]}, "overrides": [{"limits": [{"requests": 9, "window": "1s"}], "key": ["x"]}], "key": [{"header": "x-k"}], "name": "a"}]`,
		"global": `{"redis": {"cluster": "c"}}`, "replicas": `2`, "on_global_error": `"deny"`,
	}
	names := slices.Sorted(maps.Keys(parts))
	want := ""
	for range len(names) {
		names = append(names[1:], names[0])
		var members []string
		for _, name := range names {
			members = append(members, `"`+name+`": `+parts[name])
		}
		got := describe(mustCompile(t, "{"+strings.Join(members, ", ")+"}"))
		if want == "" {
			want = got
		}
		if got != want || !strings.Contains(got, "global[a=7/1s of which here a=3/1s] override[a=9/1s of which here a=4/1s]") {
			t.Errorf("%v: %s, want %s", names, got, want)
		}
	}
}

// TestTheSecretNamesKeys: without one, and with the same, all proxies give a key
// the same name; under another it has another.
func TestTheSecretNamesKeys(t *testing.T) {
	name := func(secret, namespace, rule, user string) GlobalKey {
		config := strings.Replace(shared(1, ""), `"cluster": "c"`, `"cluster": "c"`+secret, 1)
		config = strings.Replace(config[:len(config)-1]+`, "namespace": "`+namespace+`"}`, `"name": "a"`, `"name": "`+rule+`"`, 1)
		return newEvaluator(t, config).Evaluate(0, get("/", "x-k", user)).Call.Asks[0].Key
	}
	const secret, other = `, "secret": "0123456789abcdef"`, `, "secret": "0123456789abcdeg"`
	seen := map[GlobalKey][]string{}
	for _, which := range [][]string{{"", "n", "a", "u"}, {secret, "n", "a", "u"}, {other, "n", "a", "u"}, {secret, "m", "a", "u"}, {secret, "n", "b", "u"}, {secret, "n", "a", "v"}} {
		key := name(which[0], which[1], which[2], which[3])
		if again := name(which[0], which[1], which[2], which[3]); again != key {
			t.Errorf("%q is named %s and %s", which, key, again)
		}
		if before := seen[key]; before != nil {
			t.Errorf("%q and %q are both named %s", before, which, key)
		}
		seen[key] = which
	}
	if got := (GlobalKey{0x01, 0xab, 15: 0xf0}).String(); got != "01ab00000000000000000000000000f0" {
		t.Errorf("String() = %q", got)
	}
}
