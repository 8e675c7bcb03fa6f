package report

import (
	"fmt"
	"time"
)

// steps are the distances between marks of time that people like.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day, 182 * day, 364 * day,
}

// span is how long the timeline is.
func (t *Timeline) span() time.Duration { return time.Duration(t.Width) * time.Duration(t.slots()) }

// ticks are at most so many round times of UTC in the timeline.
func (t *Timeline) ticks(most int) (ticks []tick) {
	span, start := t.span(), t.Start.UTC()
	if span <= 0 {
		return nil
	}
	step := steps[len(steps)-1]
	for i := len(steps) - 1; i >= 0 && span/steps[i] < time.Duration(most); i-- {
		step = steps[i]
	}
	for span/step >= time.Duration(most) {
		step *= 2
	}
	first := start.Truncate(step)
	if first.Before(start) {
		first = first.Add(step)
	}
	for at := first; at.Sub(start) < span; at = at.Add(step) {
		x := 100 * float64(at.Sub(start)) / float64(span)
		ticks = append(ticks, tick{At: round(x), Text: label(at, step), Anchor: anchor(x), Minor: len(ticks)%2 == 1})
	}
	return ticks
}

// label writes a time as finely as the distance of the marks wants.
func label(at time.Time, step time.Duration) string {
	switch {
	case step >= 91*day:
		return at.Format("Jan 2006")
	case step >= day:
		return at.Format("2 Jan")
	case step >= time.Minute:
		return at.Format("15:04")
	case step >= time.Second:
		return at.Format("15:04:05")
	default:
		return at.Format("05.000") + " s"
	}
}

// anchor keeps a text within the chart.
func anchor(percent float64) string {
	switch {
	case percent < 8:
		return "start"
	case percent > 92:
		return "end"
	default:
		return "middle"
	}
}

// texts say what is in each slot.
func (t *Timeline) texts() []slot {
	n := t.slots()
	slots := make([]slot, n)
	for i := range slots {
		start := t.Start.Add(time.Duration(i) * time.Duration(t.Width))
		slots[i] = slot{
			Left: round(100 * float64(i) / float64(n)), Width: round(100 / float64(n)),
			Text: fmt.Sprintf("%s: %s admitted, %s refused", moment(start), count(at(t.Admitted, i)), count(at(t.Refused, i))),
		}
		if shadow := at(t.Shadow, i); shadow > 0 {
			slots[i].Text += fmt.Sprintf(", %s in shadow", count(shadow))
		}
	}
	return slots
}

// describe says what the chart shows.
func (t *Timeline) describe(f frame) string {
	var admitted, refused, most int64
	when := 0
	for i := range t.slots() {
		admitted, refused = plus(admitted, at(t.Admitted, i)), plus(refused, at(t.Refused, i))
		if r := at(t.Refused, i); r > most {
			most, when = r, i
		}
	}
	text := fmt.Sprintf("Requests over %v from %s UTC: %s admitted, %s refused, %s in shadow.", Duration(t.span()),
		moment(t.Start), count(admitted), count(refused), count(t.shadow()))
	if most > 0 {
		text += fmt.Sprintf(" Most were refused in the %v from %s: %s.", t.Width,
			moment(t.Start.Add(time.Duration(when)*time.Duration(t.Width))), count(most))
	}
	return text
}
