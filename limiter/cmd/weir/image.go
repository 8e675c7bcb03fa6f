package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/image"
)

func newImage() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image COMMAND",
		Short: "Pack the module as an OCI image, and push it",
		Long: `Pack the module as an OCI image in a folder, and push that to a registry, where
Istio, Envoy Gateway and container tools fetch it from.

The exit status is 0 if that is done, and 2 if it could not be.`,
		Example: `  weir image build --module build/weir.wasm --out build/image --version v1.2.3
  weir image push build/image registry.example.com/edge/weir:v1.2.3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q for %q: want build or push", args[0], cmd.CommandPath())
			}
			return nil
		},
		RunE:                  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		DisableFlagsInUseLine: true,
	}
	cmd.AddCommand(newImageBuild(), newImagePush())
	return cmd
}

// An imageBuilder is one call of the command.
type imageBuilder struct {
	module      string
	out         string
	annotations []string
	options     image.Options
}

func newImageBuild() *cobra.Command {
	var b imageBuilder
	cmd := &cobra.Command{
		Use:   "build --module FILE --out FOLDER",
		Short: "Write the module as an OCI image layout",
		Long: `Write the module as an OCI image, into a folder that is an OCI image layout, and
print the digest of the image. The folder must be empty or not there yet.

Formats, both of the Wasm Image Specification:
  compat  an ordinary image with one layer, which holds plugin.wasm
  oci     an artifact with media types for Wasm, in two layers

Istio and Envoy Gateway fetch both, and try compat first. It is the default since
registries and container tools handle it like any other image: plain Envoy users
copy plugin.wasm out of it.

The same module and flags make the same bytes. All times in them are that of the
environment variable SOURCE_DATE_EPOCH, in seconds since 1970, from 0 to
8589934591, or 1970 if that is not set.

The annotations org.opencontainers.image.* say title, description, source, time,
and, if they are known, version and revision. --sbom and --provenance attach
documents as artifacts of their own, which a registry lists as referrers of the
image. They are made of what the Go linker has written into the module. Nobody
signs them: they tell what to compare, and prove nothing by themselves.

The exit status is 0 if the image is written, and 2 if it could not be.`,
		Example: `  weir image build --module build/weir.wasm --out build/image --version v1.2.3
  weir image build --module build/weir.wasm --out build/image --sbom --provenance \
    --annotation 'org.opencontainers.image.vendor=The edge team'
  weir image build --module build/weir.wasm --out build/image --format oci`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&b.module, "module", "", "the `FILE` of the module, as make build writes it")
	f.StringVar(&b.out, "out", "", "the `FOLDER` to write")
	f.StringVar(&b.options.Format, "format", image.Compat, "the `FORMAT` of the image: "+strings.Join(image.Formats, " or "))
	f.StringVar(&b.options.Version, "version", "", "the `VERSION` of the module; by default what it says itself")
	f.StringVar(&b.options.Revision, "revision", "", "the `COMMIT` of its source; by default what it says itself")
	f.StringArrayVar(&b.annotations, "annotation", nil, "a `KEY=VALUE` to say of the image besides; may be repeated")
	f.BoolVar(&b.options.SBOM, "sbom", false, "attach a bill of materials, CycloneDX in JSON")
	f.BoolVar(&b.options.Provenance, "provenance", false, "attach a provenance, SLSA in JSON, unsigned")
	completeValues(cmd, "format", image.Formats...)
	_ = cmd.MarkFlagFilename("module", "wasm") // there are such flags
	_ = cmd.MarkFlagDirname("out")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	require(cmd, "module", "out")
	return cmd
}

// run writes the layout.
func (b *imageBuilder) run(cmd *cobra.Command) error {
	var err error
	if b.options.Created, err = sourceDate(os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}
	b.options.Annotations = map[string]string{}
	for _, a := range b.annotations {
		key, value, found := strings.Cut(a, "=")
		if !found || key == "" {
			return fmt.Errorf("--annotation %q: want KEY=VALUE", a)
		}
		b.options.Annotations[key] = value
	}
	module, err := image.ReadModule(b.module)
	if err != nil {
		return err
	}
	bundle, err := image.Build(module, b.options)
	if err != nil {
		return err
	}
	if err := bundle.Write(b.out); err != nil {
		return err
	}
	digest, err := bundle.Image.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), digest)
	return err
}

// sourceDate is the time that reproducible builds are told in their environment.
func sourceDate(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	// RFC 3339, which the annotations are in, ends with the year 9999, and USTAR
	// with the 33 bits of its field.
	if err != nil || seconds < 0 || seconds >= 1<<33 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q: want seconds since 1970", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func newImagePush() *cobra.Command {
	var o image.PushOptions
	cmd := &cobra.Command{
		Use:   "push FOLDER REFERENCE",
		Short: "Push an OCI image layout to a registry",
		Long: `Push the image in an OCI image layout, and what is attached to it, to a registry:
REFERENCE is REGISTRY/REPOSITORY:TAG. Print the reference that names the image by
its digest, for the url of a WasmPlugin or of an EnvoyExtensionPolicy.

The credentials are those that docker login, podman login and their helpers keep,
in DOCKER_CONFIG if that is set. Without any the registry is asked anonymously.
Before anything is sent, all files of the layout are held against their digests.
The tag is set last. A registry on this machine's loopback is reached by HTTP as
well as by HTTPS.

The exit status is 0 if all is pushed, and 2 if it could not be.`,
		Example: `  weir image push build/image registry.example.com/edge/weir:v1.2.3
  weir image push --insecure build/image registry.test:5000/weir:v1.2.3`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%d arguments: want FOLDER and REFERENCE", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			bundle, err := image.Open(args[0])
			if err != nil {
				return err
			}
			reference, err := bundle.Push(cmd.Context(), args[1], o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "oci://"+reference)
			return err
		},
	}
	cmd.Flags().BoolVar(&o.Insecure, "insecure", false, "allow plain HTTP, and certificates that nobody vouches for")
	return cmd
}
