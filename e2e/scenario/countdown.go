package scenario

import (
	"regexp"
	"strconv"
	"time"
)

// counting finds the seconds to wait in the value of a header or in a body: the
// only numbers of an answer that depend on how late a request was.
var counting = regexp.MustCompile(`(^|;t=|"retry_after":|wait )([0-9]+)`)

// countsDown are the headers that count seconds.
var countsDown = map[string]bool{"retry-after": true, "ratelimit": true, "x-ratelimit-reset": true}

// NearHeader is Near for the headers that count seconds; the others must be as
// wanted.
func NearHeader(name, got, want string, late time.Duration) bool {
	return got == want || countsDown[name] && Near(got, want, late)
}

// Near says whether a text is the wanted one, or would be if the seconds in it
// had been counted from a request that came at most so much later. A real
// clock goes on while a test does not.
func Near(got, want string, late time.Duration) bool {
	for seconds := 0; ; seconds++ {
		if got == earlier(want, seconds) {
			return true
		}
		if time.Duration(seconds)*time.Second >= late {
			return false
		}
	}
}

// earlier takes seconds off every wait in a text, down to 1.
func earlier(text string, seconds int) string {
	return counting.ReplaceAllStringFunc(text, func(match string) string {
		parts := counting.FindStringSubmatch(match)
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			return match
		}
		return parts[1] + strconv.Itoa(max(min(n, 1), n-seconds))
	})
}
