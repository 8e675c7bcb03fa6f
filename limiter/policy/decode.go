package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// A decoder turns nodes into configuration and collects everything that is
// wrong. After an error it returns a zero value and goes on.
type decoder struct{ problems Problems }

// errorf records what is wrong at a node, after its path and its value.
func (d *decoder) errorf(n node, format string, args ...any) {
	d.problem(n.path, n.String()+": "+brief.Sprintf(format, args...))
}

func (d *decoder) problem(path, message string) {
	d.problems = append(d.problems, Problem{path, message})
}

// err is all that was wrong.
func (d *decoder) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	return d.problems
}

// fields are the names that an object may have, with what each does.
type fields map[string]func(node)

// object calls the field of every member. Other names, and a name given twice,
// are errors, and so is a required name that is absent.
func (d *decoder) object(n node, known fields, required ...string) {
	if n.kind != '{' {
		d.errorf(n, "want an object")
		return
	}
	seen := map[string]bool{}
	for _, m := range n.members {
		set, ok := known[m.name]
		switch {
		case !ok:
			d.problem(m.value.path, "unknown field"+suggestion(m.name, known))
		case seen[m.name]:
			d.problem(m.value.path, "the field is given twice")
		default:
			set(m.value)
		}
		seen[m.name] = true
	}
	for _, name := range required {
		if !seen[name] {
			d.problem(n.path, brief.Sprintf("the field %q is missing", name))
		}
	}
}

// oneOf is an object of exactly one field, whose name is what it is.
func (d *decoder) oneOf(n node, known fields) {
	if n.kind == '{' && len(n.members) != 1 {
		d.errorf(n, "want exactly %s", list(known))
		return
	}
	d.object(n, known)
}

func (d *decoder) items(n node, each func(node)) {
	if n.kind != '[' {
		d.errorf(n, "want a list")
		return
	}
	for _, item := range n.items {
		each(item)
	}
}

// some is a list of at least one.
func (d *decoder) some(n node, what string, each func(node)) {
	d.items(n, each)
	if n.kind == '[' && len(n.items) == 0 {
		d.errorf(n, "want at least one %s", what)
	}
}

func (d *decoder) text(n node) string {
	if n.kind != '"' {
		d.errorf(n, "want a string")
	}
	return n.text
}

func (d *decoder) bool(n node) bool {
	if n.kind != 't' && n.kind != 'f' {
		d.errorf(n, "want true or false")
	}
	return n.kind == 't'
}

// choice is a string that is one of the given.
func (d *decoder) choice(n node, choices ...string) string {
	if n.kind != '"' || !slices.Contains(choices, n.text) {
		d.errorf(n, "want %s", either(choices))
		return choices[0]
	}
	return n.text
}

// integer is a whole number from low to high, however it is written.
func (d *decoder) integer(n node, low, high int64) int64 {
	value, ok := int64(0), false
	if n.kind == '0' {
		value, ok = whole(n.text)
	}
	if !ok || value < low || value > high {
		d.errorf(n, "want a whole number from %d to %d", low, high)
		return low
	}
	return value
}

func list(known fields) string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return either(names)
}

// either says what is wanted where there is a choice, if there is one.
func either(choices []string) string {
	if len(choices) == 1 {
		return strconv.Quote(choices[0])
	}
	return `one of "` + strings.Join(choices, `", "`) + `"`
}
