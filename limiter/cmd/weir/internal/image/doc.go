// Package image packs a module as an OCI image, and pushes it to a registry.
//
// A [Module] is what is packed: a file of WebAssembly, and what the Go linker
// has written into it about how it was built. [Build] makes a [Bundle] of it: the
// image and, if asked for, a bill of materials and a provenance, which are
// manifests of their own that name the image as their subject. A Bundle is
// written to a folder, an OCI image layout, and [Open] reads it back, checking
// every digest. [Bundle.Push] sends it to a registry.
//
// There are two forms of image for a module, both of the Wasm Image
// Specification. Istio and Envoy Gateway, whose code for this is the same, try
// one after the other: [Compat], an ordinary image whose last layer holds a file
// plugin.wasm, and [OCI], an artifact with media types of its own and exactly two
// layers, the settings for the runtime and the module. Compat is the one to
// prefer: every registry and every container tool handles it, and so plain Envoy
// users get at the file.
//
// The same module and [Options] make the same bytes: all times are
// Options.Created, archives have no owners, and maps are written in order. Only
// the compression is that of the Go release which the tool was built with, as
// are the bytes of the module.
package image
