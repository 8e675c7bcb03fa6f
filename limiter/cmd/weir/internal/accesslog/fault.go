package accesslog

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A fault is what is wrong with a line. Its text is made for those that are
// shown only.
type fault struct {
	why      why
	piece    int // of a text format
	at, size int // of what is wrong in the line
}

type why uint8

const (
	nothing why = iota
	tooLong
	badBegin
	badEnd   // what should follow a field does not
	badValue // of a field
	notJSON
	twice  // a name in JSON
	noTime // in JSON
	noRequest
)

// sampled is how much of a broken line is shown, in bytes.
const sampled = 200

// describe says what is wrong with a line.
func (f *Format) describe(x fault, line []byte) string {
	switch x.why {
	case tooLong:
		return fmt.Sprintf("longer than %d bytes", maxLine)
	case badBegin:
		return fmt.Sprintf("does not begin with %q", f.before)
	case notJSON:
		return fmt.Sprintf("not a JSON object, at byte %d", x.at+1)
	case noTime:
		return "no time in it: no field start_time, timestamp or time"
	case noRequest:
		if isWrapped(line) {
			return "no request in it: docker has wrapped the lines; undo that with jq -j .log"
		}
		return "no request in it: no field method, path, authority, response_code or address of the client"
	case twice:
		return fmt.Sprintf("the name %s is there twice", quote(line[x.at:x.at+x.size]))
	}
	if f.isJSON() {
		return fmt.Sprintf("%s is neither a time nor a number of seconds or milliseconds", quote(line[x.at:x.at+x.size]))
	}
	p := &f.pieces[x.piece]
	value := quote(line[x.at : x.at+x.size])
	switch {
	case x.why == badEnd && p.after == "":
		return fmt.Sprintf("%s, the last field, has something in it that no value may have", p.name)
	case x.why == badEnd && p.last:
		return fmt.Sprintf("the line does not end in %q after %s", p.after, p.name)
	case x.why == badEnd:
		return fmt.Sprintf("no %q after %s", p.after, p.name)
	case p.layout != nil && p.layout.envoy:
		return fmt.Sprintf("%s: %s is not a time such as 2006-01-02T15:04:05.000Z", p.name, value)
	case p.layout != nil:
		return fmt.Sprintf("%s: %s is not a time such as %s", p.name, value, p.layout.example)
	case p.meaning.kind == status:
		return fmt.Sprintf("%s: %s is not a status code", p.name, value)
	default:
		return fmt.Sprintf("%s: %s is not a duration", p.name, value)
	}
}

// isWrapped says whether a line is one that docker's json-file has put into an
// object with its own time.
func isWrapped(line []byte) bool {
	return bytes.Contains(line, []byte(`"log":`)) && bytes.Contains(line, []byte(`"stream":`))
}

// quote quotes the beginning of a value.
func quote(b []byte) string { return strconv.Quote(harmless(b[:min(len(b), 30)])) }

// marks are of credentials. Lines that did not parse are shown up to the first.
var marks = []string{"authorization", "cookie", "bearer ", "basic ", "token", "api_key", "api-key", "apikey", "password", "secret"}

// sample returns the beginning of a line, to be shown to people, cut where a
// credential may begin.
func (f *Format) sample(line []byte) string {
	return harmless(line[:min(len(line), sampled, f.public(line))])
}

// harmless returns a text up to where a credential may begin.
func harmless(line []byte) string {
	lower := make([]byte, len(line)) // bytes.ToLower changes the length of what is not UTF-8
	for i, c := range line {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	end := len(line)
	for _, mark := range marks {
		if i := bytes.Index(lower, []byte(mark)); i >= 0 {
			end = min(end, i+len(mark))
		}
	}
	return string(line[:end])
}

// public returns how much of a line comes before a header that is likely a
// credential, or that cannot be told from one, since the line is broken.
func (f *Format) public(line []byte) int {
	secret := slices.IndexFunc(f.pieces, func(p piece) bool {
		return p.meaning.kind >= named && slices.ContainsFunc(marks, func(mark string) bool {
			return strings.Contains(p.meaning.name, strings.TrimSpace(mark))
		})
	})
	if secret < 0 {
		return len(line)
	}
	at := min(len(f.before), len(line))
	for i := range f.pieces[:secret] {
		size, ok := f.pieces[i].cut(line[at:])
		if !ok {
			break
		}
		at += size + len(f.pieces[i].after)
	}
	return at
}
