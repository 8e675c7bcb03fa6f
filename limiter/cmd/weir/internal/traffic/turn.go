package traffic

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirproxy/weir/limiter"
)

// Algorithms are those that traffic can be tried on, the exact one first.
var Algorithms = []string{
	string(limiter.SlidingLog), string(limiter.SlidingBuckets), string(limiter.SlidingCounter),
	string(limiter.TokenBucket), string(limiter.LeakyBucket), string(limiter.FixedWindow),
}

// Turn returns a valid configuration with every limit of an algorithm, without
// the options that it does not have.
func Turn(config []byte, to limiter.Algorithm) ([]byte, error) {
	var out bytes.Buffer
	t := turner{
		in:  jsontext.NewDecoder(bytes.NewReader(bytes.TrimPrefix(config, []byte("\ufeff")))),
		out: jsontext.NewEncoder(&out, jsontext.WithIndent("  ")),
		to:  to,
	}
	err := t.value("")
	return out.Bytes(), err
}

// A turner copies a configuration.
type turner struct {
	in  *jsontext.Decoder
	out *jsontext.Encoder
	to  limiter.Algorithm
}

// value copies the value at a path, in which * is any item of a list.
func (t *turner) value(path string) error {
	kind := t.in.PeekKind()
	if kind != '{' && kind != '[' {
		return t.copy()
	}
	if err := t.copy(); err != nil {
		return err
	}
	isLimit := path == "/rules/*/limits/*" || path == "/rules/*/overrides/*/limits/*"
	for end := kind + 2; t.in.PeekKind() != end; { // '{' and '}' are two apart, and so are the others
		inner := path + "/*"
		if kind == '{' {
			name, err := t.in.ReadToken()
			if err != nil {
				return err
			}
			if isLimit && !t.keeps(name.String()) {
				if err := t.in.SkipValue(); err != nil {
					return err
				}
				continue
			}
			inner = path + "/" + name.String()
			if err := t.out.WriteToken(name); err != nil {
				return err
			}
		}
		if err := t.value(inner); err != nil {
			return err
		}
	}
	if isLimit {
		err := errors.Join(t.out.WriteToken(jsontext.String("algorithm")), t.out.WriteToken(jsontext.String(string(t.to))))
		if err != nil {
			return err
		}
	}
	return t.copy()
}

// keeps says whether a limit of the algorithm may have a field.
func (t *turner) keeps(field string) bool {
	switch field {
	case "algorithm":
		return false
	case "burst":
		return t.to == limiter.TokenBucket || t.to == limiter.LeakyBucket
	case "buckets":
		return t.to == limiter.SlidingBuckets
	case "inclusive":
		return t.to == limiter.SlidingLog
	default:
		return true
	}
}

func (t *turner) copy() error {
	token, err := t.in.ReadToken()
	if err != nil {
		return err
	}
	return t.out.WriteToken(token)
}
