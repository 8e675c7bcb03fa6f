package manifest

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/weirproxy/weir/limiter/policy"
)

// maxNested is how many texts may lie in each other: a document in a ConfigMap in
// a document is one.
const maxNested = 4

// Find returns the configurations of Weir in a file, and what is wrong with
// them. The ending of the name tells JSON from YAML; without .json, .yaml or .yml
// the text does.
//
// A file that was named is expected to have a configuration: it is an error if
// there is none, and so is a file that cannot be read. A file that was met on a
// walk through a directory may be anything: JSON counts as the filter's only if
// it has rules with limits, and what cannot be read is wrong only if its name or
// text speaks of Weir.
func Find(name string, data []byte, walked bool) File {
	f := &finder{file: File{Name: name}, chart: newChart(string(data))}
	f.document(source{text: string(data)}, name, !walked, 0)
	if !walked && f.count() == 0 {
		f.file.Findings = append(f.file.Findings, NoneIn(f.file))
	}
	// Where a download has failed, as in curl | sed >file, nothing else tells.
	if walked && strings.TrimSpace(strings.TrimPrefix(string(data), bom)) == "" {
		f.file.Findings = append(f.file.Findings, Finding{Severity: Warning, Message: "empty"})
	}
	f.file.sort()
	return f.file
}

type finder struct {
	file  File
	chart chart
}

// count is how much was found so far that is Weir's.
func (f *finder) count() int { return len(f.file.Configurations) + len(f.file.Findings) }

// document looks for configurations in the text of a file, or of a value in a
// ConfigMap. A filter's JSON is expected if JSON should be one, and what speaks of
// Weir in its name or text should be readable at least.
func (f *finder) document(s source, name string, expected bool, nested int) {
	readable := expected || speaksOfWeir(s.text) || isWeirs(filepath.Base(name))
	if !isJSON(name, s.text) {
		f.yaml(s, readable, nested)
		return
	}
	root, err := readJSON(s)
	switch {
	case err != nil && isYAMLName(name):
		f.yaml(s, readable, nested)
	case err != nil && readable:
		f.filterJSON(s)
	case err != nil:
	case isManifest(root):
		f.walk(root, nested)
	case expected || hasRules(root):
		f.filterJSON(s)
	}
}

func (f *finder) filterJSON(s source) {
	f.text(s, &Configuration{Position: f.chart.position(s.offset(s.skipBlanks(bomOf(s)))), Carrier: JSON})
}

func bomOf(s source) int { return len(s.text) - len(strings.TrimPrefix(s.text, bom)) }

// isJSON tells JSON from YAML, which has it as a part: what begins as JSON is
// tried as such first, unless it is the {{ of a template.
func isJSON(name, text string) bool {
	begins := strings.TrimLeft(strings.TrimPrefix(text, bom), " \t\r\n")
	utf16 := strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") // which the policy refuses in so many words
	return strings.EqualFold(filepath.Ext(name), ".json") || utf16 ||
		strings.HasPrefix(begins, "[") || strings.HasPrefix(begins, "{") && !strings.HasPrefix(begins, "{{")
}

func isYAMLName(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// isManifest reports whether JSON is Kubernetes' or Envoy's: a resource, a
// bootstrap, an answer of a control plane or a dump, or a part of one. None of
// these names is a field of Weir's.
func isManifest(root *node) bool {
	for _, name := range []string{
		"@type", "kind", "api_version", "admin", "node", "static_resources", "dynamic_resources", "layered_runtime",
		"resources", "configs", "filter_chains", "http_filters", "typed_config", "config", "configuration",
	} {
		if root.member(name) != nil {
			return true
		}
	}
	return false
}

// hasRules reports whether JSON that may be anything is a filter's: only Weir's
// has rules that have limits.
func hasRules(root *node) bool {
	rules := root.member("rules")
	if rules == nil {
		return false
	}
	for _, rule := range rules.items {
		if rule.member("limits") != nil {
			return true
		}
	}
	return false
}

func speaksOfWeir(text string) bool {
	return isWeirs(text) || strings.Contains(text, `"rules"`) && strings.Contains(text, `"limits"`)
}

// text compiles the text of a configuration, which alone decides its validity.
func (f *finder) text(s source, c *Configuration) {
	c.Data = []byte(s.text)
	p, err := policy.Compile(c.Data, "")
	switch err := err.(type) {
	case nil:
		c.Valid, c.Rules = true, len(p.Rules)
	case *policy.SyntaxError:
		f.add(s.offset(syntaxErrorAt(s, err)), Finding{Message: "not valid JSON: " + err.Err.Error()})
	case policy.Problems:
		root, rootErr := readJSON(s)
		if rootErr != nil { // it is empty, or UTF-16
			root = &node{kind: broken, at: s.offset(s.skipBlanks(bomOf(s)))}
		}
		f.problems(root, err, nil)
	}
	f.file.Configurations = append(f.file.Configurations, *c)
}

// syntaxErrorAt returns where to look: not at the end of the text, but at the
// last byte that is there, and at what follows and not at the blanks before it.
func syntaxErrorAt(s source, err *policy.SyntaxError) int {
	at := min(max(int(err.Offset), 0), len(s.text))
	if err.Err.Error() == "something follows the configuration" || strings.TrimRight(s.text[at:], " \t\r\n") == "" {
		return s.skipBlanks(at)
	}
	return at
}

// mapping compiles a configuration that is a value of the manifest itself.
func (f *finder) mapping(n *node, c *Configuration) {
	w := newJSONWriter(n)
	w.write(n)
	c.Data = w.text
	paths := map[*node]string{}
	if !w.failed {
		p, err := policy.Compile(w.text, "")
		problems, _ := err.(policy.Problems)
		if err != nil && problems == nil { // as for what is nested too deep
			syntax := err.(*policy.SyntaxError)
			f.add(n.at, Finding{Message: syntax.Err.Error()})
		}
		paths = f.problems(n, problems, w.untrue)
		if c.Valid = err == nil && len(w.broken) == 0; c.Valid {
			c.Rules = len(p.Rules)
		}
	}
	for _, b := range w.broken {
		f.add(b.at, Finding{Path: paths[b], Message: b.text})
	}
	f.file.Configurations = append(f.file.Configurations, *c)
}

// problems records those of a configuration, but for those about values that the
// policy did not see as they are, of which it returns the paths.
func (f *finder) problems(root *node, problems policy.Problems, unseen map[*node]bool) map[*node]string {
	l, paths := locator{root, map[string]int{}}, map[*node]string{}
	for _, p := range problems {
		n, at := l.locate(p)
		if unseen[n] {
			paths[n] = cmp.Or(paths[n], p.Path) // an alias's comes later
			continue
		}
		f.add(at, Finding{Path: p.Path, Message: p.Message})
	}
	return paths
}

// add records what is wrong at an offset in the file.
func (f *finder) add(at int, g Finding) {
	if g.Severity == "" {
		g.Severity = Error
	}
	g.Position = f.chart.position(at)
	f.file.Findings = append(f.file.Findings, g)
}
