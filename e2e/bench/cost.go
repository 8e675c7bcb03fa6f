package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/weirproxy/weir/e2e/envoyconf"
)

// Names of contenders that others are compared with.
const (
	noFilter     = "no filter"
	nativeAdmit  = "native, admitting"
	nativeRefuse = "native, refusing"
	admitFloor   = "admit floor"
	refuseFloor  = "refuse floor"
	weirAdmit    = "Weir, admitting"
	weirRefuse   = "Weir, refusing"
)

// cost measures each kind of filter.
func cost(ctx context.Context, o options) error {
	contenders := []contender{
		{name: noFilter, keys: manyKeys, status: 200},
		{name: nativeAdmit, filters: []any{native(nativeAdmit, 1_000_000)}, keys: manyKeys, status: 200},
		{name: nativeRefuse, filters: []any{native(nativeRefuse, 1)}, keys: manyKeys, status: 429},
		floor(admitFloor, "e2e/floor/admit.wasm", 200),
		floor("admit floor, in Go", "build/goadmit.wasm", 200),
		floor(refuseFloor, "e2e/floor/refuse.wasm", 429),
		weir(weirAdmit, admitting(1, ""), manyKeys, 200),
		weir("Weir, 2 rules", admitting(2, ""), manyKeys, 200),
		weir("Weir, 4 rules", admitting(4, ""), manyKeys, 200),
		weir("Weir, RateLimit headers", admitting(1, `"headers": ["retry-after", "ratelimit"], `), manyKeys, 200),
		weir(weirRefuse, refusing, 100, 429),
		weir("Weir, refusing many keys", refusing, manyKeys, 429),
	}
	contenders = slices.DeleteFunc(contenders, func(c contender) bool { return c.name != noFilter && !o.match.MatchString(c.name) })
	all, err := measure(ctx, 1, contenders, o)
	if err != nil {
		return err
	}
	fmt.Printf("\n| CPU of Envoy per request, µs | median | least | quartiles | above no filter | ÷ native | ÷ floor |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range contenders {
		to, under := nativeAdmit, admitFloor
		if c.status == 429 {
			to, under = nativeRefuse, refuseFloor
		}
		over, toNative, toFloor := "", "", ""
		if c.name != noFilter {
			over = micro(quantile(all.above(c.name, noFilter), 0.5))
		}
		if c.name != noFilter && all[to] != nil && all[under] != nil {
			toNative, toFloor = fmt.Sprintf("%.1f", all.ratio(c.name, to, noFilter)), fmt.Sprintf("%.2f", all.ratio(c.name, under, noFilter))
		}
		each := all[c.name]
		fmt.Printf("| %s | %s | %s | %s–%s | %s | %s | %s |\n", c.name, micro(quantile(each, 0.5)), micro(quantile(each, 0)),
			micro(quantile(each, 0.25)), micro(quantile(each, 0.75)), over, toNative, toFloor)
	}
	if o.svg == "" {
		return nil
	}
	return os.WriteFile(o.svg, chart(contenders[1:], all), 0o644)
}

// admitting is a configuration of so many rules that refuse nobody here.
func admitting(rules int, options string) string {
	var each []string
	for i := range rules {
		each = append(each, rule(fmt.Sprintf("rule-%d", i), `{"requests": 10, "window": "1s"}`))
	}
	return configuration(options, each...)
}

// refusing is a configuration that refuses every key from its second request on.
var refusing = configuration("", rule("one", `{"requests": 1, "window": "1d"}`))

func rule(name, limit string) string {
	return fmt.Sprintf(`{"name": %q, "key": [{"header": "x-key"}], "limits": [%s]}`, name, limit)
}

// configuration has its options end in a comma.
func configuration(options string, rules ...string) string {
	return "{" + options + `"rules": [` + strings.Join(rules, ", ") + `]}`
}

// native is Envoy's own local rate limit, with a token bucket for each key.
func native(name string, tokens int) any {
	object := func(pairs ...any) envoyconf.Object {
		o := envoyconf.Object{}
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
		return o
	}
	bucket := func(tokens int) envoyconf.Object {
		return object("max_tokens", tokens, "tokens_per_fill", tokens, "fill_interval", "3600s")
	}
	always := object("default_value", object("numerator", 100, "denominator", "HUNDRED"))
	action := object("request_headers", object("header_name", "x-key", "descriptor_key", "key"))
	return envoyconf.Extension("envoy.filters.http.local_ratelimit", "filters.http.local_ratelimit.v3.LocalRateLimit", object(
		"stat_prefix", strings.ReplaceAll(name, ", ", "_"),
		"token_bucket", bucket(1<<30),
		"filter_enabled", always, "filter_enforced", always,
		"rate_limits", []any{object("actions", []any{action})},
		"descriptors", []any{object("entries", []any{object("key", "key")}, "token_bucket", bucket(tokens))},
		"max_dynamic_descriptors", 2*manyKeys,
	))
}
