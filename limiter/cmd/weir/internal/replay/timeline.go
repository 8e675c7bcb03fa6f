package replay

import (
	"time"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// maxSlots is the number of slots that a timeline has at most.
const maxSlots = 300

// widths are what slots can be wide, in microseconds: each a multiple of the
// one before, so that slots can be joined. Beyond the last they double.
var widths = []int64{
	1e6, 5e6, 15e6, 60e6, 300e6, 900e6, 3600e6, 6 * 3600e6, 24 * 3600e6, 7 * 24 * 3600e6,
}

// A slot counts the requests of some time.
type slot struct{ admitted, refused, shadow int64 }

// A timeline counts requests over time in slots of equal width, which begin at
// a multiple of it. When a request comes that would need too many, the slots
// are joined to wider ones.
type timeline struct {
	start, width int64 // in microseconds since the Unix epoch
	slots        []slot
}

// at returns the slot of a time, which must not go back.
func (t *timeline) at(now int64) *slot {
	if len(t.slots) == 0 {
		t.width = widths[0]
		t.start = floor(now, t.width)
	}
	for (now-t.start)/t.width >= maxSlots {
		t.widen()
	}
	i := int((now - t.start) / t.width)
	for i >= len(t.slots) {
		t.slots = append(t.slots, slot{})
	}
	return &t.slots[i]
}

// widen joins the slots to those of the next width.
func (t *timeline) widen() {
	old := *t
	t.width *= 2
	for _, w := range widths {
		if w > old.width {
			t.width = w
			break
		}
	}
	t.start, t.slots = floor(old.start, t.width), nil
	for i, s := range old.slots {
		j := int((old.start + int64(i)*old.width - t.start) / t.width)
		for j >= len(t.slots) {
			t.slots = append(t.slots, slot{})
		}
		t.slots[j].admitted += s.admitted
		t.slots[j].refused += s.refused
		t.slots[j].shadow += s.shadow
	}
}

func floor(at, width int64) int64 {
	rest := at % width
	if rest < 0 {
		rest += width
	}
	return at - rest
}

func (t *timeline) report() report.Timeline {
	r := report.Timeline{Width: report.Duration(time.Duration(t.width) * time.Microsecond)}
	if len(t.slots) > 0 {
		r.Start = time.UnixMicro(t.start).UTC()
	}
	for _, s := range t.slots {
		r.Admitted, r.Refused, r.Shadow = append(r.Admitted, s.admitted), append(r.Refused, s.refused), append(r.Shadow, s.shadow)
	}
	return r
}
