package report

import (
	"fmt"
	"strings"
)

// A counted is a line about a rule.
type counted struct {
	Label string
	Count figure
	Note  string
}

// counts lists what became of the requests of a rule. What did not happen is
// left out, but for admitting and refusing.
func (r *Rule) counts(path string) []counted {
	total := r.Admitted + r.Refused + r.Shadow + r.MissingKey + r.Full + r.Errors
	all := []counted{
		{"admitted", number(r.Admitted, path, "admitted"), share(r.Admitted, total)},
		{"refused", number(r.Refused, path, "refused"), share(r.Refused, total)},
		{"in shadow", number(r.Shadow, path, "shadow"), share(r.Shadow, total) + ", would have been refused if the rule were enforced"},
		{"missing key", number(r.MissingKey, path, "missing_key"), share(r.MissingKey, total) + ", skipped or rejected"},
		{"table full", number(r.Full, path, "full"), plural(r.Full, "new key", "new keys") + " that found no room: raise store.max_keys"},
		{"errors", number(r.Errors, path, "errors"), "could not be decided"},
		{"charged", number(r.Charged, path, "charged"), plural(r.Charged, "response", "responses")},
		{"evicted", number(r.Evicted, path, "evicted"), plural(r.Evicted, "live key", "live keys") + " that made way for new ones: raise store.max_keys"},
		{"close calls", number(r.Close, path, "close"), "refused by less than the log's resolution of time"},
	}
	var out []counted
	for i, c := range all {
		if i < 2 || c.Count.Value != 0 {
			out = append(out, c)
		}
	}
	return append(out, r.worst(path)...)
}

// worst lists the most that a simulation saw admitted in each window.
func (r *Rule) worst(path string) (out []counted) {
	for i, l := range r.Limits {
		if l.WorstWindow > 0 {
			out = append(out, counted{
				Label: fmt.Sprintf("most in any %v", l.Window),
				Count: number(l.WorstWindow, fmt.Sprintf("%s.limits.%d", path, i), "worst_window"),
				Note:  fmt.Sprintf("%s of one key admitted; the limit is %s", plural(l.WorstWindow, "unit", "units"), count(l.Requests)),
			})
		}
	}
	return out
}

// enforced says for whom a rule is enforced.
func (r *Rule) enforced() string {
	switch r.EnforcePercent {
	case 0:
		return "in shadow"
	case 100:
		return "enforced"
	default:
		return fmt.Sprintf("enforced for %d %% of keys", r.EnforcePercent)
	}
}

// key writes the sources of the key.
func (r *Rule) key() string {
	if len(r.Key) == 0 {
		return "one window for all"
	}
	return printable(strings.Join(r.Key, ", "), 200)
}

// limits writes the limits, one each.
func (r *Rule) limits() []string {
	var texts []string
	for _, l := range r.Limits {
		text := fmt.Sprintf("%s per %v, %s", count(l.Requests), l.Window, l.Algorithm)
		if l.Burst > 0 {
			text += ", burst " + count(l.Burst)
		}
		if l.Configured > 0 {
			text += ", of this proxy: " + count(l.Configured) + " in the configuration"
		}
		if l.Global {
			text += ", of all proxies together"
		}
		texts = append(texts, text)
	}
	if r.RateLimitService {
		texts = append(texts, "those of the rate limit service, which are not known here: it was taken to admit everything")
	}
	return texts
}

// configured is the limit as the configuration says it.
func (l *Limit) configured(path string) figure {
	if l.Configured > 0 {
		return number(l.Configured, path, "configured")
	}
	return number(l.Requests, path, "requests")
}

// followed says how many clients a rule had.
func (r *Rule) followed() string {
	switch {
	case r.Sampled > 1:
		return fmt.Sprintf("about %s clients: one in %s was followed, the counts are scaled up", count(r.Clients), count(r.Sampled))
	default:
		return fmt.Sprintf("%s %s", count(r.Clients), plural(r.Clients, "client", "clients"))
	}
}
