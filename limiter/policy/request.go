package policy

// A Request is what a policy may ask of an HTTP request. An error says that
// the proxy could not answer, and the request then follows on_error.
type Request interface {
	// Method and Path return the request line's; Path with its query.
	Method() (string, error)
	Path() (string, error)

	// Header returns the value of a header, given in lower case. Repeated
	// headers are joined with a comma and no blank, as Envoy does; an absent
	// one is empty.
	Header(name string) (string, error)

	// ClientAddress returns the address of the client that the proxy trusts,
	// with or without a port.
	ClientAddress() (string, error)
}
