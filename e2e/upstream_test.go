package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// What a request asks the upstream of the tests to answer.
const (
	upstreamStatus = "x-upstream-status"
	upstreamHeader = "x-upstream-header" // name=value, as often as needed
)

// startUpstream starts a service that answers as it is asked to, and returns
// its address.
func startUpstream(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range r.Header.Values(upstreamHeader) {
			name, value, _ := strings.Cut(h, "=")
			w.Header().Add(name, value)
		}
		if status, err := strconv.Atoi(r.Header.Get(upstreamStatus)); err == nil {
			w.WriteHeader(status)
		}
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
