package traffic

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// Bounds of settings. All clients of a retry have a place in memory, and those
// of an unequal poisson an entry in a table.
const (
	maxRate    = 1_000_000
	maxClients = 10_000_000
	maxSize    = 10_000_000
	maxTime    = 366 * 24 * time.Hour
)

// setters set what a setting says.
var setters = map[string]func(s *Source, value string) error{
	"rate":    func(s *Source, v string) error { return number(&s.rate, v, 1e-6, maxRate) },
	"clients": func(s *Source, v string) error { return integer(&s.clients, v, 1, maxClients) },
	"first":   func(s *Source, v string) error { return integer(&s.first, v, 1, maxClients) },
	"skew":    func(s *Source, v string) error { return number(&s.skew, v, 0, 10) },
	"wave":    func(s *Source, v string) error { return number(&s.wave, v, 0, 1) },
	"size":    func(s *Source, v string) error { return integer(&s.size, v, 1, maxSize) },
	"every":   func(s *Source, v string) error { return duration(&s.every, v, time.Microsecond) },
	"spread":  func(s *Source, v string) error { return duration(&s.spread, v, 0) },
	"obey":    (*Source).setObey,
	"after":   func(s *Source, v string) error { return duration(&s.after, v, time.Microsecond) },
	"tries":   func(s *Source, v string) error { return integer(&s.tries, v, 1, 1_000_000) },
	"start":   func(s *Source, v string) error { return duration(&s.start, v, 0) },
	"for":     func(s *Source, v string) error { return duration(&s.length, v, time.Microsecond) },
	"method":  (*Source).setMethod,
	"path":    (*Source).setPath,
	"host":    (*Source).setHost,
	"header":  (*Source).addHeader,
	"status":  (*Source).setStatus,
	"latency": func(s *Source, v string) error { return duration(&s.latency, v, 0) },
}

func number(to *float64, value string, low, high float64) error {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(low <= f && f <= high) {
		return fmt.Errorf("%q: want a number from %v to %s", value, low, strconv.FormatFloat(high, 'f', -1, 64))
	}
	*to = f
	return nil
}

func integer(to *int64, value string, low, high int64) error {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < low || n > high {
		return fmt.Errorf("%q: want a whole number from %d to %d", value, low, high)
	}
	*to = n
	return nil
}

// duration reads a time as configurations write it; a day has 24 hours.
func duration(to *time.Duration, value string, low time.Duration) error {
	var read report.Duration
	err := read.UnmarshalText([]byte(value))
	d := time.Duration(read)
	if err != nil || d < low || d > maxTime {
		return fmt.Errorf("%q: want a time from %v to 366d, such as 500ms, 1m30s or 1d", value, low)
	}
	*to = d.Truncate(time.Microsecond)
	return nil
}

func (s *Source) setObey(value string) error {
	if value != "true" && value != "false" {
		return fmt.Errorf("%q: want true or false", value)
	}
	s.obey = value == "true"
	return nil
}

func (s *Source) setMethod(value string) error {
	if !isToken(value) {
		return fmt.Errorf("%q: want a method, such as GET", value)
	}
	s.method = value
	return nil
}

// setPath refuses what no client would send unescaped, and no log would hold
// as it is.
func (s *Source) setPath(value string) error {
	if value[0] != '/' || !isVisible(value) || strings.ContainsAny(value, "\"\\") {
		path, _, _ := strings.Cut(value, "?")
		return fmt.Errorf("%q: want a path such as /api/orders?page=2, with blanks, quotes and what is no ASCII escaped", path)
	}
	s.path = value
	return nil
}

func (s *Source) setHost(value string) error {
	if !isVisible(value) || strings.ContainsAny(value, "\"\\/") {
		return fmt.Errorf("%q: want a host, such as shop.example.com", value)
	}
	s.host = value
	return nil
}

// addHeader joins repeated headers with a comma and no blank, as Envoy does.
func (s *Source) addHeader(value string) error {
	name, value, ok := strings.Cut(value, ":")
	if !ok || !isToken(name) {
		return fmt.Errorf("%q: want NAME:VALUE", name)
	}
	value = strings.Trim(value, " \t")
	if !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%q: the value has a control character, or is not UTF-8", name)
	}
	name = strings.ToLower(name)
	for i := range s.headers {
		if s.headers[i][0] == name {
			s.headers[i][1] += "," + value
			return nil
		}
	}
	s.headers = append(s.headers, [2]string{name, value})
	return nil
}

func (s *Source) setStatus(value string) error {
	var status int64
	if err := integer(&status, value, 100, 599); err != nil {
		return err
	}
	s.status = strconv.FormatInt(status, 10)
	return nil
}

// isToken says whether a text may be a method or the name of a header (RFC
// 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

// isVisible says whether a text is of ASCII without blanks.
func isVisible(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}
