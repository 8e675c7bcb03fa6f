// Package load puts HTTP/1.1 load on a server on the loopback interface: as
// fast as it answers ([Flood]), or at a fixed rate ([AtRate]).
//
// Both speak over a few [Conn], each a connection that pipelines: it writes a
// batch of requests before it reads their answers, so that the client costs a
// few microseconds a request and leaves the processor to the server. Envoy hangs
// up a connection on which more than two answers of its own wait, so that it
// takes batches of two.
package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// timeout is how long a batch may take, and a server be silent.
const timeout = 30 * time.Second

// A Request is a GET of Path with some headers. Nothing in it is escaped or
// checked: it is sent as it is.
type Request struct {
	Path    string
	Headers [][2]string
}

// A Conn is one connection to a server. It may be used by one goroutine at a time.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
}

// Dial connects to a server at host:port, which must be on the loopback interface.
func Dial(addr string) (*Conn, error) {
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !tcp.IP.IsLoopback() {
		return nil, fmt.Errorf("%s: load is for loopback addresses only", addr)
	}
	conn, err := net.DialTCP("tcp", nil, tcp)
	if err != nil {
		return nil, err
	}
	return &Conn{conn, bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)}, nil
}

// Do sends a request and returns the status of the answer.
func (c *Conn) Do(r Request) (status int, err error) {
	err = c.Pipeline([]Request{r}, func(_, s int) { status = s })
	return status, err
}

// Pipeline sends all requests and then reads all answers, whose statuses it
// tells answered, in their order. After an error the connection is of no use.
func (c *Conn) Pipeline(requests []Request, answered func(i, status int)) error {
	if err := c.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	for _, r := range requests {
		c.write(r)
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	for i := range requests {
		status, err := c.read()
		if err != nil {
			return fmt.Errorf("answer %d of %d: %w", i+1, len(requests), err)
		}
		answered(i, status)
	}
	return nil
}

// write buffers a request. The buffer remembers the first error for Flush.
func (c *Conn) write(r Request) {
	_, _ = c.out.WriteString("GET " + r.Path + " HTTP/1.1\r\nhost: load\r\n")
	for _, h := range r.Headers {
		_, _ = c.out.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	_, _ = c.out.WriteString("\r\n")
}

func (c *Conn) read() (status int, err error) {
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }
