package replay

import (
	"fmt"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/policy"
)

// accuracy says how what a suggestion promises compares to what a replay with
// it refuses.
//
// A bucket that holds no less than the limit can admit all that a sliding log
// does: less than k windows hold at most k times the limit of that, which the
// bucket has to begin with or is refilled by then. And as it admits what it can,
// it refuses no more, if all requests weigh the same.
func (r *rule) accuracy(l limiter.Limit, of string) report.Accuracy {
	switch {
	case r.isScaled() || r.isCrowded() || r.clients.dear, r.clients.uneven && of == "requests":
		return report.Estimate
	case l.Algorithm == limiter.SlidingCounter:
		return report.Estimate
	case isBucket(l):
		return report.AtMost
	}
	return report.Exact
}

// isScaled says whether only a sample of the clients was followed.
func (r *rule) isScaled() bool { return r.clients.weight() > 1 }

// isCrowded says whether the table forgot what levels remember.
func (r *rule) isCrowded() bool { return r.evicted > 0 || r.outcomes[policy.Full] > 0 }

func isBucket(l limiter.Limit) bool {
	return l.Algorithm == limiter.TokenBucket || l.Algorithm == limiter.LeakyBucket
}

// shortBurst says whether a bucket holds less than one window may bring, and so
// refuses what no count of a window tells.
func shortBurst(l limiter.Limit) bool { return l.Burst > 0 && l.Burst < l.Requests }

// suggestionNotes say why limits have no suggestions, or what these are worth if
// that is less than exact.
func (r *rule) suggestionNotes() (notes []report.SuggestionNote) {
	add := func(limit, format string, args ...any) {
		notes = append(notes, report.SuggestionNote{Limit: limit, Note: fmt.Sprintf(format, args...)})
	}
	if r.service {
		add("", "Nothing is suggested for the limits of the rate limit service: they are not known here.")
	}
	if r.ChargesResponse() {
		add("", "No limit is suggested: the rule charges responses, and under another limit others would have come.")
		return notes
	}
	for i, l := range r.limits {
		if r.clients.limits[i].total > 0 {
			r.noteAlgorithm(l.Name, l.Limit, add)
		}
	}
	if len(r.Limits()) > 0 {
		for _, l := range r.GlobalLimits() {
			add(l.Name, "Nothing is suggested for %s: it is global, and the rule has limits of its own, which are followed.", l.Name)
		}
	}
	switch {
	case r.isScaled():
		add("", "One client in %d was followed: all of this is estimated.", r.clients.weight())
	case r.isCrowded():
		add("", "The table was too small for all clients: what is suggested is for one with room.")
	case r.clients.dear:
		add("", "Some requests cost more than %d, and count as more than any limit: all of this is estimated, if anything is suggested.", maxCost)
	case r.clients.uneven:
		add("", "Requests cost differently: the limits for shares of requests are estimated.")
	}
	return notes
}

// noteAlgorithm says what another algorithm than those with exact levels makes of a
// suggestion.
func (r *rule) noteAlgorithm(name string, l limiter.Limit, add func(limit, format string, args ...any)) {
	switch {
	case shortBurst(l):
		add(name, "Nothing is suggested for %s: %s holds %d at once, less than its limit of %d, and refuses what no window tells.",
			name, l.Algorithm, l.Burst, l.Requests)
	case isBucket(l) && l.Burst > 0:
		add(name, "%s is counted as sliding_log does, for limits up to its burst: %s refuses no more.", name, l.Algorithm)
	case isBucket(l):
		add(name, "%s is counted as sliding_log does: %s refuses no more.", name, l.Algorithm)
	case l.Algorithm == limiter.SlidingCounter:
		add(name, "%s is counted as sliding_log does: %s, itself an estimate, refuses a few more or less.", name, l.Algorithm)
	}
}
