package main

import (
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// TestOutOfOrder: what is said depends on why lines are late, and nothing if few
// are.
func TestOutOfOrder(t *testing.T) {
	stray := func(lines int64) *accesslog.Stray {
		return &accesslog.Stray{File: "a.log", Line: 7, Lines: lines, Ahead: 5*time.Hour + 3*time.Millisecond}
	}
	for _, test := range []struct {
		stats accesslog.Stats
		want  string
	}{
		{accesslog.Stats{Lines: 300}, ""},
		{accesslog.Stats{Lines: 300, Late: 3}, ""},
		{accesslog.Stats{Lines: 300, Stray: stray(1)}, ""},
		{accesslog.Stats{Lines: 300, Late: 4}, "4 of 300 lines were further out of order than --disorder 1m30s: the figures do not hold; " +
			"name the files one by one, so that they are merged by time; raise --disorder; or look at the clocks"},
		{accesslog.Stats{Lines: 300, Late: 4, Full: true}, "4 of 300 lines were further out of order than --disorder 1m30s: the figures do not hold; " +
			"there is no room for all lines within --disorder: sort the log by time"},
		{accesslog.Stats{Lines: 300, Late: 1, Stray: stray(1)}, "1 of 300 lines were further out of order than --disorder 1m30s: the figures do not hold; " +
			"line 7 of a.log is 5h ahead of those that follow: leave it out, or look at the clock"},
		{accesslog.Stats{Lines: 300, Late: 200, Stray: stray(3)}, "200 of 300 lines were further out of order than --disorder 1m30s: the figures do not hold; " +
			"3 lines are ahead of those that follow, the first, line 7 of a.log, by 5h: leave them out, or look at the clock"},
	} {
		if got := outOfOrder(test.stats, report.Duration(90*time.Second)); got != test.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", test.stats, got, test.want)
		}
	}
}
