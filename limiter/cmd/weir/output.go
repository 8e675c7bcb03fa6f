package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// An output is where a report goes: text on standard output unless that is
// asked for as JSON, and files beside it.
type output struct{ json, html string }

func (o *output) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.json, "json", "", "write the report as JSON to a `FILE`; - for standard output, in place of the text")
	cmd.Flags().StringVar(&o.html, "html", "", "write the report as one HTML page to a `FILE`")
}

// files are those that are written.
func (o *output) files() []string {
	if o.json == "-" {
		return []string{o.html}
	}
	return []string{o.json, o.html}
}

func (o *output) write(cmd *cobra.Command, r *report.Report) error {
	if o.html != "" {
		if err := writeFile(o.html, r.WriteHTML); err != nil {
			return err
		}
	}
	switch o.json {
	case "":
	case "-":
		return r.WriteJSON(cmd.OutOrStdout())
	default:
		if err := writeFile(o.json, r.WriteJSON); err != nil {
			return err
		}
	}
	return r.WriteText(cmd.OutOrStdout())
}

// checkOutputs says before a long run what would keep files from being written
// after it, or would be lost by that, since it is what is read. Names may be
// empty.
func checkOutputs(outputs, inputs []string) error {
	for i, name := range outputs {
		if name == "" {
			continue
		}
		if name == "-" {
			return errors.New("-: want the name of a file to write; standard output is for --json alone")
		}
		if slices.ContainsFunc(outputs[:i], func(other string) bool { return sameFile(other, name) }) {
			return fmt.Errorf("%s: two things cannot be written to one file", name)
		}
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = os.Stat(filepath.Dir(name))
		}
		switch {
		case err != nil:
			return fmt.Errorf("cannot write %s: %w", name, err)
		case info == nil:
		case info.IsDir():
			return fmt.Errorf("cannot write %s: is a directory", name)
		case info.Mode().IsRegular() && slices.ContainsFunc(inputs, func(in string) bool { return sameFile(in, name) }):
			return fmt.Errorf("cannot write %s: it is what is read", name)
		}
	}
	return nil
}

// sameFile says whether two names are of one file, which need not be there yet.
func sameFile(a, b string) bool {
	if filepath.Base(a) == filepath.Base(b) && sameThing(filepath.Dir(a), filepath.Dir(b)) {
		return a != "" && b != ""
	}
	return sameThing(a, b)
}

// sameThing says whether two names are of one thing that is there.
func sameThing(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// writeFile makes a file of what is written to it. The file is there as a whole
// or, if something fails or the command is stopped, as it was before.
func writeFile(name string, write func(io.Writer) error) error {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() { // a device or a pipe
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return fill(f, write)
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	beside := filepath.Join(filepath.Dir(name), fmt.Sprintf(".weir-%016x", rand.Uint64()))
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, errors.Unwrap(err))
	}
	if err = fill(f, write); err == nil && info != nil {
		err = os.Chmod(beside, info.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return nil
}

// fill writes a file and closes it.
func fill(f *os.File, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
