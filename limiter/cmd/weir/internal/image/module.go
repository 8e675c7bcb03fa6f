package image

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// A Module is a WebAssembly module.
type Module struct {
	Bytes []byte

	// Info is what the Go linker has written into it, nil if there is nothing.
	Info *debug.BuildInfo
}

// magic begins every core module; a component has another version.
const magic = "\x00asm\x01\x00\x00\x00"

// ReadModule reads the module in a file.
func ReadModule(name string) (*Module, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if string(head[:n]) != magic {
		return nil, fmt.Errorf("%s: not a WebAssembly module: it begins with %q, want %q", name, head[:n], magic)
	}
	rest, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	m := &Module{Bytes: append(head, rest...)}
	if m.Info, err = buildInfo(m.Bytes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// The linker marks the text of its information with these; debug/buildinfo,
// which knows executables of other kinds only, looks for it elsewhere.
var (
	infoStart, _ = hex.DecodeString("3077af0c9274080241e1c107e6d618e6")
	infoEnd, _   = hex.DecodeString("f932433186182072008242104116d8f2")
)

func buildInfo(module []byte) (*debug.BuildInfo, error) {
	_, rest, found := bytes.Cut(module, infoStart)
	if !found {
		return nil, nil
	}
	text, _, found := bytes.Cut(rest, infoEnd)
	if !found {
		return nil, errors.New("the build information of Go is cut short")
	}
	info, err := debug.ParseBuildInfo(string(text))
	if err != nil {
		return nil, fmt.Errorf("the build information of Go: %w", err)
	}
	info.GoVersion = compiler(module)
	return info, nil
}

// compiler is the version of Go that the linker notes in the section producers,
// the last one: each text there follows its length.
func compiler(module []byte) string {
	const name = "\x0eGo cmd/compile"
	at := bytes.LastIndex(module, []byte(name))
	if at < 0 {
		return ""
	}
	rest := module[at+len(name):]
	if len(rest) == 0 || int(rest[0]) >= len(rest) {
		return ""
	}
	return string(rest[1 : 1+rest[0]])
}

// setting is one of the build, such as vcs.revision; empty if it is not known.
func (m *Module) setting(key string) string {
	if m.Info == nil {
		return ""
	}
	for _, s := range m.Info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// version is that of the module's main package, if it was built as one.
func (m *Module) version() string {
	if m.Info == nil || m.Info.Main.Version == "(devel)" {
		return ""
	}
	return m.Info.Main.Version
}

// revision is the commit that it was built of, empty if that is not the whole
// truth.
func (m *Module) revision() string {
	if m.setting("vcs.modified") == "true" {
		return ""
	}
	return m.setting("vcs.revision")
}
