package main

import (
	"fmt"
	"time"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// outOfOrder says that the figures of a report do not hold, since lines came too
// late to be decided at their times: more than one in a hundred, or any that a
// few stray ones have made late. It is empty if they hold.
func outOfOrder(st accesslog.Stats, disorder report.Duration) string {
	if st.Late == 0 || st.Late*100 <= st.Lines && st.Stray == nil {
		return ""
	}
	advice := "name the files one by one, so that they are merged by time; raise --disorder; or look at the clocks"
	switch x := st.Stray; {
	case x != nil && x.Lines == 1:
		advice = fmt.Sprintf("line %d of %s is %v ahead of those that follow: leave it out, or look at the clock", x.Line, x.File, ahead(x.Ahead))
	case x != nil:
		advice = fmt.Sprintf("%d lines are ahead of those that follow, the first, line %d of %s, by %v: leave them out, or look at the clock",
			x.Lines, x.Line, x.File, ahead(x.Ahead))
	case st.Full:
		advice = "there is no room for all lines within --disorder: sort the log by time"
	}
	return fmt.Sprintf("%d of %d lines were further out of order than --disorder %v: the figures do not hold; %s",
		st.Late, st.Lines, disorder, advice)
}

// ahead spares what does not matter of a long duration.
func ahead(d time.Duration) report.Duration {
	if d > time.Minute {
		d = d.Truncate(time.Second)
	}
	return report.Duration(d)
}
