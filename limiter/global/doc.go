// Package global speaks the protocols of the engines that keep limits for
// several proxies: it turns what a policy.Call asks into messages, and messages
// into what policy.Evaluator.Conclude takes. Like limiter it is pure: the
// messages are sent by who calls it.
//
//	rls      a rate limit service, by Envoy's protocol v3; wire is what it needs
//	         of protobuf
//	redis    exact windows in Redis, by the script take.lua, through a door for
//	         HTTP: dialect has the two that there are
package global
