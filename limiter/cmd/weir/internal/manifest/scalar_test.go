package manifest

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestMapScalar has one X in each value, whose place must be that of the X in
// the raw text; or, where YAML is larger than what is read here, the beginning
// of the scalar.
func TestMapScalar(t *testing.T) {
	const coarse = true
	tests := []struct {
		raw    string
		coarse bool
	}{
		{raw: "X"},
		{raw: "&a !!str X # not X"},
		{raw: "!<tag:yaml.org,2002:str> # comment\n  X"},
		{raw: "two X"},
		{"two\n  X", coarse},

		{raw: "'X'"},
		{raw: "'it''s X'"},
		{raw: "' \t X'"},
		{raw: "'a  \n\n\n   X'"},
		{raw: "'a\r\n\r\n   X'"},
		{raw: "'a\r  X'"},
		{raw: "'é\\X'"},
		{"'a\u0085  X'", coarse},

		{raw: `"X"`},
		{raw: `"\\\"\x41\u00e9\U0001F600\e\_\N\L\P\0\a\b\t\n\v\f\r\ X"`},
		{raw: "\"a\\\n   X\""},
		{raw: "\"a\\\r\n   X\""},
		{raw: "\"a\\\n\n\n   X\""},
		{raw: "\"a  \n   X\""},
		{raw: "\"a\\  \n\n  X\""},
		{"\"a\u2028  X\"", coarse},

		{raw: "|\n  X"},
		{raw: "|-\r\n  a\r\n  X\r\n"},
		{raw: "|3+ # comment\n    a\n\n   X\n\n"},
		{raw: "&a\n  !!str\n  |\n  \n\n   a\n   X\n"},
		{"|\n  a\u2029  X\n", coarse},

		{raw: ">\n  a\n  X\n"},
		{raw: ">-\n\n  a\n\n\n    more\n     X\n  less\n"},
		{raw: ">1\n   a\n  X\n"},
	}
	for _, test := range tests {
		file := "k: " + test.raw
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(file), &doc); err != nil {
			t.Errorf("%q: %v", file, err)
			continue
		}
		value := doc.Content[0].Content[1].Value
		m := mapScalar(file, len("k: "), value)
		if string(m.text) != value || len(m.at) != len(value)+1 {
			t.Errorf("mapScalar(%q) = %q with %d places, want %q", file, m.text, len(m.at), value)
			continue
		}
		got, want := m.at[strings.IndexByte(value, 'X')], strings.IndexByte(file, 'X')
		if test.coarse {
			want = skipProperties(file, len("k: "))
		}
		if got != want {
			t.Errorf("mapScalar(%q) has X at %d, want %d", file, got, want)
		}
	}
}

// TestPlace counts lines as yaml/v3 does, to find what it tells the place of.
func TestPlace(t *testing.T) {
	file := "a: 1\r\nb: 2\rc: \"é\u2028\u0085 f\"\nd: [é, 5, 6]\n\u2029\ne: 7\n"
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(file), &doc); err != nil {
		t.Fatal(err)
	}
	p := place{text: file}
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		if got := p.offset(n.Line, n.Column); n.Kind == yaml.ScalarNode && n.Style == 0 && !strings.HasPrefix(file[got:], n.Value) {
			t.Errorf("offset(%d, %d) is that of %q, want %q", n.Line, n.Column, file[got:], n.Value)
		}
		for _, c := range n.Content {
			visit(c)
		}
	}
	visit(&doc)
	visit(&doc) // and back again
	if later, sooner := p.offset(6, 8), p.offset(6, 4); file[later:later+1] != "5" || sooner >= later {
		t.Errorf("offset(6, 8), then (6, 4) = %d, %d, want that of the 5, and one before it", later, sooner)
	}
	for _, at := range [][2]int{{0, 0}, {99, 1}, {1, 99}, {99, 99}} {
		if got := p.offset(at[0], at[1]); got < 0 || got > len(file) {
			t.Errorf("offset%v = %d, want one in the file", at, got)
		}
	}
}
