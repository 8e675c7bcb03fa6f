package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"
)

// markdown writes a table that GitHub renders and a terminal can show: the
// first column to the left, the others to the right.
func markdown(out io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			width[i] = max(width[i], utf8.RuneCountInString(text))
		}
	}
	for i, row := range rows {
		for j, text := range row {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(text))
			if j == 0 {
				text += pad
			} else {
				text = pad + text
			}
			fmt.Fprintf(out, "| %s ", text)
		}
		fmt.Fprintln(out, "|")
		if i == 0 {
			for j := range row {
				end := ":"
				if j == 0 {
					end = "-"
				}
				fmt.Fprint(out, "|-", strings.Repeat("-", width[j]), end)
			}
			fmt.Fprintln(out, "|")
		}
	}
	fmt.Fprintln(out)
}

// writeSetting says what was run, and on what.
func writeSetting(out io.Writer, plan plan) {
	fmt.Fprintf(out, "%s, %s/%s, GOMAXPROCS=%d, %d rounds. One reading of the clock, which is in every time below: %.0f ns.\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), plan.rounds, clockCost())
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	var versions []string
	for _, d := range info.Deps {
		for _, module := range []string{"x/time", "go-limiter", "throttled", "ulule", "httprate", "slidingwindow"} {
			if strings.Contains(d.Path, module) {
				versions = append(versions, d.Path+" "+d.Version)
			}
		}
	}
	fmt.Fprintf(out, "%s\n\n", strings.Join(versions, ", "))
}

// clockCost returns the nanoseconds of one time.Now, the least of several.
func clockCost() float64 {
	const n = 100_000
	least := time.Duration(math.MaxInt64)
	for range 10 {
		start := time.Now()
		for range n {
			_ = time.Now()
		}
		least = min(least, time.Since(start))
	}
	return float64(least.Nanoseconds()) / n
}

func writeSpeed(out io.Writer, plan plan, found map[cell]*series) {
	fmt.Fprintf(out, "### Nanoseconds for an admitted request\n\n")
	fmt.Fprintf(out, "Median of the rounds, minimum in brackets, and the median of the ratios to %s in the same round.\n\n", weirs[0].name)
	for _, goroutines := range goroutineCounts() {
		head := []string{fmt.Sprintf("goroutines: %d", goroutines)}
		for _, n := range plan.keys {
			head = append(head, grouped(n)+" keys", "×")
		}
		rows := [][]string{append(head, "allocations")}
		for _, p := range contenders() {
			row, allocs := []string{p.name}, 0.0
			for _, n := range plan.keys {
				s := found[cell{p.name, n, goroutines}]
				row = append(row, s.String(), fmt.Sprintf("%.2f", median(s.ratios)))
				for _, c := range s.costs {
					allocs = max(allocs, c.allocs)
				}
			}
			rows = append(rows, append(row, fmt.Sprintf("%.1f", allocs)))
		}
		markdown(out, rows)
	}
}

// String shows the median and the minimum.
func (s *series) String() string {
	least := s.costs[0].ns
	for _, ns := range s.ns() {
		least = min(least, ns)
	}
	return fmt.Sprintf("%.0f (%.0f)", median(s.ns()), least)
}

func writeMemory(out io.Writer, keys int, found []footprint) {
	fmt.Fprintf(out, "### Bytes of heap for a live key, %s keys, limit %d\n\n", grouped(keys), limit)
	fmt.Fprintf(out, "Kept apart: how many keys had a quota of their own. Weir's memory is bounded, and a key that finds no room in it is not; it was given room for twice the keys. The other libraries grow without bound.\n\n")
	rows := [][]string{{"", "1 request each", "10 requests each", "kept apart"}}
	for _, f := range found {
		rows = append(rows, []string{f.peer, fmt.Sprintf("%.1f", f.one), fmt.Sprintf("%.1f", f.ten), grouped(f.kept)})
	}
	markdown(out, rows)
}

func writeVerdicts(out io.Writer, all []trace, found map[string][]verdict) {
	fmt.Fprintf(out, "### Admitted / admitted by an exact window\n\n")
	fmt.Fprintf(out, "Over: admitted into a window that was full of what was admitted before. Needless: refused though it had room. ")
	fmt.Fprintf(out, "A bucket is right by its own rule, which is another one. go-limiter and ulule/limiter read the clock: they played in real time, with a window of %v.\n\n", realWindow)
	head := []string{"", "counts by"}
	for _, t := range all {
		head = append(head, t.name)
	}
	rows := [][]string{append(head, "over", "needless")}
	for _, p := range contenders() {
		row, over, needless := []string{p.name, p.way}, 0, 0
		for _, v := range found[p.name] {
			row = append(row, fmt.Sprintf("%d/%d", v.admitted, v.exact))
			over, needless = over+v.over, needless+v.needless
		}
		rows = append(rows, append(row, fmt.Sprint(over), fmt.Sprint(needless)))
	}
	markdown(out, rows)
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
