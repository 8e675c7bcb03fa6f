package policy

import (
	"strings"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// Problems are all that is wrong with a configuration, which Compile returns as
// its error.
type Problems []Problem

// Error returns all of them in one line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "; ")
}

// A Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Path leads to the value, as in rules[0].limits[1].window. It is empty for
	// the configuration as a whole.
	Path string

	// Message says what is wrong, with the value quoted.
	Message string
}

func (p Problem) Error() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// A SyntaxError is the error of a configuration that is not JSON.
type SyntaxError struct {
	Offset int64 // in bytes
	Err    error
}

func (e *SyntaxError) Error() string {
	return brief.Sprintf("not valid JSON at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns what is wrong there.
func (e *SyntaxError) Unwrap() error { return e.Err }
