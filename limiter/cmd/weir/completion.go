package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// refineCompletion lets `weir completion` fail for a shell that it does not know.
func refineCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err)
	}
	completion.Use, completion.Short = "completion SHELL", "Write the script that completes commands in a shell"
	completion.Long = `Write the script that completes the commands of weir, their flags and values in a
shell: bash, fish, powershell or zsh. The help of each says how to load it.`
	completion.Example = "  source <(weir completion bash)"
	completion.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New("no shell: want bash, fish, powershell or zsh")
		}
		return fmt.Errorf("unknown shell %q: want bash, fish, powershell or zsh", args[0])
	}
	completion.RunE = func(*cobra.Command, []string) error { return nil } // so that arguments are looked at
}

// completeFiles has shells complete flags by the files that they are about, and
// nothing in place of arguments that the command does not have.
func completeFiles(cmd *cobra.Command) {
	configs := []string{"json", "yaml", "yml"}
	for name, endings := range map[string][]string{"config": configs, "against": configs, "json": {"json"}, "html": {"html"}} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Value.Type() == "string" {
			_ = cmd.MarkFlagFilename(name, endings...) // there is such a flag
		}
	}
	if cmd.Flags().Lookup("request") != nil || cmd.Flags().Lookup("traffic") != nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completeValues has shells complete a flag by the values that it has.
func completeValues(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}
