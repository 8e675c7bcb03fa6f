package policy

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// A shield remembers what the engine has refused, and until when: such a key is
// refused without a call. The engine gives nothing back, and so keeps its word:
// a key that it refused until some time is refused until then, whatever others
// do. The time counts from when it was asked, so that the shield ends no later
// than the refusal.
type shield struct{ slots []shielded } // none before the first refusal

// A shielded key is one that the engine has refused.
type shielded struct {
	key       GlobalKey
	rule      *Rule
	cost      int64
	at, until limiter.Instant
	answer    Answer
}

// slot is where a key is remembered, in place of another with the same.
func (s *shield) slot(key GlobalKey) *shielded {
	return &s.slots[binary.LittleEndian.Uint64(key[:])%rememberedKeys]
}

// remember takes note of what the engine said to an ask that was made at a time.
func (s *shield) remember(at limiter.Instant, a *Ask, answer *Answer) {
	if s.slots == nil {
		s.slots = make([]shielded, rememberedKeys)
	}
	until := at
	for _, d := range answer.Each {
		if !d.Allowed && d.RetryAfter != limiter.Never {
			until = max(until, at+limiter.At(d.RetryAfter))
		}
	}
	if a.quota == nil { // a service tells the wait in seconds, counted from the last whole one
		until -= limiter.At(time.Second)
	}
	kept := Answer{Each: slices.Clone(answer.Each), Limits: slices.Clone(answer.Limits)}
	*s.slot(a.Key) = shielded{a.Key, a.Rule, a.Cost, at, until, kept}
}

// recall returns what the engine would say now: its latest refusal, with what is
// left of the waits, if that is not over.
func (s *shield) recall(now limiter.Instant, a *Ask) (*Answer, bool) {
	if s.slots == nil {
		return nil, false
	}
	known := s.slot(a.Key)
	if known.key != a.Key || known.rule != a.Rule || known.cost != a.Cost || now < known.at || now >= known.until {
		return nil, false
	}
	answer := &Answer{Limits: known.answer.Limits}
	for _, d := range known.answer.Each {
		answer.Each = append(answer.Each, later(d, time.Duration(now-known.at)*time.Microsecond))
	}
	return answer, true
}
