package accesslog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// A source is a file or standard input, read as what it holds if it is
// compressed.
type source struct {
	name  string
	stdin io.Reader // if that is what it is
	size  int64     // of the file in bytes; -1 if it is not known
	info  os.FileInfo
	file  *os.File

	reader io.Reader // of the lines; nil if it is not open
	close  func()    // of the decompressor
	read   int64     // bytes of the file
}

// newSource returns the source of a name; it must be there.
func newSource(name string, stdin io.Reader) (*source, error) {
	s := &source{name: name, size: -1}
	if name == "-" {
		if s.stdin = stdin; stdin == nil {
			return nil, errors.New("-: there is no standard input")
		}
		return s, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory, not a log", name)
	}
	if s.info = info; info.Mode().IsRegular() {
		s.size = info.Size()
	}
	return s, nil
}

// again says whether the source can be opened once more.
func (s *source) again() bool { return s.size >= 0 }

func (s *source) open() error {
	raw := s.stdin
	if raw == nil {
		file, err := os.Open(s.name)
		if err != nil {
			return err
		}
		s.file, raw = file, file
	}
	s.read = 0
	in := bufio.NewReaderSize(counter{raw, &s.read}, 64<<10)
	magic, _ := in.Peek(4) // an error comes again when it is read
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := newMembers(in)
		if s.reader = z; err != nil {
			s.reader = failed{err}
		}
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			s.reader = failed{err}
			break
		}
		s.reader, s.close = z, z.Close
	default:
		s.reader = in
	}
	return nil
}

// A failed is read instead of what cannot be, which so does not keep other files
// from being read.
type failed struct{ error }

func (f failed) Read([]byte) (int, error) { return 0, f.error }

// Read reads what the source holds.
func (s *source) Read(b []byte) (int, error) {
	n, err := s.reader.Read(b)
	if err != nil && err != io.EOF {
		err = s.fail(err)
	}
	return n, err
}

func (s *source) fail(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: cut off: its compressed data ends too soon: %w", s.name, err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// shut closes the source; it is no error if it is not open.
func (s *source) shut() error {
	if s.close != nil {
		s.close()
	}
	s.reader, s.close = nil, nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// A counter counts what is read.
type counter struct {
	io.Reader
	n *int64
}

func (c counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	*c.n += int64(n)
	return n, err
}
