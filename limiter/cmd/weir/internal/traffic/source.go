package traffic

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter/policy"
)

// A Source is a kind of traffic with its settings, which Help describes.
type Source struct {
	spec string // with nothing secret in it
	kind string

	rate          float64 // per second
	clients       int64
	first         int64 // number of the first client; 0: after those of the sources before
	skew, wave    float64
	size          int64 // of a burst
	every, spread time.Duration
	obey          bool
	after         time.Duration
	tries         int64 // 0: without end

	start, length      time.Duration // length 0: to the end
	method, path, host string        // empty method and path: those of the shop
	headers            [][2]string   // names in lower case
	status             string        // empty: mixed
	latency            time.Duration
}

// kinds are the settings that each kind has besides the common ones, the
// required one first.
var kinds = map[string][]string{
	"poisson": {"rate", "clients", "skew", "wave", "first"},
	"burst":   {"size", "every", "spread", "clients", "first"},
	"retry":   {"rate", "clients", "obey", "after", "tries", "first"},
	"flood":   {"rate"},
}

// common are the settings that every kind has.
var common = []string{"start", "for", "method", "path", "host", "header", "status", "latency"}

// Parse reads the specification of a source, as in:
// poisson,rate=50,clients=100. The error names the setting that is wrong, and
// quotes its value unless that is of a header.
func Parse(spec string) (Source, error) {
	items := strings.Split(spec, ",")
	s := Source{kind: items[0], clients: 1, obey: true, after: 100 * time.Millisecond, host: "shop.example.com", latency: 20 * time.Millisecond}
	own, ok := kinds[s.kind]
	if !ok {
		return s, fmt.Errorf("traffic %q: unknown kind%s", s.kind, suggestion(s.kind, keys(kinds)))
	}
	known := append(slices.Clone(own), common...)
	seen := map[string]bool{}
	shown := []string{s.kind}
	for _, item := range items[1:] {
		name, value, ok := strings.Cut(item, "=")
		switch {
		case !slices.Contains(known, name):
			return s, fmt.Errorf("traffic %s: unknown setting %q%s", s.kind, name, suggestion(name, known))
		case !ok || value == "":
			return s, fmt.Errorf("traffic %s: %s: want a value, as in %s=…", s.kind, name, name)
		case seen[name] && name != "header":
			return s, fmt.Errorf("traffic %s: %s: the setting is given twice", s.kind, name)
		}
		if err := setters[name](&s, value); err != nil {
			return s, fmt.Errorf("traffic %s: %s: %w", s.kind, name, err)
		}
		seen[name] = true
		shown = append(shown, name+"="+public(name, value))
	}
	if !seen[own[0]] {
		return s, fmt.Errorf("traffic %s: the setting %q is missing", s.kind, own[0])
	}
	if s.spread > 0 && s.every > 0 && s.spread > s.every {
		return s, fmt.Errorf("traffic %s: spread: %v is longer than every, which is %v", s.kind, s.spread, s.every)
	}
	s.spec = strings.Join(shown, ",")
	return s, nil
}

// String returns the specification. Values of headers whose names are those of
// credentials, and queries, show as "…".
func (s Source) String() string { return s.spec }

// public hides what may be secret in a setting.
func public(name, value string) string {
	switch header, _, _ := strings.Cut(value, ":"); {
	case name == "header" && policy.IsCredential(header):
		return header + ":…"
	case name == "path":
		if path, _, ok := strings.Cut(value, "?"); ok {
			return path + "?…"
		}
	}
	return value
}
