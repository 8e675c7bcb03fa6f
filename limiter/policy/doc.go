// Package policy turns a filter's JSON into rules, and requests into charges
// on a [limiter.Table] and then into answers. Like limiter it is pure: what a
// request says comes through the [Request] interface and the time is an
// argument, so that a proxy, a replayed log and a test decide alike.
//
//	filter JSON ─▶ Compile ─▶ Policy (immutable)
//	request ─▶ Evaluator.Evaluate: match ─▶ keys ─▶ Table.Take ─▶ Verdict (pass, or a Reply, or a Call)
//	                          answers of the engine ─▶ Evaluator.Conclude ─▶ Verdict
//
// A [Policy] is compiled once and refused whole: [Compile] reports all that is
// wrong with a configuration, each problem with its path. A [Rule] says which
// requests it applies to, which of their parts make the key, and which limits
// the key is held to. All rules that match apply; a request passes only if all
// of them admit it, and only then is it charged to any. An [Evaluator] remembers
// for a moment which keys were refused, so that it need not ask the table for
// each request of an attack.
//
// Limits that several proxies share are kept by an engine. A request that passes
// in this proxy and has such limits gets a Verdict with a [Call]: who evaluates
// asks the engine (see package global), meanwhile evaluates others, and concludes
// the call by the [Answer]s, or without them if the engine has failed. If it
// refuses, what this proxy has charged is given back.
package policy
