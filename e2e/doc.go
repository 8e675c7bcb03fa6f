// Package e2e tests Weir as it is used. Everything here needs build/weir.wasm
// and an Envoy, which make test provides; what is missing is a failure. This is
// a tour by question: foreign means foreign_test.go, and load/ a package.
//
// # Does it do what is written?
//
// The scenarios in scenarios/ and the traces of limiter/testdata/ladder.json run
// on three backends: the Go core (native), the built module under wazero
// (module) and a real Envoy (envoy, which also starts the file that users copy
// and configurations that must be refused). That a request does not cost what
// it was refused by another rule is in allornone; what may import what in
// imports. In replay the command-line tool decides the log of a run in Envoy.
//
// # Does it get along with the rest of Envoy?
//
// In a real Envoy: clients and protocols (protocols, grpc, websocket, cors),
// identities (jwt, mtls), and what the operator sees (accesslog, metrics).
//
// # Is it exact when many ask at once?
//
//	workers      two VMs step by step: first writes, cold starts, one seed for all
//	contention   four workers in Envoy; conflicts without end under wazero
//	hotkey       one key under 64 connections; spans has its checks, and their test
//	stall        a worker that is held up after it has read the clock
//	clock        the clock of the proxy steps, and the module walks as the core does
//
// # Does a limit hold across proxies?
//
//	calls        the module asks engines, under wazero: what is sent, each cause of
//	             failure, requests in flight, clients that leave, reloads
//	global       two real Envoys before one engine: _redis by each of its doors,
//	             _rls a real rate limit service, _failure engines that hang, refuse
//	             or talk nonsense, _killed that die, _secrets no secret comes out, _body uploads,
//	             _examples the files that users copy
//
// # What if the host fails, or the module?
//
//	faults       what on_error does, of requests, replies, metrics and sweeps
//	hostcalls    every call of the host fails with every status in every callback;
//	             hostworld is the world that they fail in
//	foreign      shared data that is damaged or not Weir's, and garbage from the host
//	trap         VMs that die, and are loaded anew; testdata/trap is what kills them
//	trappolicy   the same under each failure policy, and under load
//
// # What can a client do to it?
//
//	flood        twenty times as many keys as the table has room for; keys has
//	             the crowds, and the bounds of memory
//	hostile      requests that grow to megabytes, or that no client library sends
//	fuzz         arbitrary requests, to the module and to the core
//	canary       no secret of a request comes out in a log, metric, answer or value
//
// # Does it last?
//
//	reload       updates under load, what keeps its windows, what is refused; lds
//	             is the Envoy that takes listeners from a file
//	soak         millions of requests: memory, tables and counters; soak_checks
//	             says what must be flat, and what must add up
//	garbage      the guest collects nothing while requests come
//
// Under wazero the memory of the module is in foreign (TestGuestMemoryIsFlat),
// and that of the host in workers (TestIdleKeysGiveTheirMemoryBack).
//
// The tests of endurance are short unless -long is given, as make flood and make
// soak do. They log how long things took, and fail for no such reason.
//
// # What they stand on
//
//	main, bootstrap, clients, rawhttp, upstream: what several tests share
//
//	scenario/    the form of a scenario, and how it runs
//	wasmhost/    a small proxy-wasm host on wazero
//	child/       other programs: started, awaited, heard and ended
//	envoyproc/   a real Envoy as a child process
//	envoyconf/   configurations of Envoy, piece by piece
//	load/        load on a server: as fast as it answers, or at a fixed rate
//	demo/        the scripted session of make run and make demo
//	engine/      Redis, webdis, Upstash's dialect and ratelimit as children; its
//	             tests hold the script for Redis to the core, decision for decision
//	globaldemo/  the scripted session of make run-global
//	globalbench/ what asking an engine adds, for make bench-global
//	bench/       what a request costs in Envoy, for make bench-envoy
//	replaybench/ how fast the tool reads logs, for make bench-replay
//	floor/       modules by hand that do the least a limiter must, for bench;
//	             floor_test says that they do
//	compat/      what each version of Envoy passes, for make compat-table
//	manifests/   manifests and pages, held to the APIs of Istio and Envoy Gateway;
//	observability/ the dashboard and the rules; istiofetch/ Istio's own code
//	             fetches the image: modules of their own
//	peers/       the Go libraries people use, beside Weir: a module of its own
package e2e
