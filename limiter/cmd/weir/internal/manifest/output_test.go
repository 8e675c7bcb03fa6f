package manifest

import (
	"strings"
	"testing"
)

// files have everything that must be escaped somewhere.
func files() []File {
	return []File{
		{Name: "a,b:c%\n.yaml", Findings: []Finding{
			{Error, Position{3, 5}, "rules[0],x", "100%:\r\n::error::no,"},
			{Warning, Position{}, "", "whole"},
		}},
		{
			Name:           "good.yaml",
			Configurations: []Configuration{{Position: Position{1, 2}, Carrier: Envoy, Name: "weir", Rules: 2, Valid: true}, {Position: Position{9, 2}, Carrier: JSON, Rules: 1, Valid: true}},
			Skipped:        []Skipped{{Position{4, 1}, Istio, "co\nraza"}},
		},
		{Name: "odd\xff.yaml"},
	}
}

func TestWriteText(t *testing.T) {
	want := "a,b:c%\n.yaml:3:5: rules[0],x: 100%:\r\n::error::no,\na,b:c%\n.yaml: warning: whole\n"
	valid := "good.yaml: 2 configurations, 3 rules: valid; skipped 1 other plugin: \"co\\nraza\"\n"
	for quiet, want := range map[bool]string{true: want, false: want + valid} {
		var b strings.Builder
		if err := WriteText(&b, files(), false, quiet); err != nil || b.String() != want {
			t.Errorf("WriteText(quiet %v) = %q, %v, want %q", quiet, b.String(), err, want)
		}
	}
}

// TestWriteGitHub holds the rules of escaping: %, CR and LF everywhere, and in a
// property the colon and the comma too.
func TestWriteGitHub(t *testing.T) {
	want := "::error file=a%2Cb%3Ac%25%0A.yaml,line=3,col=5,title=rules[0]%2Cx::100%25:%0D%0A::error::no,\n" +
		"::warning file=a%2Cb%3Ac%25%0A.yaml,title=weir::whole\n"
	var b strings.Builder
	if err := WriteGitHub(&b, files()); err != nil || b.String() != want {
		t.Errorf("WriteGitHub = %q, %v, want %q", b.String(), err, want)
	}
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	if err := WriteJSON(&b, files(), false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"{\n  \"valid\": false,\n  \"files\": [\n", `"file": "a,b:c%\n.yaml"`, `"configurations": [],`, `"carrier": "json"`,
		`"severity": "warning",` + "\n" + `          "line": 0,`, `"file": "odd` + "\ufffd" + `.yaml"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("WriteJSON = %s, want %s in it", b.String(), want)
		}
	}
}

func TestStrict(t *testing.T) {
	warned := File{Findings: []Finding{{Severity: Warning}}}
	if !warned.Valid(false) || warned.Valid(true) {
		t.Errorf("Valid = %v, strictly %v, want true, false", warned.Valid(false), warned.Valid(true))
	}
}
