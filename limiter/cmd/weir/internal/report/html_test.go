package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// elements are the tags that the template may write.
var elements = regexp.MustCompile(`<(/?)([a-zA-Z][^\s/>]*)`)

// TestWriteHTMLEscapes: what strangers wrote makes no elements, and nothing in
// the page loads or runs.
func TestWriteHTMLEscapes(t *testing.T) {
	count := func(r *Report) map[string]int {
		var b bytes.Buffer
		must(t, r.WriteHTML(&b))
		page := b.String()
		for _, bad := range []string{"\x00", "\x1b", "\u202e", "\u009b", "\xff", "ZgotmplZ", "<script", "src=", "href=", "url(", "@import", " on" + "click="} {
			if strings.Contains(page, bad) {
				t.Errorf("the page has %q", bad)
			}
		}
		if !strings.Contains(page, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">`) {
			t.Error("the page has no policy")
		}
		n := map[string]int{}
		for _, m := range elements.FindAllStringSubmatch(page, -1) {
			n[m[1]+m[2]]++
		}
		return n
	}
	tame := attacked()
	tame.Input.Files, tame.Input.Sample = []string{"a", "b"}, []BrokenLine{{"f", 1, "e", "t"}}
	tame.Input.NotLogged[0].Field = "h"
	tame.Runs[0].Name, tame.Runs[0].Config, tame.Runs[0].Rules[0].Key = "n", "c", []string{"k"}
	for i := range tame.Runs[0].Rules[0].TopRefused {
		tame.Runs[0].Rules[0].TopRefused[i].Key = "k"
	}
	want, got := count(tame), count(attacked())
	for tag, n := range got {
		if want[tag] != n {
			t.Errorf("%d <%s>, but %d without what strangers wrote", n, tag, want[tag])
		}
	}
	if want["h1"] != 1 || want["td"] < 100 {
		t.Errorf("the page has only %v", want)
	}
}

func TestPairLines(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"x", "x", "x=x"}, {"a b c", "a c", "a=a b| c=c"}, {"a c", "a b c", "a=a |b c=c"}, {"a 1 z", "a 2 z", "a=a 1|2 z=z"},
		{"a b c d", "b x d", "a| b=b c|x d=d"}, {"p q", "r", "p|r q|"}, {"a a", "a", "a=a a|"},
	} {
		lines, same := pairLines(strings.Fields(c.a), strings.Fields(c.b))
		var got []string
		for _, l := range lines {
			got = append(got, l.A+map[bool]string{true: "=", false: "|"}[l.Same]+l.B)
		}
		if strings.Join(got, " ") != c.want || same != (c.a == c.b) {
			t.Errorf("pairLines(%s, %s) = %s, %v, want %s", c.a, c.b, got, same, c.want)
		}
	}
}

// TestPairLinesBound: texts without bound are compared in bounded time.
func TestPairLinesBound(t *testing.T) {
	a, b := make([]string, 5000), make([]string, 5000)
	for i := range a {
		a[i], b[i] = strings.Repeat("a", i%7+1), strings.Repeat("b", i%7+1)
	}
	b[4000] = a[10]
	if lines, same := pairLines(a, b); len(lines) != 5000 || same {
		t.Errorf("%d lines, same %v", len(lines), same)
	}
}
