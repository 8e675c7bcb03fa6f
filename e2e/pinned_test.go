package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A pinned is one connection, and so one worker and one configuration.
type pinned struct {
	net.Conn
	in *bufio.Reader
}

func dialPinned(addr string) (*pinned, error) {
	conn, err := net.DialTimeout("tcp", addr, slow)
	if err != nil {
		return nil, err
	}
	return &pinned{conn, bufio.NewReader(conn)}, nil
}

// An answer is what a test of reloads looks at.
type answer struct {
	status        int
	config, retry string // the configuration that answered, and Retry-After
	last          bool   // the connection is closed after it
}

// ask sends one request with a header line.
func (p *pinned) ask(path, header string) (answer, error) {
	if err := p.SetDeadline(time.Now().Add(slow)); err != nil {
		return answer{}, err
	}
	if header != "" {
		header += "\r\n"
	}
	if _, err := io.WriteString(p, "GET "+path+" HTTP/1.1\r\nhost: weir.test\r\n"+header+"\r\n"); err != nil {
		return answer{}, err
	}
	got, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = got.Body.Close() }()
	_, err = io.Copy(io.Discard, got.Body)
	return answer{got.StatusCode, got.Header.Get("x-config"), got.Header.Get("retry-after"), got.Close}, err
}

// statuses sends so many requests for a key and returns what they got, as in
// "200 200 429".
func (p *pinned) statuses(t *testing.T, key string, requests int) string {
	t.Helper()
	var got []string
	for range requests {
		a, err := p.ask("/", "x-key: "+key)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(a.status))
	}
	return strings.Join(got, " ")
}
