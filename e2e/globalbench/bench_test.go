package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyconf"
	"github.com/weirproxy/weir/limiter/policy"
)

// TestResults: what is added is of the same round: the second was slow for all.
func TestResults(t *testing.T) {
	all := results{}
	add := func(name string, each ...time.Duration) {
		for _, µs := range each {
			d := µs * time.Microsecond
			all[name] = append(all[name], result{d, 2 * d, 3 * d})
		}
	}
	add(noFilter, 10, 100, 11)
	add(native, 20, 112, 21) // 10, 12, 10
	for _, c := range contenders[2:] {
		add(c.name, 25, 115, 27) // 15, 15, 16
	}
	var out bytes.Buffer
	all.print(&out)
	for _, line := range []string{
		"| no filter | 11 | 22 | | | | | | |\n",
		"| Envoy's ratelimit filter, service | 21 | 42 | 10 | 1.00 | 20 | 1.00 | 30 | 1.00 |\n",
		"| Weir, Redis | 27 | 54 | 15 | 1.50 | 30 | 1.50 | 45 | 1.50 |\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, &out)
		}
	}
}

// TestConfigurations compiles what Weir is measured with.
func TestConfigurations(t *testing.T) {
	for _, c := range contenders[2:] {
		at := c.filters()[0].(envoyconf.Object)
		for _, name := range []string{"typed_config", "config", "configuration"} {
			at = at[name].(envoyconf.Object)
		}
		if p, err := policy.Compile([]byte(at["value"].(string)), "bench"); err != nil || p.Global == nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
