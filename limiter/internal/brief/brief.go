// Package brief formats the few kinds of values that Weir's errors quote, as
// fmt does. It stands in for fmt because that brings reflection and the
// operating system with it: 0.4 MB of the module, which every proxy would pay
// for with some 9 MB of memory.
package brief

import (
	"errors"
	"strconv"
	"strings"
)

// Sprintf replaces each verb by the next argument: %d by an integer, %q by a
// quoted string, %s and %v by a string, an integer or what an error or a
// Stringer says. There are no flags; a percent sign is not escaped. What does
// not fit shows as the verb itself, so that no message is lost.
func Sprintf(format string, args ...any) string {
	var b strings.Builder
	for len(args) > 0 {
		before, verb, after, ok := cutVerb(format)
		if !ok {
			break
		}
		b.WriteString(before)
		b.WriteString(text(verb, args[0]))
		format, args = after, args[1:]
	}
	b.WriteString(format)
	return b.String()
}

// Errorf is Sprintf as an error. With %w, which is written as %v is, it wraps
// its last argument.
func Errorf(format string, args ...any) error {
	message := Sprintf(format, args...)
	if strings.Contains(format, "%w") {
		if err, ok := args[len(args)-1].(error); ok {
			return &wrapped{message, err}
		}
	}
	return errors.New(message)
}

type wrapped struct {
	message string
	err     error
}

func (w *wrapped) Error() string { return w.message }

func (w *wrapped) Unwrap() error { return w.err }

// cutVerb cuts a format around its first verb.
func cutVerb(format string) (before string, verb byte, after string, ok bool) {
	before, after, ok = strings.Cut(format, "%")
	if !ok || after == "" {
		return "", 0, "", false
	}
	return before, after[0], after[1:], true
}

func text(verb byte, arg any) string {
	var s string
	switch a := arg.(type) {
	case string:
		s = a
	case int:
		s = strconv.Itoa(a)
	case int64:
		s = strconv.FormatInt(a, 10)
	case uint32:
		s = strconv.FormatUint(uint64(a), 10)
	case error:
		s = a.Error()
	case interface{ String() string }:
		s = a.String()
	default:
		return "%" + string(verb)
	}
	if verb == 'q' {
		return strconv.Quote(s)
	}
	return s
}
