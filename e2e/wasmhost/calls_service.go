package wasmhost

// The host calls that call other services.

// httpCall makes a call if its headers are those of a request. Whether there is
// such a cluster is for [Host.Fault] to say: Envoy answers BadArgument if not.
func httpCall(c *hostCall) Status {
	request := decodePairs(c.in[1])
	for _, name := range []string{":method", ":path", ":authority"} {
		if _, ok := request.get(name); !ok {
			return BadArgument
		}
	}
	return c.place(&Call{Cluster: string(c.in[0]), Headers: request, Body: c.in[2]}, httpToken)
}

func grpcCall(c *hostCall) Status {
	return c.place(&Call{
		Target: c.in[0], Service: string(c.in[1]), Method: string(c.in[2]), Headers: decodePairs(c.in[3]), Body: c.in[4],
	}, grpcToken)
}
