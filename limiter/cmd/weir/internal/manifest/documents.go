package manifest

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yaml looks for configurations in every document of a text, which should be
// readable or may be anything. What comes after an error cannot be read.
func (f *finder) yaml(s source, readable bool, nested int) {
	start := bomOf(s)
	if start > 0 { // whose character yaml/v3 does not count
		s = s.cut(wholeFrom(s.text, start))
	}
	d := yaml.NewDecoder(strings.NewReader(s.text))
	r := newYAMLReader(s)
	for {
		var doc yaml.Node
		err := d.Decode(&doc)
		if err == io.EOF {
			return
		}
		if err != nil {
			if readable {
				f.yamlError(s, err)
			}
			return
		}
		if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
			f.walk(r.read(&doc), nested)
		}
	}
}

// wholeFrom is the rest of a text from start on.
func wholeFrom(text string, start int) mapped {
	var m mapped
	m.copy(text[start:], start)
	m.at = append(m.at, len(text))
	return m
}

var (
	lineOfError   = regexp.MustCompile(`^line (\d+): `)
	anchorOfError = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// yamlError tells of a text that is not YAML, where yaml/v3 says, or would if it
// counted alike: its scanner's lines are from 1, its parser's from 0 without
// saying so, and it leaves out the first.
func (f *finder) yamlError(s source, err error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := lineOfError.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
		if strings.HasPrefix(message, "did not find expected") {
			line++
		}
	}
	p := place{text: s.text}
	at := p.firstOf(line)
	if m := anchorOfError.FindStringSubmatch(message); m != nil {
		at = max(0, strings.Index(s.text, "*"+m[1]))
	}
	if i := invalidUTF8(s.text); i >= 0 {
		at, message = i, "invalid UTF-8"
	}
	if strings.Contains(s.text, "{{") {
		message += " (a Helm template? Render it first, as by helm template)"
	}
	f.add(s.offset(at), Finding{Message: "not valid YAML: " + message})
}

// invalidUTF8 returns the first byte that is no part of a character, or -1.
func invalidUTF8(text string) int {
	for i, c := range text {
		if c == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return i
		}
	}
	return -1
}
