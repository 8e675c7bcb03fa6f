//go:build wasip1

package main

import (
	"strings"
	"unsafe"

	"github.com/weirproxy/weir/limiter/policy"
)

// Kinds of metrics in the ABI.
const (
	counterKind = 0
	gaugeKind   = 1
)

// A metric is the host's id of a counter or a gauge. The zero value is one
// that could not be defined, and counts nothing.
type metric struct {
	id      uint32
	defined bool
}

func defineMetric(kind uint32, name string) metric {
	s := proxyDefineMetric(kind, unsafe.StringData(name), int32(len(name)), unsafe.Pointer(&returned.metric))
	return metric{returned.metric, s == statusOK}
}

// add counts n more. The host stops the VM over an increment by 0.
func (m metric) add(n int) {
	if m.defined && n > 0 {
		proxyIncrementMetric(m.id, int64(n))
	}
}

func (m metric) record(value int) {
	if m.defined {
		proxyRecordMetric(m.id, uint64(value))
	}
}

// metrics are named after the namespace and the rule, which the operator
// chooses, and never after anything in a request:
//
//	weir.rule.<namespace>.<rule>.allowed
//	weir.filter.<namespace>.conflicts
type metrics struct {
	rules     []ruleMetrics
	errors    metric // whatever failed: most of it leaves a request undecided
	conflicts metric // shards that were decided anew
	corrupt   metric // values that could not be decoded, here or in Redis
	lost      metric // charges that could not be given back
	tracked   metric // keys, as of the last full sweep of this worker
	global    globalMetrics
}

// globalMetrics are of the calls to the engine, if there is one.
type globalMetrics struct {
	calls       metric
	shielded    metric // requests refused without a call, as one before was
	timeout     metric // calls that took too long,
	unreachable metric // that reached nobody, or could not be made,
	rejected    metric // that were answered with an error,
	malformed   metric // or with something else than an answer
	overflow    metric // requests that found too many paused
}

func defineGlobalMetrics(filter string) globalMetrics {
	define := func(name string) metric { return defineMetric(counterKind, filter+"global_"+name) }
	return globalMetrics{
		calls: define("calls"), shielded: define("shielded"), timeout: define("timeout"),
		unreachable: define("unreachable"), rejected: define("rejected"), malformed: define("malformed"),
		overflow: define("overflow"),
	}
}

type ruleMetrics struct {
	outcomes [policy.Charged + 1]metric
	evicted  metric
}

var outcomeNames = [...]string{
	policy.Allowed:       "allowed",
	policy.Limited:       "limited",
	policy.ShadowLimited: "shadow_limited",
	policy.MissingKey:    "missing_key",
	policy.Full:          "full",
	policy.Failed:        "errors",
	policy.Charged:       "charged",
}

func defineMetrics(p *policy.Policy) metrics {
	namespace := metricName(p.Namespace)
	filter := "weir.filter." + namespace + "."
	m := metrics{
		rules:     make([]ruleMetrics, len(p.Rules)),
		errors:    defineMetric(counterKind, filter+"errors"),
		conflicts: defineMetric(counterKind, filter+"conflicts"),
		corrupt:   defineMetric(counterKind, filter+"corrupt"),
		lost:      defineMetric(counterKind, filter+"lost"),
		tracked:   defineMetric(gaugeKind, filter+"tracked_keys"),
	}
	if p.Global != nil {
		m.global = defineGlobalMetrics(filter)
	}
	for i, rule := range p.Rules {
		prefix := "weir.rule." + namespace + "." + rule.Name + "."
		for kind, name := range outcomeNames {
			m.rules[i].outcomes[kind] = defineMetric(counterKind, prefix+name)
		}
		m.rules[i].evicted = defineMetric(counterKind, prefix+"evicted")
	}
	return m
}

// count adds up a verdict.
func (m *metrics) count(v *policy.Verdict) {
	for _, o := range v.Outcomes {
		m.rules[o.Rule].outcomes[o.Kind].add(1)
		if o.Evicted {
			m.rules[o.Rule].evicted.add(1)
		}
	}
	m.conflicts.add(v.Result.Conflicts)
	m.corrupt.add(v.Result.Corrupt)
	m.lost.add(v.Result.Lost)
	if v.Shielded {
		m.global.shielded.add(1)
	}
}

// metricName replaces what would not be one element of a metric's name.
func metricName(namespace string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, namespace)
}
