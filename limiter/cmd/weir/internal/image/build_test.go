package image

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden holds every byte of a layout but those of the compressed layer,
// whose digest the manifest has. -update writes what is there now.
func TestGolden(t *testing.T) {
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			dir, _ := written(t, full(format))
			got := listing(t, dir)
			golden := filepath.Join("testdata", format+".golden")
			if *update {
				writeFile(t, golden, got)
			}
			if want := readFile(t, golden); got != want {
				t.Errorf("the layout has changed, and so have the digests that users have written down; -update accepts that. Got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// listing is the text of all files of a layout, in order.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		short, _ := filepath.Rel(dir, name)
		all.WriteString("-- " + info.Mode().String() + " " + filepath.ToSlash(short) + " --\n")
		var pretty bytes.Buffer
		if text := readFile(t, name); json.Indent(&pretty, []byte(text), "", "  ") == nil {
			all.WriteString(strings.TrimSpace(pretty.String()) + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestReproducible: two builds have the same digests, and what goes in makes a
// difference.
func TestReproducible(t *testing.T) {
	for _, format := range Formats {
		o := full(format)
		first, second := digests(t, build(t, o)), digests(t, build(t, o))
		if first != second {
			t.Errorf("%s: %s and %s", format, first, second)
		}
		for what, change := range map[string]func(*Options){
			"version": func(o *Options) { o.Version = "v1.2.4" },
			"created": func(o *Options) { o.Created = o.Created.Add(time.Second) },
		} {
			other := o
			change(&other)
			if digests(t, build(t, other)) == first {
				t.Errorf("%s: another %s makes the same image", format, what)
			}
		}
	}
}

func digests(t *testing.T, b *Bundle) string {
	t.Helper()
	var all []string
	for _, img := range append([]v1.Image{b.Image}, b.Attached...) {
		d, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d.String())
	}
	return strings.Join(all, " ")
}

// TestArchiveIsAnonymous: the layer says of nobody who made it or when.
func TestArchiveIsAnonymous(t *testing.T) {
	archive, layer, err := compatLayer([]byte(magic), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	// RFC 1952: no flags, so no name; no time; and no system.
	if head := layer.bytes[:10]; !bytes.Equal(head, []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255}) {
		t.Errorf("the head of gzip is % x", head)
	}
	if strings.Contains(string(archive), "root") {
		t.Error("the archive has an owner")
	}
}

// TestSaysItself: version and revision come from the module if they are not
// given, and the revision of a changed source is not said.
func TestSaysItself(t *testing.T) {
	const vcs = "build\tvcs=git\nbuild\tvcs.revision=abc\n"
	tagged := strings.Replace(fakeModule(vcs+"build\tvcs.modified=false\n"), "(devel)", "v9.8.77", 1)
	for _, row := range []struct{ module, version, revision string }{
		{tagged, "v9.8.77", "abc"},
		{fakeModule(vcs + "build\tvcs.modified=true\n"), "", ""},
		{magic, "", ""},
	} {
		b, err := Build(parse(t, row.module), Options{Format: Compat})
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Image.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		version, revision := m.Annotations["org.opencontainers.image.version"], m.Annotations["org.opencontainers.image.revision"]
		if version != row.version || revision != row.revision {
			t.Errorf("version %q, revision %q, want %q, %q", version, revision, row.version, row.revision)
		}
		if _, said := m.Annotations["org.opencontainers.image.revision"]; said != (row.revision != "") {
			t.Error("an unknown revision has an annotation")
		}
	}
}

// TestBuildRefuses what cannot be built.
func TestBuildRefuses(t *testing.T) {
	_, err := Build(parse(t, magic), Options{Format: "tar"})
	wantError(t, err, `format "tar": want compat or oci`)
	for _, o := range []Options{{Format: Compat, SBOM: true}, {Format: OCI, Provenance: true}} {
		_, err = Build(parse(t, magic), o)
		wantError(t, err, "the module has no build information of Go, which a bill of materials and a provenance are made of")
	}
}

// TestReadModuleRefuses what is no module.
func TestReadModuleRefuses(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "file")
	for text, want := range map[string]string{
		"":                              `: not a WebAssembly module: it begins with "", want "\x00asm\x01\x00\x00\x00"`,
		"\x7fELF...............":        `: not a WebAssembly module: it begins with "\x7fELF....", want "\x00asm\x01\x00\x00\x00"`,
		"\x00asm\x0d\x00\x01\x00":       `: not a WebAssembly module: it begins with "\x00asm\r\x00\x01\x00", want "\x00asm\x01\x00\x00\x00"`,
		magic + string(infoStart) + "x": `: the build information of Go is cut short`,
		magic + string(infoStart) + "dep\tx\n" + string(infoEnd): `: the build information of Go: could not parse Go build info: line 1: expected 2 or 3 columns; got 1`,
	} {
		writeFile(t, name, text)
		_, err := ReadModule(name)
		wantError(t, err, name+want)
	}
	missing := filepath.Join(dir, "missing")
	_, err := ReadModule(missing)
	wantError(t, err, "open "+missing+": no such file or directory")
}
