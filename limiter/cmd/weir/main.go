// Command weir answers, with the very code that runs in the proxy, what a
// configuration of Weir does: whether it is valid, how it sees one request, and
// what it would have done to yesterday's traffic.
//
//	weir validate   finds the configurations in files, and all that is wrong with them
//	weir explain    shows what the rules make of one request
//	weir replay     decides the requests of access logs
//	weir simulate   decides made-up traffic, by every algorithm
//	weir sample     writes a made-up access log
//	weir image      packs the module as an OCI image, and pushes it
//
// `weir help COMMAND` tells the rest. The exit status is 0 if all is well, 1 if
// the answer is no, as for a configuration that is wrong, and 2 if the command
// could not run.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// errNo ends a command whose answer is no, and which has said so.
var errNo = errors.New("the answer is no")

// run returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &outlet{Writer: stdout}
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	if err == nil {
		err = out.err
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNo):
		return 1
	}
	fmt.Fprintf(stderr, "weir: %s\n", strings.TrimSpace(err.Error()))
	if cmd == root || !cmd.SilenceUsage {
		fmt.Fprintf(stderr, "See weir help%s.\n", strings.TrimPrefix(cmd.CommandPath(), root.Name()))
	}
	return 2
}

// An outlet remembers that something could not be written, which help does not
// report.
type outlet struct {
	io.Writer
	err error
}

func (o *outlet) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil {
		o.err = err
	}
	return n, err
}

func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false
	root := &cobra.Command{
		Use:   "weir",
		Short: "Try limits of Weir on configurations, requests and access logs",
		Long: `weir answers, with the very code that runs in the proxy, what a configuration
of Weir does: whether it is valid, how it sees one request, and what it would
have done to yesterday's traffic.

The exit status is 0 if all is well, 1 if the answer is no, as for a
configuration that weir validate finds wrong, and 2 if the command could not run.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		// What a command returns once it has begun is not about its usage.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateRequiredFlags(); err != nil {
				return err
			}
			cmd.SilenceUsage = true
			return nil
		},
	}
	root.SetFlagErrorFunc(suggestFlag)
	root.AddCommand(newValidate(), newExplain(), newReplay(), newSimulate(), newSample(), newImage())
	for _, cmd := range root.Commands() {
		completeFiles(cmd)
	}
	refineHelp(root)
	refineCompletion(root)
	return root
}

// version is that of the module; a build of a checkout has one made of its commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
