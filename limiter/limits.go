package limiter

import (
	"errors"
	"slices"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// MaxLimits is the largest number of limits that one key can be held to.
const MaxLimits = 16

// Limits are the limits that one key is held to together: a request is charged
// to all of them or to none. They are immutable and safe for concurrent use.
//
// Their states share one entry of a table. Each is found by what it counts,
// not by its place, so that a configuration may reorder limits, add some or
// change their Requests and every window goes on; a limit whose algorithm or
// window is new starts afresh. The states of other limits stay beside them until
// their windows are over.
type Limits struct {
	limits     []Limit
	algorithms []algorithm
	recorders  []algorithm // the same, which refuse nothing
	ids        []stateID
}

// NewLimits checks the limits and makes them ready to use. Two limits of the
// same algorithm and window would be one window counted twice, and are refused.
func NewLimits(limits ...Limit) (*Limits, error) {
	if len(limits) == 0 || len(limits) > MaxLimits {
		return nil, brief.Errorf("a key has 1 to %d limits, not %d", MaxLimits, len(limits))
	}
	l := &Limits{limits: append([]Limit(nil), limits...)}
	for i, limit := range limits {
		a, err := limit.algorithm()
		if err != nil {
			return nil, &LimitError{i, err}
		}
		id := newStateID(limit.Algorithm, a.shape())
		if slices.Contains(l.ids, id) {
			return nil, &LimitError{i, errSameWindow}
		}
		l.algorithms, l.recorders, l.ids = append(l.algorithms, a), append(l.recorders, a.unlimited()), append(l.ids, id)
	}
	return l, nil
}

// capacity is the largest cost that can ever be admitted.
func (l *Limits) capacity() int64 {
	capacity := int64(MaxRequests)
	for _, limit := range l.limits {
		capacity = min(capacity, limit.Capacity())
	}
	return capacity
}

// A LimitError says which of several limits is wrong.
type LimitError struct {
	Index int
	Err   error
}

func (e *LimitError) Error() string { return brief.Sprintf("limit %d: %v", e.Index, e.Err) }

// Unwrap returns what is wrong with it.
func (e *LimitError) Unwrap() error { return e.Err }

var errSameWindow = errors.New("another limit has the same algorithm and window")

// Len is the number of limits.
func (l *Limits) Len() int { return len(l.limits) }

// At returns the limit of the given index.
func (l *Limits) At(i int) Limit { return l.limits[i] }
