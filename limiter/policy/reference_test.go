package policy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestReferenceNamesEveryField holds envoy/configuration.md to the schema.
func TestReferenceNamesEveryField(t *testing.T) {
	page, err := os.ReadFile("../../envoy/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../envoy/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	propertyNames(schema, names)
	if len(names) < 75 {
		t.Errorf("only %d properties in the schema", len(names))
	}
	for name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("envoy/configuration.md does not name `%s`", name)
		}
	}
}

// propertyNames collects the names of all properties in a schema.
func propertyNames(schema any, names map[string]bool) {
	switch s := schema.(type) {
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				names[name] = true
			}
		}
		for _, sub := range s {
			propertyNames(sub, names)
		}
	case []any:
		for _, sub := range s {
			propertyNames(sub, names)
		}
	}
}
