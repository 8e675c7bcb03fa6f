package limiter

import (
	"math"
	"time"
)

// Never is the RetryAfter of a request that no wait will help, because it
// costs more than the limit can ever hold.
const Never = time.Duration(math.MaxInt64)

// A Decision is the answer of one limit, or of several limits taken together,
// to one request. With 3 requests per 10 s and events at 0 s and 1 s, a request
// at 2 s gets {true, 3, 0, 0, 10s}; the next, at 4 s, gets {false, 3, 0, 6s, 8s}.
type Decision struct {
	// Allowed says whether the request is admitted, and so charged.
	Allowed bool

	// Limit is the number of units that the limit holds when it is whole.
	Limit int64

	// Remaining is how many units are left after this request: 0..Limit.
	Remaining int64

	// RetryAfter is 0 when allowed. When refused it is the promise: the same
	// cost is admitted after this wait if nobody else uses the key, and not
	// a microsecond sooner. It is Never if the cost exceeds the limit.
	RetryAfter time.Duration

	// ResetAfter is the time until the quota is whole again if nobody uses
	// the key: 0 for a key that has been used by nobody.
	ResetAfter time.Duration
}

// Stricter says whether d binds harder than e: a refusal before an admission,
// among refusals the longer wait, among admissions the smaller remainder.
func (d Decision) Stricter(e Decision) bool {
	if d.Allowed != e.Allowed {
		return e.Allowed
	}
	if !d.Allowed {
		return d.RetryAfter > e.RetryAfter
	}
	return d.Remaining < e.Remaining
}
