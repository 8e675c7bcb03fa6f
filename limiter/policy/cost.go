package policy

import (
	"slices"
	"strconv"

	"github.com/weirproxy/weir/limiter"
)

// A cost says how many units a request weighs: what a header says, but at most
// max; or, without a header or a number in it, the default.
type cost struct {
	header         string
	normal, atMost int64
}

var costOfOne = cost{normal: 1, atMost: limiter.MaxRequests}

// of reads the cost. What is not a whole number of at least 1 is the default:
// a client cannot make its requests free.
func (c cost) of(header func(string) (string, error)) (int64, error) {
	if c.header == "" {
		return c.normal, nil
	}
	text, err := header(c.header)
	if err != nil {
		return 0, err
	}
	n, _ := strconv.ParseUint(text, 10, 64) // the largest number if it overflows
	switch {
	case n == 0:
		return c.normal, nil
	case n > uint64(c.atMost):
		return c.atMost, nil
	default:
		return int64(n), nil
	}
}

// A responseCharge charges a request when its response comes, if that has one
// of the statuses. The request itself only asks whether there is room.
type responseCharge struct {
	statuses []string // "401", "5xx"; none: any
	cost     *cost    // of the response; nil: what the request costs
}

// of is the cost of the response to a request of the given cost.
func (c *responseCharge) of(request int64, resp Response) (int64, error) {
	if c.cost == nil {
		return request, nil
	}
	return c.cost.of(resp.Header)
}

func (c *responseCharge) applies(status string) bool {
	return len(c.statuses) == 0 || slices.ContainsFunc(c.statuses, func(want string) bool {
		return want == status || len(status) == 3 && want[1:] == "xx" && want[0] == status[0]
	})
}
