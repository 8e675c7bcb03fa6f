package manifest

import (
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzFind reads arbitrary files: whatever they are, every place is one in the
// file, every message one line, a file that was named has a configuration or
// says why not, and what is refused says why.
func FuzzFind(f *testing.F) {
	for _, dir := range []string{"testdata/good", "testdata/bad", "../../../../policy/testdata/bad", "../../../../policy/testdata/good"} {
		for _, path := range glob(f, 7, dir+"/*") {
			if !strings.HasSuffix(path, ".want") && !strings.HasSuffix(path, ".error") {
				f.Add(filepath.Ext(path) == ".json", read(f, path))
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
	for _, g := range got.Findings {
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
