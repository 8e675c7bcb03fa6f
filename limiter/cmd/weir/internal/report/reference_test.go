package report

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReferenceNamesEveryField holds envoy/report.md to the JSON, both ways: the
// first cell of a row has the paths of fields.
func TestReferenceNamesEveryField(t *testing.T) {
	page, err := os.ReadFile("../../../../../envoy/report.md")
	must(t, err)
	fields := jsonPaths(reflect.TypeFor[Report](), "")
	named := pagePaths(string(page))
	for _, path := range fields {
		if !slices.Contains(named, path) {
			t.Errorf("envoy/report.md has no row for `%s`", path)
		}
	}
	for i, path := range named {
		if !slices.Contains(fields, path) {
			t.Errorf("envoy/report.md has a row for `%s`, which is no field", path)
		}
		if slices.Contains(named[:i], path) {
			t.Errorf("envoy/report.md has two rows for `%s`", path)
		}
	}
	if len(fields) < 60 {
		t.Errorf("only %d fields: %q", len(fields), fields)
	}
}

// TestReferenceSaysWhatCanBeAbsent: the fields that JSON leaves out.
func TestReferenceSaysWhatCanBeAbsent(t *testing.T) {
	page, err := os.ReadFile("../../../../../envoy/report.md")
	must(t, err)
	marked := 0
	for line := range strings.Lines(string(page)) {
		for _, path := range pagePaths(line) {
			if strings.Contains(line, "*If any*") {
				marked++
			}
			if absent := strings.Contains(tagOf(reflect.TypeFor[Report](), path), ",omit"); absent != strings.Contains(line, "*If any*") {
				t.Errorf("envoy/report.md, `%s`: it can be absent %v", path, absent)
			}
		}
	}
	if marked < 10 {
		t.Errorf("only %d fields can be absent", marked)
	}
}

var (
	row  = regexp.MustCompile("(?m)^\\| (`[a-z_.\\[\\]]+`(?:, `[a-z_.\\[\\]]+`)*) \\|")
	code = regexp.MustCompile("`([^`]+)`")
)

// pagePaths are the paths in the first cells of the tables of fields. Those of
// the last table are algorithms.
func pagePaths(page string) (paths []string) {
	page, _, _ = strings.Cut(page, "| the limit counts by |")
	for _, cell := range row.FindAllStringSubmatch(page, -1) {
		for _, c := range code.FindAllStringSubmatch(cell[1], -1) {
			paths = append(paths, c[1])
		}
	}
	return paths
}

// jsonPaths are those of all fields of a type, as in runs[].name.
func jsonPaths(t reflect.Type, under string) (paths []string) {
	for field := range members(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		path := under + name
		paths = append(paths, path)
		inner := field.Type
		if inner.Kind() == reflect.Slice {
			inner, path = inner.Elem(), path+"[]"
		}
		paths = append(paths, jsonPaths(inner, path+".")...)
	}
	return paths
}

// members are the fields of a struct that is an object in JSON.
func members(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[Report]().PkgPath() {
			return
		}
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// tagOf is the tag of the field at a path.
func tagOf(t reflect.Type, path string) string {
	name, rest, deeper := strings.Cut(path, ".")
	for field := range members(t) {
		tag := field.Tag.Get("json")
		if called, _, _ := strings.Cut(tag, ","); called != strings.TrimSuffix(name, "[]") {
			continue
		}
		inner := field.Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if deeper {
			return tagOf(inner, rest)
		}
		return tag
	}
	return ""
}
