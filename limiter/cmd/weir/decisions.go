package main

import (
	"bufio"
	"encoding/json"
	"os"
	"time"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
	"github.com/weirproxy/weir/limiter/policy"
)

// decisions are written for each request, if they are asked for.
type decisions struct {
	file    *os.File
	buffer  *bufio.Writer
	encoder *json.Encoder
	line    decisionLine
	err     error
}

// A decisionLine is what became of one request.
type decisionLine struct {
	File   string     `json:"file"`
	Line   int64      `json:"line"`
	Time   time.Time  `json:"time"`
	Status string     `json:"status,omitempty"` // as logged
	Runs   []decision `json:"runs"`             // of each configuration
}

// A decision is what one configuration says.
type decision struct {
	Decision string `json:"decision"`       // admit, refuse or error
	Rule     string `json:"rule,omitempty"` // that refuses
}

// newDecisions creates the file; none is no decisions.
func newDecisions(name string, runs int) (*decisions, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	d := &decisions{file: f, buffer: bufio.NewWriter(f), line: decisionLine{Runs: make([]decision, runs)}}
	d.encoder = json.NewEncoder(d.buffer)
	return d, nil
}

// note takes note of what a run says of the request.
func (d *decisions) note(run int, v *policy.Verdict) {
	if d == nil {
		return
	}
	switch r := &d.line.Runs[run]; {
	case v.Err != nil:
		*r = decision{Decision: "error"}
	case v.Reply != nil:
		*r = decision{Decision: "refuse", Rule: v.Reply.Rule}
	default:
		*r = decision{Decision: "admit"}
	}
}

// write writes the line of a request. An error is kept for close.
func (d *decisions) write(r *accesslog.Record) {
	if d == nil || d.err != nil {
		return
	}
	d.line.File, d.line.Line, d.line.Time, d.line.Status = r.File, r.Line, time.UnixMicro(r.Time).UTC(), r.Status
	d.err = d.encoder.Encode(&d.line)
}

func (d *decisions) close() error {
	if d == nil {
		return nil
	}
	if err := d.buffer.Flush(); d.err == nil {
		d.err = err
	}
	if err := d.file.Close(); d.err == nil {
		d.err = err
	}
	return d.err
}
