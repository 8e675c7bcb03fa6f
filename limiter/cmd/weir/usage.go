package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// suggestFlag names the flags that a misspelt one is close to.
func suggestFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	// Cobra knows which commands are close to a name, so let flags be commands.
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	if close := flags.SuggestionsFor(unknown.GetSpecifiedName()); len(close) > 0 {
		return fmt.Errorf("%w, did you mean --%s?", err, strings.Join(close, " or --"))
	}
	return err
}

// noArgs is for commands that have flags only.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: what has blanks needs quotes", args[0])
	}
	return nil
}

// refineHelp lets `weir help` fail for what there is no help on.
func refineHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic(err)
	}
	help.Use, help.Short, help.Long = "help [COMMAND]", "Show the help of a command", "Show the help of a command, as its --help does."
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		cmd, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("unknown command %q for %q", rest[0], cmd.CommandPath())
		}
		if err != nil {
			return err
		}
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		return cmd.Help()
	}
}
