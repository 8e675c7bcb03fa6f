package child

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	// keptOutput is what is kept of a flood, at least. Up to twice as much is held,
	// so that a byte is moved once at most.
	keptOutput = 8 << 20

	// tailLines is how much of the output goes into an error: enough for a
	// backtrace and the lines before it. They are looked for in the last tailBytes,
	// which have all that Envoy prints before it refuses a bootstrap.
	tailLines = 30
	tailBytes = 64 << 10
)

// output collects what a process prints, and may be read meanwhile.
type output struct {
	mu      sync.Mutex
	buf     []byte
	dropped int // bytes that were before buf
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(o.buf, b...)
	if len(o.buf) > 2*keptOutput {
		cut := len(o.buf) - keptOutput
		if line := bytes.LastIndexByte(o.buf[:cut], '\n') + 1; line > 0 {
			cut = line // half of one would mislead
		}
		o.dropped += cut
		o.buf = append(o.buf[:0], o.buf[cut:]...)
	}
	return len(b), nil
}

// String returns all output so far that is kept.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dropped > 0 {
		return fmt.Sprintf("(%d bytes before this are not kept)\n", o.dropped) + string(o.buf)
	}
	return string(o.buf)
}

// tail returns the last lines but for noise, those that say why a program gave up.
func (o *output) tail(noise func(line string) bool) string {
	o.mu.Lock()
	end := string(o.buf[max(0, len(o.buf)-tailBytes):])
	o.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(end), "\n")
	if noise != nil {
		lines = slices.DeleteFunc(lines, noise)
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
