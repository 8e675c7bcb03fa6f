package manifest

import (
	"bytes"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// FuzzFind reads arbitrary files: whatever they are, every place is one in the
// file, every message one line and told once, a file that was named has a
// configuration or says why not, and what is refused says why. No key of a valid
// document comes twice. It begins with the configurations of the policy's
// tests, each in one of the carriers in turn.
func FuzzFind(f *testing.F) {
	for _, dir := range []string{"testdata/good", "testdata/bad", "../../../../policy/testdata/bad", "../../../../policy/testdata/good"} {
		for i, path := range glob(f, 7, dir+"/*") {
			if !strings.HasSuffix(path, ".want") && !strings.HasSuffix(path, ".error") {
				f.Add(filepath.Ext(path) == ".json", read(f, path))
			}
			if strings.Contains(dir, "policy") && filepath.Ext(path) == ".json" {
				all := carriers(string(read(f, path)))
				names := slices.Sorted(maps.Keys(all))
				c := all[names[i/2%len(names)]] // each file has an .error beside it
				f.Add(filepath.Ext(c.name) == ".json", []byte(c.file))
			}
		}
	}
	f.Fuzz(func(t *testing.T, isJSON bool, data []byte) {
		name := "x.yaml"
		if isJSON {
			name = "x.json"
		}
		for _, name := range []string{name, "-"} {
			for _, walked := range []bool{false, true} {
				checkFile(t, name, data, walked)
			}
		}
	})
}

func checkFile(t *testing.T, name string, data []byte, walked bool) {
	got := Find(name, data, walked)
	refused := false
	for _, c := range got.Configurations {
		at(t, data, c.Position)
		refused = refused || !c.Valid
		if c.Valid && walked && c.Carrier == JSON && c.Rules == 0 {
			t.Errorf("Find(%q) took any JSON for a filter's: %+v", data, got)
		}
	}
	for _, s := range got.Skipped {
		at(t, data, s.Position)
	}
	told := map[Finding]bool{}
	for _, g := range got.Findings {
		if told[g] {
			t.Errorf("Find(%q) says %+v twice", data, g)
		}
		told[g] = true
		if g.Line > 0 {
			at(t, data, g.Position)
		}
		if strings.ContainsAny(g.Text(), "\r\n") || g.Message == "" {
			t.Errorf("Find(%q) says %q, want one line", data, g.Text())
		}
	}
	if refused && got.Valid(false) {
		t.Errorf("Find(%q) = %+v: refused, and does not say why", data, got)
	}
	if got.Valid(false) && carried(got) {
		if key := repeatedKey(data); key != "" {
			t.Errorf("Find(%q) = %+v: valid, and says nothing of %s", data, got, key)
		}
	}
	if !walked && len(got.Configurations) == 0 && got.Valid(false) {
		t.Errorf("Find(%q) = %+v: has no configuration, and does not say so", data, got)
	}
	if again := Find(name, data, walked); !reflect.DeepEqual(again, got) {
		t.Errorf("Find(%q) = %+v, then %+v", data, got, again)
	}
	for _, err := range []error{WriteText(io.Discard, []File{got}, true, false), WriteGitHub(io.Discard, []File{got}), WriteJSON(io.Discard, []File{got}, true)} {
		if err != nil {
			t.Errorf("Find(%q) cannot be written: %v", data, err)
		}
	}
}

// carried reports whether a configuration was found in a manifest.
func carried(f File) bool {
	for _, c := range f.Configurations {
		if c.Carrier != JSON {
			return true
		}
	}
	return false
}

var alreadyDefined = regexp.MustCompile(`mapping key "[^"]+" already defined`)

// repeatedKey is what yaml/v3 says of a key that comes twice in a text of one
// document, or empty.
func repeatedKey(data []byte) string {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var value, more any
	err := d.Decode(&value)
	if err == nil || d.Decode(&more) != io.EOF {
		return ""
	}
	return alreadyDefined.FindString(err.Error())
}
