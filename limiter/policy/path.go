package policy

import (
	"bytes"
	"strings"
)

// normalizePath returns the one spelling of a request's path that both match
// and key see: query and fragment cut, escapes of unreserved characters
// decoded and the hexadecimal digits of all others in upper case, slashes
// merged and dot segments resolved (RFC 3986, 5.2.4 and 6.2.2). Case, a slash
// at the end and an escaped slash are kept. A percent sign that begins no
// escape stands for itself and becomes %25, so that what is decoded around it
// cannot turn it into the beginning of one.
func normalizePath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	if isNormal(path) {
		return path
	}
	path = decodeUnreserved(path)
	out := make([]byte, 0, len(path)+1)
	for len(path) > 0 {
		path = strings.TrimLeft(path, "/")
		segment, rest, more := strings.Cut(path, "/")
		switch segment {
		case ".":
		case "..":
			if i := bytes.LastIndexByte(out, '/'); i >= 0 {
				out = out[:i]
			}
		default:
			out = append(append(out, '/'), segment...)
			if !more {
				return string(out)
			}
		}
		if path = strings.TrimLeft(rest, "/"); path == "" {
			return string(append(out, '/'))
		}
	}
	return string(append(out, '/'))
}

// isNormal says whether a path without query is its own normal form.
func isNormal(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for i := 1; i < len(path); i++ {
		if c := path[i]; c == '%' || path[i-1] == '/' && (c == '/' || c == '.') {
			return false
		}
	}
	return true
}

func decodeUnreserved(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			out = append(out, path[i])
			continue
		}
		if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
			out = append(out, "%25"...)
			continue
		}
		if b := unhex(path[i+1])<<4 | unhex(path[i+2]); isUnreserved(b) {
			out = append(out, b)
		} else {
			out = append(out, strings.ToUpper(path[i:i+3])...)
		}
		i += 2
	}
	return string(out)
}

func isUnreserved(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("-._~", b) >= 0
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b&^0x20 - 'A' + 10
}
