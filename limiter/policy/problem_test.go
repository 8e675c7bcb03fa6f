package policy

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestProblems are there one by one, for tools that show each at its place.
func TestProblems(t *testing.T) {
	_, err := Compile([]byte(`{"on_eror": "deny", "rules": [{"name": "a", "key": [], "limits": [{"requests": 0, "window": "1s"}]}]}`), "test")
	var problems Problems
	want := Problems{
		{"on_eror", `unknown field, did you mean "on_error"?`},
		{"rules[0].limits[0].requests", "0: want a whole number from 1 to 2147483647"},
	}
	if !errors.As(err, &problems) || !reflect.DeepEqual(problems, want) {
		t.Errorf("Compile() = %v, want %v", err, want)
	}
}

// TestSyntaxError tells the byte, also after a byte order mark.
func TestSyntaxError(t *testing.T) {
	for text, at := range map[string]int64{`{"rules": [}`: 11, "\ufeff" + `{"rules": [}`: 14, `{} {}`: 2, `{`: 1} {
		_, err := Compile([]byte(text), "test")
		var wrong *SyntaxError
		if !errors.As(err, &wrong) || wrong.Offset != at || wrong.Unwrap() == nil {
			t.Errorf("Compile(%s) = %v, want an error at byte %d", text, err, at)
		}
	}
	for _, text := range []string{"", " ", "[]", "null", "\xff\xfe{\x00"} {
		_, err := Compile([]byte(text), "test")
		var problems Problems
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Path != "" {
			t.Errorf("Compile(%q) = %v, want one problem of the whole", text, err)
		}
	}
}

// TestOverridesOfACredentialAreNotQuoted by the errors of a configuration, which the
// proxy logs.
func TestOverridesOfACredentialAreNotQuoted(t *testing.T) {
	for _, part := range []string{`"header": "x-api-key"`, `"bearer_token": true`, `"cookie": "sid"`, `"heade": "x"`} {
		for _, key := range []string{`"4711s3cret"`, `[4711]`, `["a", 4711]`} {
			_, err := Compile([]byte(`{"rules": [{"name": "a", "key": [{`+part+`}], "overrides": [{"key": `+key+`, "block": true}], "limits": [{"requests": 1, "window": "1s"}]}]}`), "r")
			if err == nil || strings.Contains(err.Error(), "4711") {
				t.Errorf("%s, %s: %v", part, key, err)
			}
		}
	}
}
