package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/explain"
)

func newExplain() *cobra.Command {
	var (
		config, line, client string
		headers, properties  []string
		asJSON               bool
	)
	cmd := &cobra.Command{
		Use:   "explain --config FILE --request 'METHOD TARGET' [-H 'NAME: VALUE']...",
		Short: "Show what the rules make of one request",
		Long: `Show how a configuration sees one request: the path and the host in the one
spelling that rules compare, which exemption applies, which rules match and
which condition fails, the parts of each key, the limits that the key is held
to, and what the proxy would answer while nobody has used the keys (fresh), or
while the key of the rule has used all of its limits, and no other key has
(exhausted).

The target is a path with its query, or a URL, which gives the host too, as a
Host header does. A repeated header is joined by commas, as Envoy does.

Values that are likely credentials (tokens, cookies, what is called like a key)
are shown as a hash, which is another one in every run. Queries are left out.`,
		Example: `  weir explain -c weir.json --request 'GET /api/x' -H 'x-user-id: alice'
  weir explain -c envoy.yaml --request 'POST https://shop.example/login' --client 198.51.100.7
  weir explain -c weir.json --request 'GET /' --property xds.route_name=checkout --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req, err := explain.NewRequest(line, headers, client, properties)
			if err != nil {
				return err
			}
			data, err := loadConfig(config)
			if err != nil {
				return err
			}
			x, err := explain.Explain(data, req)
			if err != nil {
				return fmt.Errorf("%s: %w", config, err)
			}
			if !asJSON {
				_, err = fmt.Fprint(cmd.OutOrStdout(), x)
				return err
			}
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetIndent("", "  ")
			e.SetEscapeHTML(false)
			return e.Encode(x)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&config, "config", "c", "", "`FILE` with the configuration: the filter's JSON, or a manifest that has it once")
	f.StringVarP(&line, "request", "r", "", "`LINE` of the request: its method and path or URL, as in 'GET /api/x'")
	f.StringArrayVarP(&headers, "header", "H", nil, "`HEADER`, as in 'x-user-id: alice'; may be repeated")
	f.StringVar(&client, "client", "192.0.2.1", "the `ADDRESS` of the client that Envoy trusts")
	f.StringArrayVar(&properties, "property", nil, "`PATH=VALUE` of what else the proxy knows, as in xds.route_name=checkout; may be repeated")
	f.BoolVar(&asJSON, "json", false, "write JSON")
	require(cmd, "config", "request")
	return cmd
}

// require makes flags of a command required.
func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // there is no such flag
		}
	}
}
