package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

// protocols are the ways to ask one listener.
var protocols = []struct {
	name string
	send func(addr string, r scenario.Request) (scenario.Response, error)
}{{"HTTP/1.0", sendHTTP10}, {"HTTP/1.1", send}, {"HTTP/2", sendHTTP2}}

func sendHTTP10(addr string, r scenario.Request) (scenario.Response, error) {
	text := fmt.Sprintf("%s %s HTTP/1.0\r\nHost: %s\r\n", r.Method, r.Path, r.Host)
	for _, h := range r.Headers {
		text += h[0] + ": " + h[1] + "\r\n"
	}
	conn, err := write(addr, text+"\r\n")
	if err != nil {
		return scenario.Response{}, err
	}
	defer func() { _ = conn.Close() }()
	return receive(conn, r.Method)
}

// write sends the bytes over a connection of their own.
func write(addr, text string) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, text); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(10 * time.Second))
}

// sendHTTP2 speaks HTTP/2 without TLS, from the first byte on.
func sendHTTP2(addr string, r scenario.Request) (scenario.Response, error) {
	path, query, _ := strings.Cut(r.Path, "?")
	target := &url.URL{Scheme: "http", Host: addr, Opaque: path, RawQuery: query, ForceQuery: strings.HasSuffix(r.Path, "?")}
	if strings.HasPrefix(path, "//") { // which net/url takes for a host if it is opaque
		target.Opaque, target.Path = "", path
	}
	request := &http.Request{Method: r.Method, URL: target, Host: r.Host, Header: http.Header{}}
	for _, h := range r.Headers {
		request.Header.Add(h[0], h[1])
	}
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	got, err := transport.RoundTrip(request)
	if err != nil {
		return scenario.Response{}, err
	}
	return responseOf(got)
}
