package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWriteFileIsWhole or as it was: while it is written, and after an error,
// the file is the old one, and nothing lies beside it.
func TestWriteFileIsWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "report.json")
	if err := writeFile(name, text("old")); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("fault")
	err := writeFile(name, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		if got := read(t, name); got != "old" {
			t.Errorf("while it is written the file is %q, want the old one", got)
		}
		return fault
	})
	if !errors.Is(err, fault) {
		t.Errorf("error %v, want that of the writer", err)
	}
	if got := read(t, name); got != "old" {
		t.Errorf("after an error the file is %q, want the old one", got)
	}
	if err := writeFile(name, text("new")); err != nil || read(t, name) != "new" {
		t.Errorf("the file is %q, error %v, want the new one", read(t, name), err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("beside the file there is something: %v, %v", names, err)
	}
}

// TestWriteFileKeepsWhatItIs: its permissions, and that it is a link. A new one
// has those of os.Create.
func TestWriteFileKeepsWhatItIs(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "report.json"), filepath.Join(dir, "latest.json")
	if err := os.WriteFile(name, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("report.json", link); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(link, text("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, name); got != "new" {
		t.Errorf("what the link leads to is %q, want the new one", got)
	}
	if mode := mode(t, name); mode != 0o640 {
		t.Errorf("mode %v, want 0640", mode)
	}
	if mode := mode(t, link); mode&fs.ModeSymlink == 0 {
		t.Errorf("the link is a file now: %v", mode)
	}
	created, written := filepath.Join(dir, "created"), filepath.Join(dir, "written")
	f, err := os.Create(created)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := writeFile(written, text("")); err != nil {
		t.Fatal(err)
	}
	if mode(t, created) != mode(t, written) {
		t.Errorf("mode of a new file %v, want %v", mode(t, written), mode(t, created))
	}
}

// TestWriteFileToPipe writes to what is no file, and leaves it there.
func TestWriteFileToPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := os.Symlink(fmt.Sprintf("/dev/fd/%d", w.Fd()), name); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(name, text("through")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "through" {
		t.Errorf("the pipe has %q, %v", got, err)
	}
	if mode(t, name)&fs.ModeSymlink == 0 {
		t.Error("the link to the pipe is a file now")
	}
}

// TestWriteFileTakesLongNames, as long as the system does.
func TestWriteFileTakesLongNames(t *testing.T) {
	dir := t.TempDir()
	if err := writeFile(filepath.Join(dir, strings.Repeat("n", 255)), text("x")); err != nil {
		t.Error(err)
	}
	long := filepath.Join(dir, strings.Repeat("n", 256))
	if err := writeFile(long, text("x")); err == nil {
		t.Error("a name of 256 bytes was written")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("something was left: %v, %v", names, err)
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func mode(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}
