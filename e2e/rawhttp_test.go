package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

// send writes a request over a connection of its own exactly as it is given;
// net/http would mend odd paths and merge headers.
func send(addr string, r scenario.Request) (scenario.Response, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return scenario.Response{}, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return scenario.Response{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nX-Forwarded-For: %s\r\n", r.Method, r.Path, r.Host, r.Client)
	for _, h := range r.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if _, err := io.WriteString(conn, b.String()+"\r\n"); err != nil {
		return scenario.Response{}, err
	}
	return receive(conn, r.Method)
}

func receive(conn net.Conn, method string) (scenario.Response, error) {
	got, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return scenario.Response{}, err
	}
	return responseOf(got)
}

// responseOf reads a response to its end.
func responseOf(got *http.Response) (scenario.Response, error) {
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	response := scenario.Response{Status: got.StatusCode, Headers: map[string][]string{}, Body: string(body)}
	for name, values := range got.Header {
		response.Headers[strings.ToLower(name)] = values
	}
	return response, err
}
