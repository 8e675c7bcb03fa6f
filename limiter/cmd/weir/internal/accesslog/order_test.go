package accesslog

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// stamped is a line of a test's log: its time in milliseconds, and its path.
type stamped struct {
	at   int
	path string
}

func join(lines []stamped) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(line(l.at, l.path))
	}
	return b.String()
}

// shuffled returns lines that are out of order by at most some milliseconds.
func shuffled(rnd *rand.Rand, n, disorder, step int) (lines []stamped) {
	at, latest := 100_000, 0
	for i := range n {
		if rnd.IntN(50) == 0 {
			at += rnd.IntN(20 * step) // a gap
		}
		at += rnd.IntN(step + 1)
		t := max(at-rnd.IntN(disorder+1), latest-disorder)
		latest = max(latest, t)
		lines = append(lines, stamped{t, fmt.Sprintf("/%d", i)})
	}
	return lines
}

// sorted returns the paths in order of time.
func sorted(lines []stamped) (want []string) {
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b stamped) int { return cmp.Compare(a.at, b.at) })
	for _, l := range lines {
		want = append(want, l.path)
	}
	return want
}

// TestOrderIsStableSort: what is out of order by no more than the disorder
// comes as a stable sort has it.
func TestOrderIsStableSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		disorder, step := rnd.IntN(2000), 1+rnd.IntN(300)
		lines := shuffled(rnd, rnd.IntN(1500), disorder, step)
		if len(lines) == 0 {
			continue
		}
		l := openText(t, join(lines), Options{Disorder: time.Duration(disorder) * time.Millisecond})
		got, err := paths(t, l)
		if err != nil {
			t.Fatal(err)
		}
		if want := sorted(lines); !slices.Equal(got, want) {
			t.Fatalf("disorder %dms, step %d: got %v, want %v", disorder, step, got, want)
		}
		if late := l.Stats().Late; late != 0 {
			t.Fatalf("disorder %dms, step %d: %d late, want none", disorder, step, late)
		}
	}
}

// TestMergeIsStableSort: so do the lines of several files, that follow each
// other or overlap.
func TestMergeIsStableSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for round := range 60 {
		disorder := rnd.IntN(500)
		var files []string
		var all []stamped
		for f := range 1 + rnd.IntN(6) {
			lines := shuffled(rnd, 1+rnd.IntN(400), disorder, 1+rnd.IntN(100))
			for i := range lines {
				if round%2 == 0 {
					lines[i].at += f * 20_000 // mostly rotated
				}
				lines[i].path = fmt.Sprintf("/%d%s", f, lines[i].path)
			}
			all = append(all, lines...)
			files = append(files, write(t, fmt.Sprintf("access.log.%d", f), join(lines)))
		}
		l := must[*Log](t)(Open(files, nil, Options{Disorder: time.Duration(disorder) * time.Millisecond}))
		got, err := paths(t, l)
		if err != nil {
			t.Fatal(err)
		}
		if want := sorted(all); !slices.Equal(got, want) {
			t.Fatalf("disorder %dms, %d files: got %v, want %v", disorder, len(files), got, want)
		}
		if late := l.Stats().Late; late != 0 {
			t.Fatalf("disorder %dms: %d late, want none", disorder, late)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLate(t *testing.T) {
	for _, test := range []struct {
		disorder time.Duration
		lines    []stamped
		want     string
		late     int64
	}{
		{0, []stamped{{1000, "/a"}, {900, "/b"}, {1000, "/c"}, {2000, "/d"}}, "1:/a 1:/b 1:/c 2:/d", 1},
		{time.Second, []stamped{{1000, "/a"}, {3000, "/b"}, {4000, "/c"}, {1500, "/d"}, {500, "/e"}}, "1:/a 1.5:/d 1.5:/e 3:/b 4:/c", 1},
		{time.Second, []stamped{{1000, "/a"}, {9e6, "/future"}, {2000, "/b"}, {3000, "/c"}}, "1:/a 2:/b 3:/c 9000:/future", 0},
		{time.Second, []stamped{{5000, "/b"}, {5000, "/a"}, {4000, "/c"}}, "4:/c 5:/b 5:/a", 0},
	} {
		l := openText(t, join(test.lines), Options{Disorder: test.disorder})
		var got []string
		for {
			r, err := l.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			p, _ := r.Path()
			got = append(got, fmt.Sprintf("%v:%s", float64(r.Time)/1e6, p))
			if r.End < r.Time {
				t.Errorf("%s ends at %d, before it begins at %d", p, r.End, r.Time)
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%v, %v: got %s, want %s", test.disorder, test.lines, s, test.want)
		}
		if late := l.Stats().Late; late != test.late {
			t.Errorf("%v, %v: %d late, want %d", test.disorder, test.lines, late, test.late)
		}
	}
}

// TestFullBuffer: with no room for the disorder the earlier half goes, nothing
// is lost, and memory stays within bounds.
func TestFullBuffer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for name, limit := range map[string]func(l *Log){
		"records": func(l *Log) { l.maxRecords = 100 },
		"bytes":   func(l *Log) { l.maxBytes = 4 * blockSize },
	} {
		lines := shuffled(rnd, 20_000, 60_000, 1)
		l := openText(t, join(lines), Options{Disorder: time.Hour})
		limit(l)
		seen, latest, most := map[string]bool{}, int64(0), 0
		for {
			r, err := l.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Time < latest {
				t.Fatalf("%s: time goes back from %d to %d", name, latest, r.Time)
			}
			latest = r.Time
			p, _ := r.Path()
			seen[strings.Clone(p)] = true
			most = max(most, l.order.count)
			// A block is as large as its text, its fields and its records.
			if l.blocks.waiting > l.maxBytes+3*blockSize {
				t.Fatalf("%s: %d bytes wait, want at most %d and a block", name, l.blocks.waiting, l.maxBytes)
			}
		}
		if len(seen) != len(lines) {
			t.Errorf("%s: %d records, want %d", name, len(seen), len(lines))
		}
		if most > l.maxRecords {
			t.Errorf("%s: %d records wait, want at most %d", name, most, l.maxRecords)
		}
		if l.Stats().Late == 0 {
			t.Errorf("%s: none late; the bound did not bite", name)
		}
	}
}

// TestBlocksComeBack: when all is read no block is held.
func TestBlocksComeBack(t *testing.T) {
	lines := shuffled(rand.New(rand.NewPCG(1, 1)), 20_000, 1000, 1)
	l := openText(t, join(lines), Options{Disorder: time.Second})
	if _, err := paths(t, l); err != nil {
		t.Fatal(err)
	}
	if l.blocks.waiting != 0 {
		t.Errorf("%d bytes are still held", l.blocks.waiting)
	}
	if n := len(l.blocks.free); n > 20 {
		t.Errorf("%d blocks were made for a second of lines, want at most 20", n)
	}
}
