// Package traffic makes up requests, to try limits on and to fill access logs
// with. [Parse] reads a [Source] from its specification, as in
//
//	poisson,rate=50,clients=100,path=/api/orders
//
// and [Help] says what there is to specify. A [Generator] merges sources in the
// order of time:
//
//	g := traffic.New(sources, traffic.Options{Start: start, For: time.Minute, Seed: 1})
//	for at, r := g.Next(); r != nil; at, r = g.Next() {
//		g.Answer(decide(at, r))
//	}
//
// The answers matter to clients that retry: what they send next depends on what
// they were told. Everything else depends on the seed alone, and each source on
// a random sequence of its own.
//
// # Clients
//
// Clients are numbered from 1 through all sources of a generator, so that two
// sources have none in common unless first= says so. Client 17 is called
// client-17 and has the address 10.0.0.17: the number counts on through
// 10.0.0.0/8, and begins again after 16 777 216 clients. A rule that exempts
// that range therefore exempts everyone.
//
// # What a request says
//
// A rule may ask a request for anything. Its method, path, host and the headers
// of its source are as specified. What else rules are keyed by, which [Keyed]
// reads off a policy, holds the name of the client, so that each client has a
// key of its own: a header says client-17, a cookie sid=client-17, a token
// Bearer client-17, a query parameter is added to the path, and a claim, the
// identity of a peer or any other property is client-17. The name of the route
// alone is the same for all, "default", as a route is none of the client's doing.
//
// Every other header is absent. So a condition on a header that is neither given
// nor part of a key sees a request without it, and only holds if it is about
// absence; it cannot hold because something was made up. A condition on a header
// that a rule is keyed by sees what the key sees, as in a proxy: that it is
// present holds, and that it has a certain value does not, unless header= gives
// it. In values {client} stands for the client's name, as in
// header=x-api-key:live-{client}.
//
// A [Worst] follows what a run admits, and knows the most that any window of a
// limit's length held. [Turn] turns the limits of a configuration to another
// algorithm, to try the same traffic on. [WriteLog] writes the requests as the
// access log of a proxy.
package traffic
