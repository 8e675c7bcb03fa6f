package report

import (
	"fmt"
	"math"
	"strings"
)

// A chart is the geometry of a timeline, from which the page makes an SVG. It
// has pixels downwards, and slots or percent across: so it is as wide as the
// page, and its text is not scaled.
type chart struct {
	Label  string // for who cannot see it
	Slots  []slot
	Panels []panel
	Times  []tick
	Height float64
}

// A slot says what is in one slot.
type slot struct {
	Left, Width float64 // percent
	Text        string
}

// A panel is a stack of areas over a scale.
type panel struct {
	Title       string
	Top, Bottom float64 // pixels
	Lines       []tick
	Areas       []area
}

// A tick is a mark on an axis.
type tick struct {
	At     float64 // pixels from above, or percent from the left
	Text   string
	Anchor string // where the text is, for SVG
	Minor  bool   // left out if there is little room
}

// An area is filled.
type area struct {
	Class string
	Path  string // across in slots
}

// A frame is the size of a chart, and its scales, which charts that are to be
// compared share.
type frame struct {
	All, Refused int64 // the greatest counts of a slot
	Tall, Low    float64
	Ticks        int
}

// wide and narrow are the frames of a chart for itself and of one among many.
var (
	wide   = frame{Tall: 170, Low: 80, Ticks: 6}
	narrow = frame{Tall: 80, Low: 44, Ticks: 3}
)

// fit makes room for a timeline.
func (f frame) fit(t *Timeline) frame {
	for i := range t.slots() {
		f.All = max(f.All, plus(at(t.Admitted, i), at(t.Refused, i)))
		f.Refused = max(f.Refused, plus(at(t.Refused, i), at(t.Shadow, i)))
	}
	return f
}

// slots is the number of slots.
func (t *Timeline) slots() int { return max(len(t.Admitted), len(t.Refused), len(t.Shadow)) }

func at(counts []int64, i int) int64 {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

// plus adds counts, and stays at the greatest.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

const (
	titleRoom = 30 // pixels above a panel
	timeRoom  = 26 // below the last
	leastSeen = 2  // the height of a refusal that the scale would make invisible
)

// chart draws a timeline: all requests, and below them, in a scale of its own,
// what was refused, which is often too rare to be seen among all.
func (t *Timeline) chart(f frame) chart {
	n := t.slots()
	all := panel{Title: fmt.Sprintf("requests in %v", t.Width), Top: titleRoom, Bottom: titleRoom + f.Tall}
	few := panel{Title: fmt.Sprintf("refused in %v, its own scale", t.Width), Top: all.Bottom + titleRoom}
	few.Bottom = few.Top + f.Low
	scaleAll, scaleFew := all.scale(f.All, 4), few.scale(f.Refused, 2)
	var base, admitted, refused, least, real, shadow []float64
	for i := range n {
		a, r, s := at(t.Admitted, i), at(t.Refused, i), at(t.Shadow, i)
		base, least = append(base, all.Bottom), append(least, few.Bottom)
		admitted = append(admitted, scaleAll(a))
		refused = append(refused, scaleAll(plus(a, r)))
		top := few.visible(scaleFew(r), few.Bottom, r)
		real = append(real, top)
		shadow = append(shadow, few.visible(min(scaleFew(plus(r, s)), top), top, s))
	}
	all.Areas = []area{{"admitted", outline(admitted, base)}, {"refused", outline(refused, admitted)}}
	few.Areas = []area{{"refused", outline(real, least)}, {"shadow", outline(shadow, real)}}
	c := chart{Panels: []panel{all, few}, Height: few.Bottom + timeRoom, Label: t.describe(f)}
	c.Times = t.ticks(f.Ticks)
	c.Slots = t.texts()
	return c
}

// scale sets the lines of a panel and returns where a count is.
func (p *panel) scale(most int64, lines int) func(int64) float64 {
	ticks, bottom, height := niceTicks(most, lines), p.Bottom, p.Bottom-p.Top
	top := float64(max(most, ticks[len(ticks)-1]))
	where := func(v int64) float64 { return round(bottom - height*float64(v)/top) }
	for _, v := range ticks {
		p.Lines = append(p.Lines, tick{At: where(v), Text: compact(v)})
	}
	return where
}

// visible lifts a top that hardly differs from its bottom, if it stands for
// something and there is room.
func (p *panel) visible(top, bottom float64, v int64) float64 {
	if v > 0 {
		return max(p.Top, min(top, bottom-leastSeen))
	}
	return top
}

// niceTicks returns 0 and about so many multiples of a round number, which is
// 1, 2 or 5 and noughts. The last is the first to reach most, or, where counts
// end, the last before it.
func niceTicks(most int64, about int) []int64 {
	step := int64(1)
	for i := 0; most/step > int64(about); i++ {
		if i%3 == 1 {
			step = step / 2 * 5
		} else {
			step *= 2
		}
	}
	ticks := []int64{0}
	for v := int64(0); v < max(most, 1) && v <= math.MaxInt64-step; {
		v += step
		ticks = append(ticks, v)
	}
	return ticks
}

// outline is the path around the area between two step lines.
func outline(top, bottom []float64) string {
	if len(top) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M0 %g", bottom[0])
	for _, y := range top {
		fmt.Fprintf(&b, "V%gh1", y)
	}
	for i := len(bottom) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "V%gh-1", bottom[i])
	}
	return b.String() + "z"
}

// round keeps paths short.
func round(v float64) float64 { return math.Round(v*100) / 100 }
