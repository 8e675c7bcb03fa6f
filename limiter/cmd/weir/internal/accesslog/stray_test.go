package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// clocked returns lines whose times are of stretches of a clock, in seconds, one
// line a second.
func clocked(stretches ...[2]int) string {
	var b strings.Builder
	for _, s := range stretches {
		for at := s[0]; at < s[1]; at++ {
			b.WriteString(line(at*1000, "/"))
		}
	}
	return b.String()
}

// TestStray: lines far ahead of those that follow are found, and told from those
// that other reasons make late.
func TestStray(t *testing.T) {
	const night = 100_000
	for _, test := range []struct{ name, log, want string }{
		{"in order", clocked([2]int{0, 500}), "late 0"},
		{"after a gap", clocked([2]int{0, 100}, [2]int{night, night + 100}), "late 0"},
		{"one", clocked([2]int{0, 100}, [2]int{night, night + 1}, [2]int{90, 300}), "late 9, line 101 and 0 more by 27h45m10s"},
		{"two, further and further", clocked([2]int{0, 100}, [2]int{night, night + 1}, [2]int{2 * night, 2*night + 1}, [2]int{100, 200}, [2]int{100, 200}), "late 200, line 101 and 1 more by 27h45m0s"},
		{"the first line", clocked([2]int{night, night + 1}, [2]int{0, 100}, [2]int{50, 100}), "late 49, line 1 and 0 more by 27h46m40s"},
		{"soon after a gap", clocked([2]int{0, 100}, [2]int{1000, 1003}, [2]int{night, night + 1}, [2]int{1003, 1100}, [2]int{1050, 1100}), "late 49, line 104 and 0 more by 27h29m57s"},
		{"the later half first", clocked([2]int{500, 1000}, [2]int{0, 500}), "late 500"},
		{"the later half first, with a gap before its end", clocked([2]int{500, 600}, [2]int{900, 903}, [2]int{0, 400}), "late 400"},
		{"the clock is set back", clocked([2]int{night, night + 100}, [2]int{0, 500}), "late 500"},
		{"the middle last, after a gap", clocked([2]int{0, 100}, [2]int{900, 1000}, [2]int{200, 300}), "late 100"},
		{"slow requests behind a quick one, after a pause", clocked([2]int{0, 100}, [2]int{200, 201}, [2]int{150, 165}, [2]int{201, 300}, [2]int{250, 251}), "late 1"},
		{"a slow request among few", clocked([2]int{0, 1}, [2]int{600, 601}, [2]int{1200, 1201}, [2]int{300, 301}, [2]int{1800, 1801}), "late 1"},
	} {
		l := openText(t, test.log, Options{Disorder: 10 * time.Second})
		must[[]string](t)(paths(t, l))
		st := l.Stats()
		got := fmt.Sprintf("late %d", st.Late)
		if x := st.Stray; x != nil {
			got += fmt.Sprintf(", line %d and %d more by %v", x.Line, x.Lines-1, x.Ahead)
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestStrayOfItsFile: of several files it is the one with the stray line that is
// named.
func TestStrayOfItsFile(t *testing.T) {
	a, b := write(t, "a", clocked([2]int{0, 300})), write(t, "b", clocked([2]int{0, 100}, [2]int{9000, 9001}, [2]int{100, 300}))
	l := must[*Log](t)(Open([]string{a, b}, nil, Options{Disorder: 10 * time.Second}))
	defer l.Close()
	must[[]string](t)(paths(t, l))
	if x := l.Stats().Stray; x == nil || x.File != b || x.Line != 101 {
		t.Errorf("stray %+v, want line 101 of %s", x, b)
	}
}

// TestFullIsSaid: what is late for want of room is told from what is late for the
// disorder.
func TestFullIsSaid(t *testing.T) {
	for room, want := range map[int]bool{50: true, maxWaitingRecords: false} {
		l := openText(t, clocked([2]int{500, 1000}, [2]int{0, 500}), Options{Disorder: time.Hour})
		l.maxRecords = room
		must[[]string](t)(paths(t, l))
		if st := l.Stats(); st.Full != want || (st.Late > 0) != want {
			t.Errorf("room for %d: full %v, %d late; want full %v", room, st.Full, st.Late, want)
		}
	}
}
