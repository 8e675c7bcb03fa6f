package report

import (
	"fmt"
	"strings"
)

// runPath and rulePath lead to parts of the JSON.
func runPath(run int) string        { return fmt.Sprintf("runs.%d", run) }
func rulePath(run, rule int) string { return fmt.Sprintf("runs.%d.rules.%d", run, rule) }

// shadow is the number of requests that a rule in shadow would have refused.
func (t *Timeline) shadow() (sum int64) {
	for _, n := range t.Shadow {
		sum += n
	}
	return sum
}

// answer says in a sentence or two whom a run would hit.
func (r *Report) answer(run int) []figure {
	x, path := &r.Runs[run], runPath(run)
	if x.Requests == 0 {
		return []figure{text("There were no requests.")}
	}
	say := []figure{text("Of "), number(x.Requests, path, "requests"), text(plural(x.Requests, " request ", " requests "))}
	if x.Refused == 0 {
		say = append(say, text("none would have been refused"))
	} else {
		say = append(say, number(x.Refused, path, "refused"),
			text(fmt.Sprintf(" (%s) would have been refused", share(x.Refused, x.Requests))))
	}
	if len(x.Rules) == 1 && x.Rules[0].EnforcePercent == 100 && x.Refused > 0 && x.Rules[0].Clients > 0 {
		say = append(say, text(", of "))
		say = append(say, x.Rules[0].hit(rulePath(run, 0))...)
		return append(say, text("."+x.unknown()))
	}
	say = append(say, text("."))
	if shadow := x.Timeline.shadow(); shadow > 0 {
		say = append(say, text(" Rules in shadow would have refused "), number(shadow, path, "timeline.shadow"),
			text(fmt.Sprintf(" (%s) that were admitted.", share(shadow, x.Requests))))
	}
	return append(append(say, x.hits(run)...), text(x.unknown()))
}

// unknown says what a run cannot know: what a rate limit service refuses, and
// how requests spread over replicas.
func (x *Run) unknown() (say string) {
	var ask []string
	for i := range x.Rules {
		if x.Rules[i].RateLimitService {
			ask = append(ask, x.Rules[i].Name)
		}
	}
	if len(ask) > 0 {
		say += fmt.Sprintf(" %s %s a rate limit service, whose limits are not known here: it was taken to admit everything.",
			strings.Join(ask, ", "), plural(int64(len(ask)), "asks", "ask"))
	}
	if x.Replicas > 1 {
		say += fmt.Sprintf(" All requests were decided by one proxy of %s, with its share of each limit that is not global.", count(x.Replicas))
	}
	return say
}

// hits says how many clients each rule would refuse.
func (x *Run) hits(run int) (say []figure) {
	for i := range x.Rules {
		rule := &x.Rules[i]
		if rule.Clients == 0 || rule.RefusedClients == 0 {
			continue
		}
		say = append(say, text(" "+rule.Name+" would refuse "))
		say = append(say, rule.hit(rulePath(run, i))...)
		if rule.EnforcePercent < 100 {
			say = append(say, text(" if it were enforced for all"))
		}
		say = append(say, text("."))
	}
	return say
}

// hit says how many of its clients a rule has refused.
func (r *Rule) hit(path string) []figure {
	about := ""
	if r.Sampled > 1 {
		about = "about "
	}
	return []figure{text(about), number(r.RefusedClients, path, "refused_clients"), text(" of " + about),
		number(r.Clients, path, "clients"), text(plural(r.Clients, " client", " clients"))}
}

// extremes says which of many runs refuses the smallest and the greatest share.
func (r *Report) extremes() []figure {
	least, most := 0, 0
	for i := range r.Runs {
		if r.Runs[i].refusedShare() < r.Runs[least].refusedShare() {
			least = i
		}
		if r.Runs[i].refusedShare() > r.Runs[most].refusedShare() {
			most = i
		}
	}
	if r.Runs[least].refusedShare() == r.Runs[most].refusedShare() {
		return []figure{text(fmt.Sprintf("All refuse the same share of the requests: %s.%s",
			share(r.Runs[0].Refused, r.Runs[0].Requests), r.Runs[0].unknown()))}
	}
	say := []figure{text("The fewest requests are refused by ")}
	say = append(say, r.refusedBy(least)...)
	say = append(say, text("; the most by "))
	say = append(say, r.refusedBy(most)...)
	return append(say, text("."+r.Runs[0].unknown()))
}

func (r *Report) refusedBy(run int) []figure {
	x, path := &r.Runs[run], runPath(run)
	return []figure{text(printable(x.Name, 60) + ": "), number(x.Refused, path, "refused"), text(" of "),
		number(x.Requests, path, "requests"), text(fmt.Sprintf(" (%s)", share(x.Refused, x.Requests)))}
}

func (x *Run) refusedShare() float64 {
	if x.Requests == 0 {
		return 0
	}
	return float64(x.Refused) / float64(x.Requests)
}

// sentence joins figures to a text for wrap, which keeps their digits together.
func sentence(say []figure) string {
	var b strings.Builder
	for _, f := range say {
		if f.Path == "" {
			b.WriteString(f.Text)
		} else {
			b.WriteString(grouped(f.Value, unbroken))
		}
	}
	return b.String()
}
