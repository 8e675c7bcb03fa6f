// Package manifests holds the manifests and pages in envoy/ to the APIs that they
// are written for. It is a module of its own, since those APIs bring much along that
// Weir has no need of.
//
//	manifest ─▶ the Go types of Istio, Envoy Gateway and the Gateway API, strictly
//	         ─▶ the schemas that their installation gives to the API server, with CEL
//	         ─▶ the parts that are Envoy's ─▶ Envoy's messages, with their validators
//	         ─▶ the parts that are Weir's  ─▶ policy.Compile and weir validate
//	page     ─▶ its shell lines, run in an empty folder ─▶ manifests, as above
//
// A mutation test misspells every field of every manifest, one at a time, and wants
// each of them refused. What Istio and Envoy Gateway make of a manifest, as their
// sources say, is then run in a real Envoy; and so is what the pages claim about it.
//
// All of it is in the tests, and needs no cluster.
package manifests
