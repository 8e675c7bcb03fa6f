// Package replay decides streams of requests by configurations, as the module
// in the proxy does, and counts what becomes of them in memory that does not
// grow with the stream.
//
// A Run is one configuration: Request decides a request, Report tells what all
// of them came to. What it counts, and how much memory that takes, is by noun:
//
//	run        the decisions and their totals
//	waiting    charges that wait for their responses
//	rule       the outcomes of one rule
//	clients    the keys of a rule: how close each came to its limit; a sample of
//	           them once there are more than maxClients
//	window     one limit of a rule, and when a request no longer counts
//	levels     for one key, the smallest limit that would admit each request
//	suggest    from these, the limits that would refuse a share of requests or clients
//	accuracy   what that is worth, which depends on the algorithm
//	top        the keys that are refused most, counted in a fixed number of places
//	timeline   admitted and refused over time, in slots that become wider
//	keytext    a key for people to read, without its secrets
//	settings   what a configuration says that its policy does not tell
//	secrets    where a configuration has credentials
//	redact     a configuration, without them
package replay
