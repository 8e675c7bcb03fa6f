package manifest

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// mappings are those of a document that a walk comes to without aliases.
func mappings(y *yaml.Node) (list []*yaml.Node) {
	if y.Kind == yaml.MappingNode {
		list = append(list, y)
	}
	for _, content := range y.Content {
		list = append(list, mappings(content)...)
	}
	return list
}

// TestEveryRepeatIsFound gives each key of each good manifest twice, and wants an
// error where yaml/v3 has the second.
func TestEveryRepeatIsFound(t *testing.T) {
	repeated := 0
	for _, path := range glob(t, 14, "testdata/good/*.[yj]*") {
		var doc yaml.Node
		if err := yaml.Unmarshal(read(t, path), &doc); err != nil {
			t.Fatal(err)
		}
		for i, m := range mappings(&doc) {
			for key := 0; key < len(m.Content); key += 2 {
				own := m.Content
				m.Content = slices.Concat(own, own[key:key+2])
				checkRepeat(t, path, &doc, i)
				m.Content = own
				repeated++
			}
		}
	}
	if repeated < 240 {
		t.Errorf("%d keys were repeated, want at least 240", repeated)
	}
}

// checkRepeat wants an error at the last key of a mapping.
func checkRepeat(t *testing.T, path string, doc *yaml.Node, mapping int) {
	t.Helper()
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(doc); err != nil {
		t.Fatal(err)
	}
	var again yaml.Node
	if err := yaml.Unmarshal(text.Bytes(), &again); err != nil {
		t.Fatal(err)
	}
	m := mappings(&again)[mapping]
	key := m.Content[len(m.Content)-2]
	f := Find("x.yaml", text.Bytes(), false)
	if !slices.ContainsFunc(f.Findings, func(g Finding) bool {
		return g.Severity == Error && g.Position == Position{key.Line, key.Column} && strings.Contains(g.Message, "given twice")
	}) {
		t.Errorf("%s: found %+v, and not that %q is given twice at %d:%d in\n%s", filepath.Base(path), f.Findings, key.Value, key.Line, key.Column, &text)
	}
}

// TestRepeatsOfOthers: keys that come twice are reported of documents with a
// plugin of Weir, and of those where one may be hidden by them.
func TestRepeatsOfOthers(t *testing.T) {
	const weirs = "kind: WasmPlugin\nmetadata: {name: weir}\nspec: {failStrategy: FAIL_OPEN, pluginConfig: {rules: []}}\n"
	const inMap = "kind: ConfigMap\ndata:\n  x: |\n    kind: WasmPlugin\n    metadata: {name: weir}\n    spec: {failStrategy: FAIL_OPEN, pluginConfig: {rules: []}}\n"
	const filter = `{"rules": [{"name": "a", "key": [], "limits": [{"requests": 1, "window": "1s"}]}]}`
	for _, test := range []struct {
		data  string
		wrong int
	}{
		{"a: 1\na: 2\n", 0},
		{"a: weir\na: 2\n", 0},
		{"kind: WasmPlugin\nmetadata: {name: coraza, name: coraza}\n", 0},
		{"kind: Deployment\nmetadata: {name: weir, name: weir}\n", 0},
		{weirs, 0},
		{weirs + "---\na: 1\na: 2\n", 0},
		{weirs + "kind: Service\n", 1},
		{weirs + "kind: WasmPlugin\nmetadata: {name: coraza}\nspec: {}\n", 3},
		{inMap + "kind: Service\n", 1},
		{"kind: ConfigMap\nkind: ConfigMap\ndata: {x.json: '" + filter + "'}\n", 1},
	} {
		if f := Find("x.yaml", []byte(test.data), true); len(f.Findings) != test.wrong {
			t.Errorf("Find(%s, walked) = %+v, want %d findings", test.data, f, test.wrong)
		}
	}
}
