package policy

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// readSchema returns the schema as a JSON value.
func readSchema(t testing.TB) map[string]any {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// eachSchema visits every schema within a value, with the path to it.
func eachSchema(value any, path string, visit func(path string, schema map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(path, v)
		for name, sub := range v {
			if name != "examples" && name != "default" && name != "const" && name != "enum" {
				eachSchema(sub, path+"/"+name, visit)
			}
		}
	case []any:
		for _, sub := range v {
			eachSchema(sub, path, visit)
		}
	}
}

// conditional says whether a schema only narrows another one.
func conditional(path string) bool {
	for _, keyword := range []string{"/if", "/then", "/else", "/not"} {
		if strings.Contains(path, keyword) {
			return true
		}
	}
	return strings.HasSuffix(path, "/override/oneOf")
}

// schemaProperties are the names of all properties, with their schemas.
func schemaProperties(t testing.TB) map[string][]map[string]any {
	t.Helper()
	properties := map[string][]map[string]any{}
	eachSchema(readSchema(t), "", func(path string, s map[string]any) {
		members, ok := s["properties"].(map[string]any)
		if !ok || conditional(path) || strings.HasSuffix(path, "/properties") {
			return
		}
		for name, member := range members {
			properties[name] = append(properties[name], member.(map[string]any))
		}
	})
	return properties
}

// TestSchemaIsForEditors: every property says what it does, every object is
// closed, and every example and default is right.
func TestSchemaIsForEditors(t *testing.T) {
	schema := readSchema(t)
	definitions := schema["$defs"].(map[string]any)
	for name, members := range schemaProperties(t) {
		for _, s := range members {
			if ref, ok := s["$ref"].(string); ok && s["description"] == nil {
				s = definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			}
			if text, _ := s["description"].(string); len(text) < 10 || !strings.HasSuffix(text, ".") {
				t.Errorf("property %s is described as %q", name, text)
			}
		}
	}
	examples := 0
	eachSchema(schema, "", func(path string, s map[string]any) {
		if s["properties"] != nil && !conditional(path) && !strings.HasSuffix(path, "/properties") && s["additionalProperties"] != false {
			t.Errorf("%s takes further properties", path)
		}
		values, _ := s["examples"].([]any)
		if s["default"] != nil && !strings.HasSuffix(path, "/properties") {
			values = append(slices.Clone(values), s["default"])
		}
		if strings.HasSuffix(path, "/properties") || len(values) == 0 {
			return
		}
		sub := compileAt(t, schema, path)
		for _, v := range values {
			examples++
			if err := sub.Validate(v); err != nil {
				t.Errorf("%s: example %v: %v", path, v, err)
			}
		}
	})
	if examples < 40 {
		t.Errorf("only %d examples", examples)
	}
}

// compileAt compiles the schema at a path, of which "oneOf" has no index.
func compileAt(t *testing.T, schema map[string]any, path string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("weir.json", doc); err != nil {
		t.Fatal(err)
	}
	path = strings.ReplaceAll(path, "/oneOf/", "/oneOf/1/") // the object
	s, err := c.Compile("weir.json#" + path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}

// withAnUnknownField returns a configuration once for each object in it, which has
// a field that nobody knows.
func withAnUnknownField(t *testing.T, config []byte) (all [][]byte) {
	t.Helper()
	decode := func() (value any) {
		if err := json.Unmarshal(config, &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	count := len(slots(decode(), nil))
	for i := -1; i < count; i++ {
		value := decode()
		target, ok := value.(map[string]any)
		if i >= 0 {
			target, ok = slots(value, nil)[i].value.(map[string]any)
		}
		if !ok {
			continue
		}
		target["colour of the bike shed"] = 1
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	return all
}

// TestSchemaKnowsTheParsersFields, and the parser the schema's: what the parser
// says it wants in place of an unknown field, in each object of the fullest
// configurations.
func TestSchemaKnowsTheParsersFields(t *testing.T) {
	quoted := regexp.MustCompile(`"([a-z0-9_]+)"`)
	known := map[string]bool{}
	ask := func(data []byte) {
		_, err := Compile(data, "test")
		for _, problem := range problemsOf(err) {
			if _, wanted, ok := strings.Cut(problem.Error(), " of "); ok {
				for _, m := range quoted.FindAllStringSubmatch(wanted, -1) {
					known[m[1]] = true
				}
			}
		}
	}
	good := fixtures(t, "good")
	for _, name := range []string{"everything", "global-redis", "global-rls"} {
		for _, data := range withAnUnknownField(t, good[name]) {
			ask(data)
		}
	}
	for _, name := range []string{"true"} { // of other messages
		delete(known, name)
	}
	if got, want := slices.Sorted(maps.Keys(schemaProperties(t))), slices.Sorted(maps.Keys(known)); !slices.Equal(got, want) {
		t.Errorf("properties of the schema:\n%q, fields of the parser:\n%q", got, want)
	}
}
