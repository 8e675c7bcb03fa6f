package policy

// A Request is what a policy may ask of an HTTP request. An error says that
// the proxy could not answer, and the request then follows on_error.
type Request interface {
	// Method and Path return the request line's; Path with its query.
	Method() (string, error)
	Path() (string, error)

	// Host returns the authority that the client asked for, with its port.
	Host() (string, error)

	// Header returns the value of a header, given in lower case. Repeated
	// headers are joined with a comma and no blank, as Envoy does; an absent
	// one is empty.
	Header(name string) (string, error)

	// ClientAddress returns the address of the client that the proxy trusts,
	// with or without a port.
	ClientAddress() (string, error)

	// Property returns what else the proxy knows of the request, by the path
	// that Envoy gives it, whose elements are joined by NUL bytes:
	// "xds\x00route_name". An absent one is empty; so is one that is neither a
	// string nor a number nor a boolean, if the proxy can tell.
	Property(path string) (string, error)
}

// EmptyRequest is a Request that says nothing. Embed it, and write the methods
// that your rules ask for.
type EmptyRequest struct{}

// Method implements Request.
func (EmptyRequest) Method() (string, error) { return "", nil }

// Path implements Request.
func (EmptyRequest) Path() (string, error) { return "", nil }

// Host implements Request.
func (EmptyRequest) Host() (string, error) { return "", nil }

// Header implements Request.
func (EmptyRequest) Header(string) (string, error) { return "", nil }

// ClientAddress implements Request.
func (EmptyRequest) ClientAddress() (string, error) { return "", nil }

// Property implements Request.
func (EmptyRequest) Property(string) (string, error) { return "", nil }

// A Response is what a policy may ask of the response to a request.
type Response interface {
	// Status returns the status code in decimal.
	Status() (string, error)

	// Header is as that of a Request.
	Header(name string) (string, error)
}

// A view is a request whose line is read once.
type view struct {
	Request
	scratch                       scratch
	method, path, target          string
	hasMethod, hasPath, hasTarget bool
}

// reset begins a new request.
func (v *view) reset(r Request) {
	v.Request = r
	v.hasMethod, v.hasPath, v.hasTarget = false, false, false
	v.scratch.reset()
}

// Method implements Request.
func (v *view) Method() (string, error) {
	if v.hasMethod {
		return v.method, nil
	}
	method, err := v.Request.Method()
	v.method, v.hasMethod = method, err == nil
	return method, err
}

// rawPath returns the path as it came, with its query.
func (v *view) rawPath() (string, error) {
	if v.hasTarget {
		return v.target, nil
	}
	target, err := v.Request.Path()
	v.target, v.hasTarget = target, err == nil
	return target, err
}

// normalPath returns the normalised path.
func (v *view) normalPath() (string, error) {
	if v.hasPath {
		return v.path, nil
	}
	target, err := v.rawPath()
	if err != nil {
		return "", err
	}
	v.path, v.hasPath = normalizePath(target), true
	return v.path, nil
}

// host returns the host in lower case, without port and trailing dot.
func (v *view) host() (string, error) {
	authority, err := v.Request.Host()
	return normalizeHost(authority), err
}
