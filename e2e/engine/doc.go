// Package engine runs what Weir shares limits through, each as a child process on
// a free port of the loopback interface, for tests and the demo:
//
//	redis       the server that keeps the windows, and a cluster of several
//	webdis      a door for HTTP in front of it
//	upstash     another, in this process: the REST dialect of Upstash
//	ratelimit   Envoy's rate limit service, which counts in Redis too
//
// [StartRedis] and its likes return when the engine answers. A test that finds
// no executable fails; it does not skip.
package engine
