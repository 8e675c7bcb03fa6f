package main

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
)

// progress shows how much of the logs has been read, if somebody looks on.
type progress struct {
	log   *accesslog.Log
	bar   *progressbar.ProgressBar
	lines int
}

func newProgress(cmd *cobra.Command, log *accesslog.Log, quiet bool) *progress {
	f, ok := cmd.ErrOrStderr().(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	size := log.Stats().Size
	if size == 0 {
		size = -1 // unknown: a spinner
	}
	return &progress{log: log, bar: progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(f), progressbar.OptionShowBytes(true), progressbar.OptionSetDescription("reading"),
		progressbar.OptionShowElapsedTimeOnFinish(), progressbar.OptionClearOnFinish())}
}

// linesAStep is how many lines are read between two looks at the clock.
const linesAStep = 1 << 14

// step is called for each line.
func (p *progress) step() {
	if p.bar == nil {
		return
	}
	if p.lines++; p.lines%linesAStep == 0 {
		p.show(p.bar.Set64(p.log.Stats().Read))
	}
}

func (p *progress) close() {
	if p.bar != nil {
		p.show(p.bar.Finish())
	}
}

// show gives up on a terminal that cannot be written to.
func (p *progress) show(err error) {
	if err != nil {
		p.bar = nil
	}
}
