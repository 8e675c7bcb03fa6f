package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/manifest"
)

const validateLong = `validate finds the configurations of Weir in files and reports all that is wrong
with each, with the file, the line, the column and the path in the configuration.
The verdict is that of the code that runs in the proxy.

A FILE is one of

  - the filter's JSON itself
  - YAML or JSON of Envoy, with HTTP filters of the type
    envoy.extensions.filters.http.wasm.v3.Wasm, anywhere: in a bootstrap, in the
    patches of an Istio EnvoyFilter, in a TypedStruct
  - an Istio WasmPlugin or TrafficExtension, or an EnvoyExtensionPolicy of Envoy
    Gateway
  - a ConfigMap with any of these in its data, or a List

YAML may have several documents, anchors and merge keys. A key that is given twice
is wrong in a document that has a plugin of Weir. "-" is standard input.
Of a directory all files below it that end in .json, .yaml or .yml are read,
except where a name begins with a dot. There JSON counts as the filter's only if
it has rules with limits. Templates of Helm must be rendered first.

A plugin is Weir's if its name, root_id or vm_id, the name of its filter or of
its resource, or the place of its code has "weir" in it. Others are skipped. A
FILE that has no configuration of Weir is wrong, and so is a directory that has
none in any file.

Warnings are about plugins that work until something fails:

  - no failure_policy, of Istio no failStrategy: a VM that has died stays dead
  - no vm_id: the windows lie in shared data that other plugins have as well
  - a digest of nothing but zeros, in whose place no image has been filled in
  - a file in a directory that is empty

Formats:

  text    FILE:LINE:COLUMN: PATH: MESSAGE for each finding, then a line for each
          file that is valid
  github  workflow commands of GitHub Actions, which annotate the lines
  json    one object: "valid", and "files", each with "file", "configurations"
          ("line", "column", "carrier", "name", "rules", "valid"), "skipped"
          ("line", "column", "carrier", "name") and "findings" ("severity",
          "line", "column", "path", "message"). The carrier is "json", "envoy",
          "istio" or "envoy-gateway", the severity "error" or "warning". Other
          fields may be added

Lines and columns are from 1, columns in characters. Both are 0 in JSON, and left
out elsewhere, where a finding is about a file as a whole.

The exit status is 0 if all is valid, 1 if something is wrong, and 2 if the
command could not run, as for a file that cannot be read.`

const validateExample = `  weir validate envoy.yaml
  weir validate --strict --quiet deploy/
  weir validate --format github deploy/ envoy/weir.json
  helm template ./chart | weir validate -
  kubectl get wasmplugins -A -o yaml | weir validate --format json - | jq .valid`

type validateOptions struct {
	format        string
	strict, quiet bool
}

func newValidate() *cobra.Command {
	var o validateOptions
	c := &cobra.Command{
		Use:     "validate FILE...",
		Short:   "Find the configurations in files, and all that is wrong with them",
		Long:    validateLong,
		Example: validateExample,
		Args:    someFile,
		RunE:    func(c *cobra.Command, args []string) error { return o.run(args, c.InOrStdin(), c.OutOrStdout()) },
	}
	c.Flags().StringVar(&o.format, "format", "text", "the `FORMAT` to write: text, json or github")
	c.Flags().BoolVar(&o.strict, "strict", false, "let a warning count as wrong, in the exit status too")
	c.Flags().BoolVar(&o.quiet, "quiet", false, "write no line for a file that is valid, in text")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "github"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func someFile(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no file: name one, or a directory, or - for standard input")
	}
	return nil
}

// run writes nothing unless all files could be read.
func (o validateOptions) run(args []string, stdin io.Reader, out io.Writer) error {
	if formats := []string{"text", "json", "github"}; !slices.Contains(formats, o.format) {
		return fmt.Errorf("--format %q: want one of %s", o.format, strings.Join(formats, ", "))
	}
	var files []manifest.File
	for _, arg := range args {
		found, err := validateArg(arg, stdin)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if err := o.write(out, files); err != nil {
		return err
	}
	if slices.ContainsFunc(files, func(f manifest.File) bool { return !f.Valid(o.strict) }) {
		return errNo
	}
	return nil
}

func (o validateOptions) write(out io.Writer, files []manifest.File) error {
	switch o.format {
	case "json":
		return manifest.WriteJSON(out, files, o.strict)
	case "github":
		return manifest.WriteGitHub(out, files)
	default:
		return manifest.WriteText(out, files, o.strict, o.quiet)
	}
}

// validateArg reads a file, standard input or a directory.
func validateArg(arg string, stdin io.Reader) ([]manifest.File, error) {
	if arg == "-" {
		data, err := io.ReadAll(stdin)
		return []manifest.File{manifest.Find(arg, data, false)}, err
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return validateDirectory(arg)
	}
	data, err := os.ReadFile(arg)
	if err != nil {
		return nil, err
	}
	return []manifest.File{manifest.Find(arg, data, false)}, nil
}

// validateDirectory returns what is in the files of a directory, and if no
// configuration is, that as what is wrong with the directory.
func validateDirectory(dir string) ([]manifest.File, error) {
	paths, err := validatePaths(dir)
	if err != nil {
		return nil, err
	}
	var files []manifest.File
	none := true
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := manifest.Find(path, data, true)
		none = none && len(f.Configurations) == 0 && f.Valid(false)
		files = append(files, f)
	}
	if none {
		files = append(files, manifest.File{Name: dir, Findings: []manifest.Finding{manifest.NoneIn(files...)}})
	}
	return files, nil
}

// validatePaths returns the files below a directory that may have configurations.
// Links to files are followed, as mounted ConfigMaps consist of them.
func validatePaths(dir string) (paths []string, err error) {
	root := dir + string(filepath.Separator) // which is followed if it is a link
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		hidden := path != root && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && hidden:
			return fs.SkipDir
		case entry.IsDir() || hidden || !validateEnding(path):
			return nil
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}

func validateEnding(path string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, strings.ToLower(filepath.Ext(path)))
}
