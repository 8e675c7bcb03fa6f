package child

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The program that floods prints so many lines.
const (
	floodLine  = "flood %8d of a line that is as long as one of Envoy's log, which has time, thread, level, component, file and what happened\n"
	floodLines = 3 * keptOutput / 100
)

// TestOutputWithoutLines: a flood without an end of line is bounded too, and so is
// what an error has of it.
func TestOutputWithoutLines(t *testing.T) {
	var o output
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	fmt.Fprintln(&o, "short")
	written := len("short\n")
	for range 3 * keptOutput / len(chunk) {
		if n, err := o.Write(chunk); n != len(chunk) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
		written += len(chunk)
		if len(o.buf) > 2*keptOutput || o.dropped+len(o.buf) != written || o.dropped > 0 && len(o.buf) < keptOutput {
			t.Fatalf("%d bytes dropped and %d kept of %d", o.dropped, len(o.buf), written)
		}
	}
	if o.dropped == 0 {
		t.Error("nothing is dropped")
	}
	if tail := o.tail(nil); tail != strings.Repeat("x", tailBytes) {
		t.Errorf("the tail has %d bytes, want %d", len(tail), tailBytes)
	}
}
