package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirproxy/weir/limiter/policy"
)

// A carrying embeds a text in a file, and tells where each byte of it is there.
type carrying struct {
	file  string
	name  string
	place func(offset int) int
}

// embed writes a text after head, each part of it encoded by itself.
func embed(name, head, text, tail string, encode func(string) string) carrying {
	return carrying{head + encode(text) + tail, name, func(offset int) int { return len(head) + len(encode(text[:offset])) }}
}

const envoyHead = `name: weir
typed_config:
  "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
  config:
    failure_policy: FAIL_RELOAD
    vm_config: {vm_id: weir}
    configuration:
      "@type": type.googleapis.com/google.protobuf.StringValue
      value: `

// printable are the texts that a block scalar, or one in single quotes, can hold.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(c rune) bool {
		return c < ' ' && c != '\n' && c != '\t' || c == '\ufeff' || c == '\u0085' || c == '\u2028' || c == '\u2029' || 0x7f <= c && c < 0xa0
	})
}

// carriers are those that can hold a text, by name.
func carriers(text string) map[string]carrying {
	all := map[string]carrying{"raw": embed("x.json", "", text, "", func(s string) string { return s })}
	if utf8.ValidString(text) {
		quote := func(s string) string {
			q := fmt.Sprintf("%+q", s) // a character beyond 16 bits becomes \U, which YAML has too
			return q[1 : len(q)-1]
		}
		all["double quotes"] = embed("x.yaml", envoyHead+`"`, text, "\"\n", quote)
		bootstrap := func(s string) string {
			q, _ := jsontext.AppendQuote(nil, s)
			return string(q[1 : len(q)-1])
		}
		all["JSON"] = embed("x.json", `{"name": "weir", "typed_config": {"@type": "x/`+wasmType+`", "config": {"failure_policy": "FAIL_OPEN",`+
			`"vmConfig": {"vmId": "x"}, "configuration": {"@type": "x/`+stringType+`", "value": "`, text, `"}}}}`, bootstrap)
	}
	if printable(text) {
		indent := func(by string) func(string) string {
			return func(s string) string { return by + strings.ReplaceAll(s, "\n", "\n"+by) }
		}
		chomp := map[bool]string{true: "+", false: "-"}[strings.HasSuffix(text, "\n")]
		literal := embed("x.yaml", envoyHead+"|2"+chomp+"\n", text, "\nmore: 1\n", indent("        "))
		if chomp == "+" {
			literal.file = strings.Replace(literal.file, "        \nmore:", "more:", 1)
		}
		all["literal block"] = literal
		if !blankAroundBreak.MatchString(text) { // where folding would lose it
			all["single quotes"] = embed("x.yaml", envoyHead+"'", text, "'\n", func(s string) string {
				return strings.NewReplacer("'", "''", "\n", "\n\n          ").Replace(s)
			})
		}
	}
	if root, err := readJSON(source{text: text}); err == nil && root.kind == object && printable(text) && !strings.Contains(text, `\/`) && !strings.Contains(text, "\t") {
		head := "kind: WasmPlugin\nmetadata: {name: weir}\nspec:\n  failStrategy: FAIL_OPEN\n  pluginConfig:\n"
		all["flow mapping"] = embed("x.yaml", head, text, "\n", func(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") })
	}
	return all
}

var blankAroundBreak = regexp.MustCompile(`^\s*\n|[ \t\n]\n|\n[ \t\n]`)

var stepOfPath = regexp.MustCompile(`\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.\[]+`)

// pointerOf turns a path into one of RFC 6901, which jsontext knows of each token.
func pointerOf(t *testing.T, path string) jsontext.Pointer {
	var p jsontext.Pointer
	for _, step := range stepOfPath.FindAllString(path, -1) {
		if quoted, ok := strings.CutPrefix(step, "["); ok {
			step = strings.TrimSuffix(quoted, "]")
			if strings.HasPrefix(step, `"`) {
				if _, err := fmt.Sscanf(step, "%q", &step); err != nil {
					t.Fatal(err)
				}
			}
		}
		p = p.AppendToken(step)
	}
	return p
}

// offsetOf finds what a problem is about by reading the text to it: the value of
// its path, or of a field that is unknown or given twice the name.
func offsetOf(t *testing.T, text string, p policy.Problem) int {
	start := len(text) - len(strings.TrimPrefix(text, bom))
	d := jsontext.NewDecoder(strings.NewReader(text[start:]), jsontext.AllowDuplicateNames(true))
	pointer, unknown, twice := pointerOf(t, p.Path), strings.HasPrefix(p.Message, "unknown field"), strings.HasSuffix(p.Message, "is given twice")
	names, value := []int{}, -1
	for {
		token, err := d.ReadToken()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		kind, length := d.StackIndex(d.StackDepth())
		isName := kind == '{' && length%2 == 1 && token.Kind() == '"'
		if d.StackPointer() != pointer || token.Kind() == '}' || token.Kind() == ']' {
			continue
		}
		size := 1
		if k := token.Kind(); k != '{' && k != '[' {
			size = len(tokenBefore(text[start:start+int(d.InputOffset())], k))
		}
		at := start + int(d.InputOffset()) - size
		if isName {
			names = append(names, at)
		} else if value < 0 {
			value = at
		}
	}
	switch {
	case unknown:
		return names[0]
	case twice:
		return names[len(names)-1]
	}
	return value
}

// tokenBefore returns the scalar that a text ends in.
func tokenBefore(text string, k jsontext.Kind) string {
	if k != '"' {
		return text[strings.LastIndexAny(text, " \t\r\n:,[")+1:]
	}
	for i := len(text) - 2; ; i-- {
		if v := jsontext.Value(text[i:]); text[i] == '"' && v.IsValid() && v.Kind() == '"' && !strings.HasSuffix(text[:i], `\`) {
			return text[i:]
		}
	}
}

// problemsOf are what Compile says of a text, each with its place there.
func problemsOf(t *testing.T, text string) (texts []string, places []int) {
	_, err := policy.Compile([]byte(text), "test")
	var syntax *policy.SyntaxError
	var problems policy.Problems
	switch {
	case errors.As(err, &syntax):
		at := int(syntax.Offset)
		if strings.Contains(err.Error(), "something follows") || len(strings.TrimSpace(text[at:])) == 0 {
			if rest := strings.TrimLeft(text[at:], " \t\r\n"); rest != "" {
				at = len(text) - len(rest)
			} else {
				at = len(strings.TrimRight(text, " \t\r\n")) - 1
			}
		}
		return []string{"not valid JSON: " + syntax.Err.Error()}, []int{at}
	case errors.As(err, &problems):
		for _, p := range problems {
			texts = append(texts, p.Error())
			place := -1
			if !strings.Contains(p.Message, "is empty") && !strings.Contains(p.Message, "UTF-16") {
				place = offsetOf(t, text, p)
			}
			places = append(places, place)
		}
	default:
		t.Fatalf("Compile(%s) = %v, want it refused", text, err)
	}
	return texts, places
}

// differsInYAML are the configurations that are other ones as a mapping: a number
// beyond all floats is a string there, and a place in a text is none.
var differsInYAML = map[string]bool{"requests-exponent-huge.json": true, "json-too-deep.json": true}

// TestCarriers puts every configuration that the policy refuses into every
// carrier that can hold it: all problems must be found there, each at the byte
// that it is about.
func TestCarriers(t *testing.T) {
	counts := map[string]int{}
	for _, path := range glob(t, 370, "../../../../policy/testdata/bad/*.json") {
		text := string(read(t, path))
		texts, places := problemsOf(t, text)
		for name, c := range carriers(text) {
			if name == "flow mapping" && differsInYAML[filepath.Base(path)] {
				continue
			}
			counts[name]++
			f := Find(c.name, []byte(c.file), false)
			wants := []string{}
			for i, text := range texts {
				p := Position{1, 1}
				if places[i] >= 0 {
					p = lineAndColumn(c.file, c.place(places[i]))
				} else if len(f.Findings) == 1 {
					p = f.Findings[0].Position // there is no byte to be at
				}
				wants = append(wants, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, text))
			}
			gots := []string{}
			for _, g := range f.Findings {
				gots = append(gots, fmt.Sprintf("%d:%d: %s", g.Line, g.Column, g.Text()))
			}
			slices.Sort(wants)
			slices.Sort(gots)
			if !slices.Equal(gots, wants) {
				t.Errorf("%s in %s: found\n%s\nwant\n%s\nin\n%s", filepath.Base(path), name, strings.Join(gots, "\n"), strings.Join(wants, "\n"), c.file)
			}
		}
	}
	for name, least := range map[string]int{"raw": 370, "JSON": 365, "double quotes": 365, "single quotes": 350, "literal block": 360, "flow mapping": 340} {
		if counts[name] < least {
			t.Errorf("%d configurations in %s, want at least %d", counts[name], name, least)
		}
	}
	t.Logf("%v", counts)
}

func lineAndColumn(text string, offset int) Position {
	before := []byte(text[:offset])
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	if len(line) == len(before) {
		line = bytes.TrimPrefix(line, []byte(bom))
	}
	return Position{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(line) + 1}
}
