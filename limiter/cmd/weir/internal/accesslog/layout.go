package accesslog

import (
	"fmt"
	"strings"
	"time"
)

const (
	microsecond int64 = 1
	millisecond       = 1000 * microsecond
	second            = 1000 * millisecond
)

// A layout is how a format writes times.
type layout struct {
	envoy      bool // as in 2006-01-02T15:04:05.000Z, whatever parts says
	parts      []timePart
	resolution int64 // in microseconds
	example    string
}

// A timePart is a specifier of strftime, or a literal if that is 0.
type timePart struct {
	specifier byte
	digits    int // of %f
	literal   string
}

// newLayout reads a format of times as START_TIME takes it.
func newLayout(format string) (*layout, error) {
	l := &layout{resolution: second}
	format = strings.ReplaceAll(strings.ReplaceAll(format, "%T", "%H:%M:%S"), "%F", "%Y-%m-%d")
	has := map[byte]bool{}
	for rest := format; rest != ""; {
		if rest[0] != '%' {
			literal, _, _ := strings.Cut(rest, "%")
			l.parts = append(l.parts, timePart{literal: literal})
			rest = rest[len(literal):]
			continue
		}
		p, n := specifier(rest)
		switch {
		case n == 0:
			end := min(2, len(rest))
			return nil, fmt.Errorf("%q in a time is not supported: use %%s %%f %%1f to %%9f %%Y %%m %%b %%d %%H %%M %%S %%T %%F %%z %%Z", rest[:end])
		case p.specifier == 'f':
			l.resolution = min(l.resolution, fraction(p.digits))
		}
		has[p.specifier] = true
		l.parts = append(l.parts, p)
		rest = rest[n:]
	}
	if has['b'] {
		has['m'] = true
	}
	for _, need := range []byte("YmdHMS") {
		if !has['s'] && !has[need] {
			return nil, fmt.Errorf("a time of %q has neither %%s nor %%%c", format, need)
		}
	}
	l.example = l.format(time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC))
	return l, nil
}

// specifier reads the specifier that a format begins with, and how long it is,
// 0 if it is none that is known.
func specifier(format string) (timePart, int) {
	if len(format) < 2 {
		return timePart{}, 0
	}
	switch c := format[1]; {
	case c == '%':
		return timePart{literal: "%"}, 2
	case c == 'f':
		return timePart{specifier: 'f', digits: 9}, 2
	case '1' <= c && c <= '9' && len(format) > 2 && format[2] == 'f':
		return timePart{specifier: 'f', digits: int(c - '0')}, 3
	case strings.IndexByte("sYmbdHMSzZ", c) >= 0:
		return timePart{specifier: c}, 2
	}
	return timePart{}, 0
}

// fraction is how fine some decimal digits of a second are, in microseconds.
func fraction(digits int) int64 {
	unit := second
	for range digits {
		unit /= 10
	}
	return max(unit, microsecond)
}

// format writes a time, for an example.
func (l *layout) format(t time.Time) string {
	var b strings.Builder
	for _, p := range l.parts {
		switch p.specifier {
		case 0:
			b.WriteString(p.literal)
		case 's':
			fmt.Fprint(&b, t.Unix())
		case 'f':
			b.WriteString(fmt.Sprintf("%09d", t.Nanosecond())[:p.digits])
		default:
			b.WriteString(t.Format(map[byte]string{
				'Y': "2006", 'm': "01", 'b': "Jan", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'z': "-0700", 'Z': "MST",
			}[p.specifier]))
		}
	}
	return b.String()
}

// parse reads the time that a text begins with, in microseconds since the Unix
// epoch, and how long it is; 0 if it is none.
func (l *layout) parse(c *clock, b []byte) (at int64, length int) {
	if l.envoy {
		return c.envoy(b)
	}
	d := date{month: 1, day: 1}
	rest, ok := b, true
	for i := range l.parts {
		if rest, ok = d.read(&l.parts[i], rest); !ok {
			return 0, 0
		}
	}
	at, ok = d.microseconds()
	if !ok {
		return 0, 0
	}
	return at, len(b) - len(rest)
}

// A date is a time in parts.
type date struct {
	year, month, day, hour, minute, second int
	micros                                 int64 // of the second
	east                                   int   // seconds that its zone is ahead
	epoch                                  int64 // seconds, if they are given as such
	hasEpoch                               bool
}

// read reads one part, and returns what follows it.
func (d *date) read(p *timePart, b []byte) (rest []byte, ok bool) {
	switch p.specifier {
	case 0:
		if len(b) < len(p.literal) || string(b[:len(p.literal)]) != p.literal {
			return b, false
		}
		return b[len(p.literal):], true
	case 's':
		d.hasEpoch = true
		return readNumber(b, &d.epoch)
	case 'f':
		d.micros, ok = micros(b, p.digits)
		return b[min(p.digits, len(b)):], ok
	case 'Y':
		return readDigits(b, 4, &d.year)
	case 'm':
		return readDigits(b, 2, &d.month)
	case 'b':
		return readMonth(b, &d.month)
	case 'd':
		return readDigits(b, 2, &d.day)
	case 'H':
		return readDigits(b, 2, &d.hour)
	case 'M':
		return readDigits(b, 2, &d.minute)
	case 'S':
		return readDigits(b, 2, &d.second)
	case 'z':
		return readZone(b, &d.east)
	default:
		for _, name := range [...]string{"UTC", "GMT", "Z"} {
			if len(b) >= len(name) && string(b[:len(name)]) == name {
				return b[len(name):], true
			}
		}
		return b, false
	}
}
