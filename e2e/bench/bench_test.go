package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyconf"
	"github.com/weirproxy/weir/limiter/policy"
)

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values []int64
		q      float64
		want   int64
	}{
		{[]int64{7}, 0, 7},
		{[]int64{7}, 1, 7},
		{[]int64{3, 1, 2}, 0, 1},
		{[]int64{3, 1, 2}, 0.5, 2},
		{[]int64{3, 1, 2}, 1, 3},
		{[]int64{4, 3, 2, 1}, 0.5, 3}, // no interpolation: the upper of the two
		{[]int64{4, 3, 2, 1}, 0.25, 2},
		{[]int64{50, 40, 30, 20, 10}, 0.25, 20},
		{[]int64{50, 40, 30, 20, 10}, 0.75, 40},
	} {
		before := slices.Clone(test.values)
		if got := quantile(test.values, test.q); got != test.want {
			t.Errorf("quantile(%v, %v) = %d, want %d", test.values, test.q, got, test.want)
		}
		if !slices.Equal(test.values, before) {
			t.Errorf("quantile has sorted its argument: %v", test.values)
		}
	}
}

// someCosts are of three rounds, the second of which was slow for everybody.
func someCosts() costs {
	us := func(each ...time.Duration) []time.Duration {
		for i := range each {
			each[i] *= time.Microsecond
		}
		return each
	}
	return costs{noFilter: us(10, 30, 10), admitFloor: us(14, 40, 15), weirAdmit: us(16, 45, 20), "cheap": us(9, 29, 8)}
}

// TestCosts: what is compared is of the same round.
func TestCosts(t *testing.T) {
	all := someCosts()
	for name, want := range map[string][]time.Duration{noFilter: {0, 0, 0}, admitFloor: {4, 10, 5}, weirAdmit: {6, 15, 10}, "cheap": {-1, -1, -2}} {
		got := all.above(name, noFilter)
		for i := range want {
			want[i] *= time.Microsecond
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s above no filter: %v, want %v", name, got, want)
		}
	}
	if got := all.ratio(weirAdmit, admitFloor, noFilter); got != 1.5 { // of 1.5, 1.5 and 2
		t.Errorf("ratio %v, want 1.5", got)
	}
	if got := all.ratio(admitFloor, admitFloor, noFilter); got != 1 {
		t.Errorf("ratio to itself %v, want 1", got)
	}
	if got := micro(12345); got != "12.3" {
		t.Errorf("micro %q", got)
	}
}

// TestChart: it is XML with a bar for each contender, whose widths are as the
// medians, and none is negative.
func TestChart(t *testing.T) {
	contenders := []contender{{name: admitFloor}, {name: weirAdmit}, {name: "cheap"}}
	var names []string
	widths := map[string]string{}
	decoder := xml.NewDecoder(strings.NewReader(string(chart(contenders, someCosts()))))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "rect" && attribute(token, "height") == "16" {
				widths[names[len(names)-1]] = attribute(token, "width")
			}
		case xml.CharData:
			for _, c := range contenders {
				if string(token) == c.name {
					names = append(names, c.name)
				}
			}
		}
	}
	if want := []string{admitFloor, weirAdmit, "cheap"}; !slices.Equal(names, want) {
		t.Errorf("bars of %q, want %q", names, want)
	}
	// The upper quartile of Weir, 15 µs by the nearest rank, is as wide as the chart.
	for name, want := range map[string]string{admitFloor: "140", weirAdmit: "280", "cheap": "0"} {
		if widths[name] != want {
			t.Errorf("%s: width %q, want %q", name, widths[name], want)
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestSections(t *testing.T) {
	if got := names(); got != "cost,growth,workers,latency,memory" {
		t.Errorf("sections %q", got)
	}
	for only, want := range map[string]string{
		"speed":      `no section "speed": want some of cost,growth,workers,latency,memory`,
		"cost,speed": `no section "speed": want some of cost,growth,workers,latency,memory`,
		"cos":        `no section "cos": want some of cost,growth,workers,latency,memory`,
	} {
		if err := run(t.Context(), options{only: only}); err == nil || err.Error() != want {
			t.Errorf("-only %s: %v, want %s", only, err, want)
		}
	}
}

// TestConfigurations compiles what Weir is measured with.
func TestConfigurations(t *testing.T) {
	type measured struct {
		configuration string
		rules         int
	}
	all := map[string]measured{
		"1 rule":   {admitting(1, ""), 1},
		"headers":  {admitting(1, `"headers": ["retry-after", "ratelimit"], `), 1},
		"refusing": {refusing, 1},
	}
	for _, c := range slices.Concat(limits(`{"requests": %d, "window": "1d"}`), liveKeys()) {
		all[c.name] = measured{configurationOf(c), 1}
	}
	for i, c := range rules() {
		all[c.name+" rules"] = measured{configurationOf(c), 1 << i}
	}
	if len(all) != 3+3+2+4 {
		t.Errorf("%d configurations", len(all))
	}
	for name, m := range all {
		p, err := policy.Compile([]byte(m.configuration), "bench")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(p.Rules) != m.rules {
			t.Errorf("%s: %d rules, want %d", name, len(p.Rules), m.rules)
		}
	}
}

// configurationOf is the JSON that a contender gives to Weir.
func configurationOf(c contender) string {
	at := c.filters[0].(envoyconf.Object)
	for _, name := range []string{"typed_config", "config", "configuration"} {
		at = at[name].(envoyconf.Object)
	}
	return at["value"].(string)
}
