package manifest

import (
	"strconv"
	"strings"

	"github.com/weirproxy/weir/limiter/policy"
)

// A locator finds the bytes of the file that the problems of one configuration
// are about.
type locator struct {
	root *node
	seen map[string]int // problems about a name so far, by path and kind
}

// locate follows the path of a problem to the value that it is about. A problem
// about a field's name, unknown or given once too often, is where the name is, and
// about no value. That a field is missing is a problem of its object.
func (l *locator) locate(p policy.Problem) (n *node, at int) {
	unknown := strings.HasPrefix(p.Message, "unknown field")
	twice := p.Message == "the field is given twice" || p.Message == "the header is given twice"
	n, at = l.root, l.root.at
	for path := p.Path; path != ""; {
		name, index, rest := step(path)
		if index >= 0 {
			if index >= len(n.items) {
				return n, at
			}
			n, path = n.items[index], rest
			at = n.at
			continue
		}
		which := 0
		if rest == "" && (unknown || twice) {
			which = l.next(p, twice)
		}
		m := n.nth(name, which)
		if m == nil {
			return n, at
		}
		n, at, path = m.value, m.value.at, rest
		if rest == "" && (unknown || twice) {
			return nil, m.at
		}
	}
	return n, at
}

// next says which of the members of one name a problem about it means: all that
// are unknown, and all but the first that are known.
func (l *locator) next(p policy.Problem, twice bool) int {
	key := p.Path + "\x00" + p.Message
	which := l.seen[key]
	l.seen[key]++
	if twice {
		which++
	}
	return which
}

// nth returns the member of the name that has so many of it before it, or the
// last one of the name.
func (n *node) nth(name string, which int) *member {
	var found *member
	for i := range n.members {
		m := &n.members[i]
		if m.name == name && m.value.kind != brokenKey {
			found = m
			if which == 0 {
				break
			}
			which--
		}
	}
	return found
}

// step cuts the first step off a path as policy writes them: [0], ["odd name"],
// name or .name. The index is -1 if it is a name.
func step(path string) (name string, index int, rest string) {
	if strings.HasPrefix(path, "[") {
		if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
			name, _ = strconv.Unquote(quoted)
			return name, -1, strings.TrimPrefix(path[1+len(quoted):], "]")
		}
		digits, rest, _ := strings.Cut(path[1:], "]")
		if index, err := strconv.Atoi(digits); err == nil && index >= 0 {
			return "", index, rest
		}
	}
	path = strings.TrimPrefix(path, ".")
	end := strings.IndexAny(path+".", ".[")
	return path[:end], -1, path[end:]
}
