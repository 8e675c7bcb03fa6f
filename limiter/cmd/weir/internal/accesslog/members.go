package accesslog

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A members reads the members of a gzip file, one after the other, and over the
// zeros that fill the last block of a tape or of a device, as GNU gzip does.
type members struct {
	in     *bufio.Reader
	member *gzip.Reader
}

func newMembers(in *bufio.Reader) (*members, error) {
	member, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	member.Multistream(false)
	return &members{in, member}, nil
}

func (m *members) Read(b []byte) (n int, err error) {
	for {
		if n, err = m.member.Read(b); n > 0 || err != io.EOF {
			if err == io.EOF { // comes again at the next call
				err = nil
			}
			return n, err
		}
		if err = m.next(); err != nil {
			return 0, err
		}
	}
}

// next goes on to the next member, if there is one.
func (m *members) next() error {
	for {
		c, err := m.in.ReadByte()
		if err != nil {
			return err
		}
		if c == 0 {
			continue
		}
		if err := m.in.UnreadByte(); err != nil {
			return err
		}
		if err := m.member.Reset(m.in); err != nil {
			return err
		}
		m.member.Multistream(false)
		return nil
	}
}
