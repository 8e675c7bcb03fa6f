package manifests

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// applied is a file that a page has the reader apply.
var applied = regexp.MustCompile(`(?m)^ *\$ kubectl apply -f (\S+)`)

// TestMeshPagesBeginInShadow: what a reader of the pages applies first refuses nobody,
// and is otherwise what he applies in the end.
func TestMeshPagesBeginInShadow(t *testing.T) {
	for page, configuration := range map[string]func(document) any{
		"istio/README.md": func(d document) any { return d.at("spec", "pluginConfig") },
		"gateway/README.md": func(d document) any {
			return d.at("spec", "wasm").([]any)[0].(object)["config"]
		},
	} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, page))
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, step := range applied.FindAllStringSubmatch(string(text), -1) {
				steps = append(steps, step[1])
			}
			if len(steps) < 2 || !slices.Equal(steps[:2], []string{"shadow.yaml", "gateway.yaml"}) {
				t.Fatalf("applied are %q, want shadow.yaml and then gateway.yaml", steps)
			}
			dir := t.TempDir()
			followed(t, page, dir, "IMAGE="+image)
			first, last := read(t, filepath.Join(dir, steps[0])), read(t, filepath.Join(dir, steps[1]))
			if len(first) != 1 || len(last) != 1 {
				t.Fatalf("%d and %d documents, want 1", len(first), len(last))
			}
			if err := check(first[0]); err != nil {
				t.Error(err)
			}
			for _, rule := range inShadow(t, configuration(first[0])) {
				delete(rule, "shadow")
			}
			if !reflect.DeepEqual(first[0].value, last[0].value) {
				t.Errorf("more differs than shadow:\n%s\n%s", first[0].json(), last[0].json())
			}
		})
	}
}

// inShadow are the rules of a configuration, all of which must be in shadow.
func inShadow(t *testing.T, configuration any) (rules []object) {
	t.Helper()
	all, _ := document{value: object{"of": configuration}}.at("of", "rules").([]any)
	if len(all) == 0 {
		t.Fatalf("no rules in %v", configuration)
	}
	for _, r := range all {
		rule := r.(object)
		if rule["shadow"] != true {
			t.Errorf("a rule is enforced: %v", rule)
		}
		rules = append(rules, rule)
	}
	return rules
}

// TestMeshPagesFindFault follows the pages with an image that nobody has filled in,
// and with a file that does not come: the shell stops, and says which file it is.
func TestMeshPagesFindFault(t *testing.T) {
	for _, page := range []string{"istio/README.md", "gateway/README.md"} {
		placeholder := "IMAGE=oci://registry.test/weir@sha256:" + strings.Repeat("0", 64)
		for want, environment := range map[string][]string{
			"the digest is a placeholder":       {placeholder},
			"global-redis.yaml: warning: empty": {"IMAGE=" + image, "GONE=global-redis.yaml"},
		} {
			dir := t.TempDir()
			said, err := follow(t, page, dir, environment...)
			if err == nil || !strings.Contains(said, want) {
				t.Errorf("%s with %q: %v, want a word of %s in\n%s", page, environment, err, want, said)
			}
			if _, err := os.Stat(filepath.Join(dir, "shadow.yaml")); err == nil {
				t.Errorf("%s with %q: the shell went on", page, environment)
			}
		}
	}
}
