package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/explain"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/manifest"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/traffic"
)

// TestExamplesParse: every command has examples, and those that are shown are
// understood: the flags parse, those that are required are there, and the
// arguments are as many as the command takes.
func TestExamplesParse(t *testing.T) {
	for _, cmd := range runnable(newRoot()) {
		calls := examples(cmd)
		if len(calls) == 0 {
			t.Errorf("weir %s has no example", cmd.Name())
		}
		for _, words := range calls {
			if err := parse(words); err != nil {
				t.Errorf("%s: %v", strings.Join(words, " "), err)
			}
		}
	}
}

// runnable are the commands of Weir below one, which do something.
func runnable(under *cobra.Command) (list []*cobra.Command) {
	for _, cmd := range under.Commands() {
		switch {
		case cmd.Name() == "help" || cmd.Name() == "completion":
		case cmd.HasSubCommands():
			list = append(list, runnable(cmd)...)
		default:
			list = append(list, cmd)
		}
	}
	return list
}

// TestExamplesParseBites: what is wrong is found.
func TestExamplesParseBites(t *testing.T) {
	for _, words := range []string{"weir replay -c x", "weir replay a.log", "weir replay -c x --no a.log", "weir relpay -c x a.log", "weir sample --traffic nothing", "weir explain -c x"} {
		if err := parse(strings.Fields(words)); err == nil {
			t.Errorf("%s: no error", words)
		}
	}
}

// parse parses a call of weir, without running it.
func parse(words []string) error {
	cmd, args, err := newRoot().Find(words[1:])
	if err == nil {
		err = cmd.ParseFlags(args)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err == nil {
		err = cmd.ValidateRequiredFlags()
	}
	if specs := cmd.Flags().Lookup("traffic"); err == nil && specs != nil {
		_, err = parseTraffic(specs.Value.(pflag.SliceValue).GetSlice())
	}
	return err
}

// examples are the calls of weir in the examples of a command, as a shell would
// hand them on: joined at a \, cut at pipes and redirections, quotes gone.
func examples(cmd *cobra.Command) (calls [][]string) {
	for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
		for call := range strings.SplitSeq(line, "|") {
			call, _, _ = strings.Cut(call, ">")
			if words := shellWords(call); len(words) > 0 && words[0] == "weir" {
				calls = append(calls, words)
			}
		}
	}
	return calls
}

// shellWords cuts at blanks that are not within single quotes.
func shellWords(line string) (words []string) {
	for i, piece := range strings.Split(strings.TrimSpace(line), "'") {
		if i%2 == 0 {
			words = append(words, strings.Fields(piece)...)
		} else {
			words = append(words, piece)
		}
	}
	return words
}

// TestHelpIsNarrow enough for a terminal, but for the lines of flags.
func TestHelpIsNarrow(t *testing.T) {
	for _, cmd := range append(runnable(newRoot()), newRoot()) {
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if n := len([]rune(line)); n > 100 {
				t.Errorf("help of %s: a line of %d characters: %s", cmd.Name(), n, line)
			}
		}
	}
}

// TestHelpSaysTheExitStatus of what a script asks weir for, and names what each
// flag wants.
func TestHelpSaysTheExitStatus(t *testing.T) {
	for _, path := range []string{"validate", "explain", "replay", "simulate", "sample", "image", "image build", "image push"} {
		cmd, _, err := newRoot().Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(cmd.Long, "\nThe exit status is 0 ") {
			t.Errorf("the help of %s does not say what the exit status is", path)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, usage := pflag.UnquoteUsage(f); name != strings.ToUpper(name) || usage == "" {
				t.Errorf("--%s of %s wants %q, and its help is %q", f.Name, path, name, usage)
			}
		})
	}
}

// TestHelpNamesEveryField of the JSON that a command writes.
func TestHelpNamesEveryField(t *testing.T) {
	for long, result := range map[string]any{explainLong: explain.Explanation{}, validateLong: manifest.Result{}} {
		names := fieldNames(reflect.TypeOf(result))
		if len(names) < 10 {
			t.Errorf("%T has the fields %q, want more", result, names)
		}
		for _, name := range names {
			if !strings.Contains(long, `"`+name+`"`) {
				t.Errorf("the help does not say what %q is in %T", name, result)
			}
		}
	}
}

// fieldNames are those of the objects in the JSON of a type.
func fieldNames(t reflect.Type) (names []string) {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return fieldNames(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == "-" {
				continue
			} else if name != "" {
				names = append(names, name)
			}
			names = append(names, fieldNames(f.Type)...)
		}
	}
	return names
}

// TestFormatsAreKnown: those that help and completion name are those that there are.
func TestFormatsAreKnown(t *testing.T) {
	for _, name := range logFormats {
		if _, err := accesslog.ParseFormat(name); err != nil {
			t.Errorf("replay --format %s: %v", name, err)
		}
	}
	_, err := accesslog.ParseFormat("?")
	if err == nil {
		t.Fatal("? is a format")
	}
	_, list, _ := strings.Cut(err.Error(), "want ")
	list, _, _ = strings.Cut(list, ", a format string")
	if known := strings.Split(list, ", "); !slices.Equal(slices.Sorted(slices.Values(known)), logFormats) {
		t.Errorf("help names %q, and there are %q", logFormats, known)
	}
	for _, name := range traffic.Formats {
		if !slices.Contains(logFormats, name) {
			t.Errorf("sample writes %s, which replay has no name for", name)
		}
	}
}

// TestHelpIsTrue: the format strings that the help of replay shows can be used.
func TestHelpIsTrue(t *testing.T) {
	long := newReplay().Long
	shown := 0
	for line := range strings.Lines(long) {
		if words := shellWords(line); len(words) == 2 && words[0] == "--format" {
			shown++
			if _, err := accesslog.ParseFormat(words[1]); err != nil {
				t.Error(err)
			}
		}
	}
	if shown != 2 {
		t.Errorf("%d format strings are shown, want 2", shown)
	}
	if f, err := accesslog.ParseFormat("%START_TIME(%Y-%m-%dT%H:%M:%S.%6fZ)%"); err != nil || f.Resolution().Microseconds() != 1 || !strings.Contains(long, f.String()) {
		t.Errorf("microseconds: %v, %v", f, err)
	}
	for _, name := range logFormats {
		if !strings.Contains(long, "\n  "+name+" ") {
			t.Errorf("the help of replay does not say what %s is", name)
		}
	}
}
