package replay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// TestTimeline widens its slots and loses nothing: every count is in the slot
// that its time lies in.
func TestTimeline(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, span := range []time.Duration{0, time.Second, 299 * time.Second, 10 * time.Hour, 400 * 24 * time.Hour, 100 * 365 * 24 * time.Hour} {
		var line timeline
		start := time.Date(2026, 3, 1, 23, 59, 58, 0, time.UTC).UnixMicro()
		var times []int64
		for i := range 1000 {
			now := start + int64(i)*span.Microseconds()/999
			times = append(times, now)
			s := line.at(now)
			s.admitted++
			if rng.IntN(3) == 0 {
				s.shadow++
			}
		}
		got := line.report()
		if len(got.Admitted) > maxSlots || len(got.Admitted) != len(got.Refused) || len(got.Admitted) != len(got.Shadow) {
			t.Fatalf("%v: %d slots", span, len(got.Admitted))
		}
		want := make([]int64, len(got.Admitted))
		for _, now := range times {
			want[time.UnixMicro(now).Sub(got.Start)/time.Duration(got.Width)]++
		}
		for i := range want {
			if got.Admitted[i] != want[i] {
				t.Errorf("%v: slot %d has %d, want %d", span, i, got.Admitted[i], want[i])
			}
		}
		if span >= 300*time.Second && len(got.Admitted) < 40 {
			t.Errorf("%v: only %d slots", span, len(got.Admitted))
		}
	}
	if got := new(timeline).report(); len(got.Admitted) != 0 || got.Width != report.Duration(0) || !got.Start.IsZero() {
		t.Errorf("nothing is %+v", got)
	}
}
