// Package manifest finds the configurations of Weir in the files that people
// keep them in, and says what is wrong with each and where.
//
//	file ─▶ Find ─▶ documents: JSON or YAML ─▶ nodes, each with its place
//	nodes ─▶ plugins of Envoy, Istio, Envoy Gateway ─▶ those of Weir
//	plugin ─▶ JSON text ─▶ policy.Compile ─▶ problems ─▶ line and column
//
// [Find] reads a file into nodes, which are alike for JSON and YAML and know at
// which byte of the file they begin. It walks them for the resources and filters
// that carry a configuration, and hands the text of each that is Weir's to
// [policy.Compile], which alone decides what is valid. The path of each problem
// is then followed through the nodes to the byte that it is about.
//
// A text in a text, such as the JSON in a block scalar of an Envoy configuration
// in the data of a ConfigMap, is a source: it knows where each of its bytes lies
// in the file, as far as that can be told, and a source can be cut from a source.
package manifest
