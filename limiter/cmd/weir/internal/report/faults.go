package report

import "bytes"

// A Fault is why a file could not be read to its end, or why no line of it could.
type Fault struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// writeFaults says what keeps the figures from being those of the whole log.
func (in *Input) writeFaults(b *bytes.Buffer) {
	if in.OutOfOrder != "" {
		b.WriteString(wrap("Out of order: "+printable(in.OutOfOrder, 400)+".", "  ", textWidth))
	}
	if len(in.Faults) == 0 {
		return
	}
	b.WriteString("  Not read to the end, or not at all; the figures are of the rest:\n")
	for _, f := range in.Faults {
		b.WriteString(wrap(printable(f.File, 80)+": "+printable(f.Error, 300), "    ", textWidth))
	}
}
