package report

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

func TestNiceTicks(t *testing.T) {
	for most, want := range map[int64][]int64{
		0: {0, 1}, 1: {0, 1}, 3: {0, 1, 2, 3}, 4: {0, 1, 2, 3, 4}, 5: {0, 2, 4, 6}, 9: {0, 2, 4, 6, 8, 10}, 11: {0, 5, 10, 15},
		100: {0, 50, 100}, 8760: {0, 2000, 4000, 6000, 8000, 10000}, 1e15: {0, 5e14, 1e15},
		math.MaxInt64: {0, 2e18, 4e18, 6e18, 8e18},
	} {
		if got := niceTicks(most, 4); !slices.Equal(got, want) {
			t.Errorf("niceTicks(%d) = %d, want %d", most, got, want)
		}
	}
	for most := int64(1); most > 0; most = most*3 + 1 {
		for about := 1; about < 8; about++ {
			ticks := niceTicks(most, about)
			if len(ticks) < 2 || len(ticks) > about+2 || ticks[len(ticks)-1] < most && most < 4e18 {
				t.Errorf("niceTicks(%d, %d) = %d", most, about, ticks)
			}
		}
	}
}

var ordinates = regexp.MustCompile(`[V ]([-.\de+]+)`)

// TestChart holds shapes against panels: nothing leaves its panel, whatever the
// counts, and no refusal is invisible.
func TestChart(t *testing.T) {
	for name, timeline := range map[string]Timeline{
		"zero":      {Admitted: []int64{0, 0, 0}, Refused: []int64{0, 0, 0}, Shadow: []int64{0, 0, 0}},
		"single":    {Admitted: []int64{5}, Refused: []int64{1}, Shadow: []int64{2}},
		"huge":      {Admitted: []int64{math.MaxInt64, 1}, Refused: []int64{math.MaxInt64, 1}, Shadow: []int64{math.MaxInt64, 1}},
		"rare":      {Admitted: []int64{1e12, 1e12}, Refused: []int64{1e9, 1}, Shadow: []int64{0, 1}},
		"uneven":    {Admitted: []int64{1, 2, 3}, Refused: []int64{1}},
		"realistic": one().Runs[0].Timeline,
	} {
		timeline.Start, timeline.Width = monday, Duration(time.Minute)
		c := timeline.chart(wide.fit(&timeline))
		if len(c.Slots) != timeline.slots() || len(c.Times) == 0 || len(c.Panels) != 2 {
			t.Errorf("%s: %d slots, %d times, %d panels", name, len(c.Slots), len(c.Times), len(c.Panels))
		}
		for i, p := range c.Panels {
			for _, a := range p.Areas {
				for _, m := range ordinates.FindAllStringSubmatch(a.Path, -1) {
					if y, err := strconv.ParseFloat(m[1], 64); err != nil || y < p.Top || y > p.Bottom {
						t.Errorf("%s: panel %d: %s leaves %g to %g: %s", name, i, a.Class, p.Top, p.Bottom, m[1])
					}
				}
			}
			if first, last := p.Lines[0], p.Lines[len(p.Lines)-1]; first.At != p.Bottom || last.At < p.Top || last.At >= p.Bottom {
				t.Errorf("%s: panel %d has lines %+v", name, i, p.Lines)
			}
		}
	}
}

// TestChartShowsTheRarest: one refusal is seen beside a billion, and so is one
// in shadow on top of it.
func TestChartShowsTheRarest(t *testing.T) {
	timeline := Timeline{Start: monday, Width: Duration(time.Hour), Admitted: []int64{1e12, 1e12}, Refused: []int64{1e9, 1}, Shadow: []int64{0, 1}}
	p := timeline.chart(wide.fit(&timeline)).Panels[1]
	if got, want := p.Areas[0].Path, "M0 310V230h1V308h1V310h-1V310h-1z"; got != want {
		t.Errorf("refused: %s, want %s", got, want)
	}
	if got, want := p.Areas[1].Path, "M0 230V230h1V306h1V308h-1V230h-1z"; got != want {
		t.Errorf("in shadow: %s, want %s", got, want)
	}
}

// TestChartShapes pins the geometry of three slots.
func TestChartShapes(t *testing.T) {
	timeline := Timeline{Start: monday, Width: Duration(time.Hour), Admitted: []int64{2, 4, 0}, Refused: []int64{0, 0, 1}, Shadow: []int64{0, 1, 0}}
	c := timeline.chart(frame{Tall: 40, Low: 20, Ticks: 4}.fit(&timeline))
	want := [][]string{
		{"M0 70V50h1V30h1V70h1V70h-1V70h-1V70h-1z", "M0 50V50h1V30h1V60h1V70h-1V30h-1V50h-1z"},
		{"M0 120V120h1V120h1V100h1V120h-1V120h-1V120h-1z", "M0 120V120h1V100h1V100h1V100h-1V120h-1V120h-1z"},
	}
	for i, p := range c.Panels {
		for j, a := range p.Areas {
			if a.Path != want[i][j] {
				t.Errorf("panel %d, %s: %s, want %s", i, a.Class, a.Path, want[i][j])
			}
		}
	}
	if got, want := c.Slots[1].Text, "2026-11-30 01:00:00: 4 admitted, 0 refused, 1 in shadow"; got != want {
		t.Errorf("slot %q, want %q", got, want)
	}
	if want := "Requests over 3h from 2026-11-30 00:00:00 UTC: 6 admitted, 1 refused, 1 in shadow. Most were refused in the 1h from 2026-11-30 02:00:00: 1."; c.Label != want {
		t.Errorf("label %q, want %q", c.Label, want)
	}
}

func TestTimeTicks(t *testing.T) {
	for _, c := range []struct {
		start time.Time
		width time.Duration
		slots int
		want  []string
	}{
		{monday, 6 * time.Minute, 240, []string{"00:00", "06:00", "12:00", "18:00"}},
		{monday.Add(7 * time.Minute), time.Minute, 60, []string{"00:15", "00:30", "00:45", "01:00"}},
		{monday, time.Second, 5, []string{"00:00:00", "00:00:01", "00:00:02", "00:00:03", "00:00:04"}},
		{monday, time.Millisecond, 3, []string{"00.000 s", "00.001 s", "00.002 s"}},
		{monday, day, 30, []string{"30 Nov", "7 Dec", "14 Dec", "21 Dec", "28 Dec"}},
		{monday, 0, 5, nil},
		{monday, time.Second, 0, nil},
	} {
		timeline := Timeline{Start: c.start, Width: Duration(c.width), Admitted: make([]int64, c.slots)}
		var got []string
		for _, tick := range timeline.ticks(6) {
			got = append(got, tick.Text)
			if tick.At < 0 || tick.At >= 100 {
				t.Errorf("%v: %q is at %g %%", c.width, tick.Text, tick.At)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d slots of %v: %q, want %q", c.slots, c.width, got, c.want)
		}
	}
	for span := time.Duration(1); span > 0 && span < 200*364*day; span = span*2 + 1 {
		timeline := Timeline{Start: monday, Width: Duration(span), Admitted: []int64{0}}
		if n := len(timeline.ticks(6)); n > 6 {
			t.Errorf("%v has %d ticks", span, n)
		}
	}
}
