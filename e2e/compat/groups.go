package main

import "strings"

// A group is a row of the table: tests of the package e2e.
type group struct {
	what  string
	tests []string
}

// scenarios is the test that runs every scenario.
const scenarios = "TestEnvoy"

// groups are the tests that ask something of Envoy, and not of the module alone.
var groups = []group{
	{"scenarios: what the configuration says", []string{scenarios}},
	{"the file that users copy", []string{"TestUserConfiguration"}},
	{"bad configurations are refused", []string{"TestEnvoyRefusesBadConfigurations"}},
	{"HTTP/1, HTTP/2, gRPC, WebSocket, CORS", []string{"TestProtocols", "TestGRPC", "TestWebSocket", "TestCORS"}},
	{"requests as no client library sends them", []string{"TestOddRequestsInEnvoy"}},
	{"tokens, certificates, properties as keys", []string{"TestJWTClaims", "TestPeerIdentity", "TestProperties"}},
	{"access log and metrics", []string{"TestAccessLog", "TestMetrics"}},
	{"four workers admit exactly", []string{"TestFourWorkersAdmitExactly"}},
	{"VMs that die, under each failure policy", []string{"TestTrapsUnderReload", "TestTrapsUnderOtherPolicies"}},
	{"updates: windows survive", []string{"TestReload"}},
	{"global limits: Redis, a rate limit service", []string{"TestGlobalExamples"}},
}

// tests are those of all groups, in their order.
func tests() (all []string) {
	for _, g := range groups {
		all = append(all, g.tests...)
	}
	return all
}

// pattern is for -test.run: these tests and no others.
func pattern(tests ...string) string { return "^(" + strings.Join(tests, "|") + ")$" }
