// Package observability holds the dashboard and the rules in envoy/observability to
// what Envoy really tells. It is a module of its own, since Prometheus brings much
// along that Weir has no need of.
//
//	envoy/envoy.yaml, with a listener for each thing that can happen
//	     ─▶ a real Envoy ─▶ traffic ─▶ /stats/prometheus ─▶ a scrape
//	dashboard.json, rules.yaml ─▶ Prometheus' parser ─▶ selectors
//	     ─▶ each names a metric and labels of the scrape
//	     ─▶ Prometheus' engine, on two scrapes: each panel has something to draw,
//	        and on series made up: some panels draw what happened
//	dashboard.json ─▶ Grafana's own types, strictly
//	rules_test.yaml ─▶ Prometheus' rule manager, as promtool runs it
//	README.md ─▶ its blocks, in that Envoy and in Prometheus' own configuration;
//	     relabelled as it says, an Envoy without stats_tags tells the same
//
// All of it is in the tests.
package observability
