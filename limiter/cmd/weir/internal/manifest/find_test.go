package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// read returns a file of a test.
func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// glob returns the files of a pattern, of which there must be at least so many.
func glob(t testing.TB, least int, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("%d files %s, want at least %d: %v", len(paths), pattern, least, err)
	}
	return paths
}

// at returns the file from a position on, found as a reader finds it: by its
// lines, and by the characters of the line.
func at(t testing.TB, data []byte, p Position) string {
	t.Helper()
	text := string(data)
	for range p.Line - 1 {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			t.Fatalf("position %v is below the last line of %q", p, data)
		}
		text = rest
	}
	if p.Line == 1 {
		text = strings.TrimPrefix(text, bom)
	}
	line, _, _ := strings.Cut(text, "\n")
	if p.Column < 1 || p.Column > utf8.RuneCountInString(line)+1 {
		t.Fatalf("position %v is beyond the line %q", p, line)
	}
	for range p.Column - 1 {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return text
}

// describe writes each finding, and below it what the file has at its place.
func describe(t *testing.T, data []byte, f File) string {
	t.Helper()
	var b strings.Builder
	for _, g := range f.Findings {
		if g.Severity == Warning {
			b.WriteString("warning: ")
		}
		if g.Line == 0 {
			fmt.Fprintf(&b, "%s\n", g.Text())
			continue
		}
		line, _, _ := strings.Cut(at(t, data, g.Position), "\n")
		fmt.Fprintf(&b, "%d:%d: %s\n    %.40q\n", g.Line, g.Column, g.Text(), line)
	}
	return b.String()
}

// TestFindBad compares what is wrong with each testdata/bad/NAME with NAME.want,
// which has below each finding what the file has at its line and column.
func TestFindBad(t *testing.T) {
	for _, path := range glob(t, 134, "testdata/bad/*") {
		if strings.HasSuffix(path, ".want") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			data := read(t, path)
			got := describe(t, data, Find(path, data, false))
			if os.Getenv("UPDATE_FIXTURES") != "" {
				if err := os.WriteFile(path+".want", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, path+".want")); got != want || got == "" {
				t.Errorf("Find(%s) =\n%swant\n%s", path, got, want)
			}
		})
	}
}

func TestFindGood(t *testing.T) {
	wants := map[string]string{
		"byte-order-mark.yaml":        "envoy weir 1",
		"configmap.yaml":              "json  1, envoy weir 1",
		"envoy-anchored.yaml":         "envoy weir 1",
		"envoy-bootstrap.json":        "envoy limits 1, skipped envoy coraza",
		"envoy-bytes.yaml":            "envoy weir 0",
		"envoy-folded.yaml":           "envoy weir 1",
		"envoy-gateway.yaml":          "envoy-gateway limits 0, skipped envoy-gateway coraza",
		"envoy-literal.yaml":          "envoy weir 1",
		"envoy-typed-struct.yaml":     "envoy weir 1",
		"filter.conf":                 "json  1",
		"istio-envoyfilter.yaml":      "envoy ratelimit 1",
		"istio-merge-override.yaml":   "istio weir 3",
		"istio-trafficextension.yaml": "istio weir 1",
		"istio-wasmplugin.yaml":       "istio weir 2",
		"list.yaml":                   "istio weir 0, istio limits 0, skipped istio coraza",
	}
	paths := glob(t, len(wants), "testdata/good/*")
	for _, path := range paths {
		data := read(t, path)
		f := Find(path, data, false)
		var got []string
		for _, c := range f.Configurations {
			at(t, data, c.Position)
			got = append(got, fmt.Sprintf("%s %s %d", c.Carrier, c.Name, c.Rules))
		}
		for _, s := range f.Skipped {
			got = append(got, fmt.Sprintf("skipped %s %s", s.Carrier, s.Name))
		}
		if want := wants[filepath.Base(path)]; strings.Join(got, ", ") != want || len(f.Findings) > 0 {
			t.Errorf("Find(%s) = %s, %v, want %s", path, strings.Join(got, ", "), f.Findings, want)
		}
	}
	if len(paths) != len(wants) {
		t.Errorf("%d fixtures, want %d", len(paths), len(wants))
	}
}

// TestFindOurs holds the files that this project tells people to copy.
func TestFindOurs(t *testing.T) {
	for _, path := range append(glob(t, 6, "../../../../../envoy/examples/*.json"), "../../../../../envoy/envoy.yaml") {
		f := Find(path, read(t, path), false)
		if len(f.Configurations) != 1 || !f.Configurations[0].Valid || f.Rules() == 0 || len(f.Findings) > 0 {
			t.Errorf("Find(%s) = %+v, want one valid configuration and no warning", path, f)
		}
	}
}

// TestFindWalked is about files that may be anything: they are wrong only if
// they are Weir's.
func TestFindWalked(t *testing.T) {
	var laughs strings.Builder // a billion of them, if each alias were followed
	laughs.WriteString("k0: &a0 {}\n")
	for i := range 30 {
		fmt.Fprintf(&laughs, "k%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	tests := []struct {
		name, data string
		found      int // configurations
		wrong      int // findings
	}{
		{"package.json", `{"name": "x"}`, 0, 0},
		{"eslint.json", `{"rules": {"semi": 2}}`, 0, 0},
		{"other.json", `{"rules": [{"name": "x"}]}`, 0, 0},
		{"weir.json", `{"rules": [{"limits": []}]}`, 1, 3},
		{"list.json", `[1]`, 0, 0},
		{"comments.json", "{// tsconfig\n}", 0, 0},
		{"comments.json", "{// of weir\n}", 1, 1},
		{"comments.json", `{"rules": [{"limits": [/**/]}]}`, 1, 1},
		{"empty.json", "\ufeff \n", 0, 1},
		{"weir/x.yaml", "{{- if x }}\n{{- end }}\n", 0, 0},
		{"x/weir.yaml", "{{- if x }}\n{{- end }}\n", 0, 1},
		{"empty.yaml", "", 0, 1},
		{"comment.yaml", "# nothing\n", 0, 0},
		{"template.yaml", "{{- if x }}\n{{- end }}\n", 0, 0},
		{"template.yaml", "{{- if x }}\nname: weir\n{{- end }}\n", 0, 1},
		{"flow.yaml", "{a: b}", 0, 0},
		{"laughs.yaml", laughs.String(), 0, 0},
	}
	for _, test := range tests {
		f := Find(test.name, []byte(test.data), true)
		if len(f.Configurations) != test.found || len(f.Findings) != test.wrong {
			t.Errorf("Find(%s, %s, walked) = %+v, want %d configurations and %d findings", test.name, test.data, f, test.found, test.wrong)
		}
	}
}

// TestFindNested puts ConfigMaps into each other, each of which must be found,
// to the depth where that ends.
func TestFindNested(t *testing.T) {
	text := `{"rules": [{"name": "a", "key": [], "limits": [{"requests": 1, "window": "5x"}]}]}`
	for depth := 1; depth <= maxNested+1; depth++ {
		text = "kind: ConfigMap\ndata:\n  x: |\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
		f := Find("x.yaml", []byte(text), false)
		if depth > maxNested {
			if len(f.Configurations) != 0 {
				t.Errorf("%d ConfigMaps: found %+v, want an end", depth, f)
			}
			continue
		}
		if len(f.Findings) != 1 || !strings.HasPrefix(at(t, []byte(text), f.Findings[0].Position), `"5x"}]}]}`) {
			t.Errorf("%d ConfigMaps: found %+v, want one finding at the value", depth, f.Findings)
		}
	}
}
