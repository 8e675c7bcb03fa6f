package envoyproc

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// tailLines is how much of the output goes into an error: enough for a backtrace
// and the lines before it.
const tailLines = 30

// output collects what a process prints, and may be read meanwhile.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

// String returns all output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// tail returns the last lines of the output, those that say why Envoy gave up.
func (o *output) tail() string {
	lines := strings.Split(strings.TrimSpace(o.String()), "\n")
	lines = slices.DeleteFunc(lines, isInventory)
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

// isInventory reports whether line belongs to the lists of all extensions and
// headers, 40 kB in total, which Envoy prints before it reads the bootstrap. They
// alone are indented:
//
//	[2026-11-30 09:23:37.017][11478][info][main] [source/server/server.cc:467]   envoy.string_matcher: envoy.string_matcher.lua
func isInventory(line string) bool {
	_, message, _ := strings.Cut(line, "[info][main] ")
	return strings.Contains(message, "]   ")
}
