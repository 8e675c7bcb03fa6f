package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/explain"
)

const explainLong = `Show how a configuration sees one request: the path and the host in the one
spelling that rules compare, which exemption applies, which rules match and
which condition fails, the parts of each key, the limits that the key is held
to, and what the proxy would answer while nobody has used the keys (fresh), or
while the key of the rule has used all of its limits, and no other key has
(exhausted). The limits of a rate limit service are not known here: it is shown
what the service is asked.

The target is a path with its query, or a URL, which gives the host too, as a
Host header does. What is not given is absent: there are no other headers. A
repeated header is joined by commas, as Envoy does. --property says what else the
proxy knows, as Envoy calls it, with dots:

  xds.route_name                       the route
  connection.uri_san_peer_certificate  what peer_identity looks for first
  metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.CLAIM
                                       a claim; instead of payload, the provider_key

Values that are likely credentials (tokens, cookies, what is called like a key)
are shown as a hash, which is another one in every run. Queries are left out.

In JSON there is one object: "request", "path", "host", "exempt" (the index of the
exemption), "fresh", and "rules", each with "name", "conditions" ("condition",
"holds"), "matches", "key" ("source", "value"), "incomplete" (the key lacks a
part), "rejects" (and the request is refused for it), "override", "limits",
"global", "descriptor", "cost", "charged" ("request" or "response"), "enforced" and
"exhausted". An answer, fresh or exhausted, has "passes", "status", "details",
"headers", "body", "shadow" (the rules in shadow that would have refused) and
"unknown" (the rules that a rate limit service decides). What is empty is left
out, and other fields may be added.

The exit status is 0 whatever the answer is, and 2 if the command could not run,
as for a configuration that is refused.`

func newExplain() *cobra.Command {
	var (
		config, line, client string
		headers, properties  []string
		asJSON               bool
	)
	cmd := &cobra.Command{
		Use:   "explain --config FILE --request 'METHOD TARGET' [-H 'NAME: VALUE']...",
		Short: "Show what the rules make of one request",
		Long:  explainLong,
		Example: `  weir explain -c weir.json --request 'GET /api/x' -H 'x-user-id: alice'
  weir explain -c envoy.yaml --request 'POST https://shop.example/login' --client 198.51.100.7
  weir explain -c weir.json --request 'GET /' --property xds.route_name=checkout --json
  weir explain -c weir.json --request 'GET /' \
    --property metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.sub=alice`,
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
	f.StringVar(&client, "client", "192.0.2.1", "the `ADDRESS` of the client that Envoy trusts: an IPv4 or IPv6 address without a port")
	f.StringArrayVar(&properties, "property", nil, "`PATH=VALUE` of what else the proxy knows, as in xds.route_name=checkout; may be repeated")
	f.BoolVar(&asJSON, "json", false, "write one object of JSON, in place of the text")
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
