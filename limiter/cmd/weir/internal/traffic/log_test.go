package traffic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// start is a midnight, so that windows of the clock begin at it.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// mustParse parses specifications that are known to be right.
func mustParse(t testing.TB, specs ...string) (sources []Source) {
	t.Helper()
	for _, spec := range specs {
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	return sources
}

func sample(t testing.TB, o LogOptions, longest time.Duration, specs ...string) []string {
	t.Helper()
	var out bytes.Buffer
	g := New(mustParse(t, specs...), Options{Start: start, For: 10 * time.Second, Seed: o.Seed, Longest: longest})
	n, err := WriteLog(&out, g, o)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if err != nil || n != int64(len(lines)) {
		t.Fatalf("WriteLog returns %d, %v, and wrote %d lines", n, err, len(lines))
	}
	return lines
}

const (
	id     = `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
	ip     = `10\.\d+\.\d+\.\d+`
	shared = `^\[2026-01-01T00:00:\d\d\.\d{3}Z\] "(GET|POST|PUT|DELETE) /\S* HTTP/1\.1" \d{3} (-|UF) `
	rest   = `\d+ \d+ \d+ \d+ "` + ip + `" "[^"]+" "` + id + `" "shop\.example\.com" "10\.244\.0\.1[1-4]:8080"`
)

// TestFormats holds every line of each format to what proxies write.
func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"envoy": shared + rest + `$`,
		"istio": shared + `via_upstream - "-" ` + rest + ` inbound\|8080\|\| 127\.0\.0\.6:41935 10\.244\.0\.9:8080 ` + ip + `:0 - default$`,
		"nginx": `^` + ip + ` - - \[01/Jan/2026:00:00:\d\d \+0000\] "(GET|POST|PUT|DELETE) /\S* HTTP/1\.1" \d{3} \d+ "-" "[^"]+"$`,
	} {
		line := regexp.MustCompile(want)
		for _, text := range sample(t, LogOptions{Format: format, Seed: 1}, 0, "poisson,rate=200,clients=70000") {
			if !line.MatchString(text) {
				t.Fatalf("%s: %s\nis not like %s", format, text, want)
			}
		}
	}
	_, err := WriteLog(io.Discard, nil, LogOptions{Format: "ngnix"})
	if want := `format "ngnix", did you mean "nginx"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestFormatJSON also looks at headers: those of credentials are left out, and
// those that would pass for another member.
func TestFormatJSON(t *testing.T) {
	lines := sample(t, LogOptions{Format: "json"}, 0,
		`poisson,rate=20,clients=3,header=X-User-Id:{client},header=x-note:a "b" é,header=authorization:Bearer s3cret,header=path:/,header=x_user_id:bob`)
	for _, text := range lines {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		client, _ := line["x_user_id"].(string)
		address, _ := line["x_forwarded_for"].(string)
		if number, ok := strings.CutPrefix(client, "client-"); !ok || address != "10.0.0."+number {
			t.Errorf("client %q has the address %q", client, address)
		}
		if line["x_note"] != `a "b" é` || line["duration"] == nil || line["response_code"] == nil {
			t.Errorf("got %s", text)
		}
		if strings.Contains(text, "s3cret") || strings.Count(text, `"path"`) != 1 {
			t.Errorf("got %s", text)
		}
		if len(line) != len(members)+2 {
			t.Errorf("%d members and 2 headers, but the line has %d: %s", len(members), len(line), text)
		}
	}
}

// TestLogOrder holds the lines to the order in which requests end, and thus
// their starts to be out of order by the longest duration at most; and wants
// this to happen.
func TestLogOrder(t *testing.T) {
	const longest = 50 * time.Millisecond
	lines := sample(t, LogOptions{Format: "json", Seed: 5}, longest, "poisson,rate=500,latency=30ms")
	var latest, end time.Time
	late := 0
	for _, text := range lines {
		var line struct {
			Start    time.Time `json:"start_time"`
			Duration int64
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		took := time.Duration(line.Duration) * time.Millisecond
		if took > longest || latest.Sub(line.Start) > longest+time.Millisecond {
			t.Errorf("%v took %v, and comes after %v", line.Start, took, latest)
		}
		// Both are cut to the millisecond.
		if line.Start.Add(took).Add(2 * time.Millisecond).Before(end) {
			t.Errorf("what ended at %v comes after what ended at %v", line.Start.Add(took), end)
		}
		end = line.Start.Add(took)
		if line.Start.Before(latest) {
			late++
		} else {
			latest = line.Start
		}
	}
	if late < 1000 || late > 4500 {
		t.Errorf("%d of %d lines are out of order", late, len(lines))
	}
}

// TestLogOrderNGINX has the lines in the order of their times, which are those
// of the ends; a request begun in the first second may end in the third.
func TestLogOrderNGINX(t *testing.T) {
	last := ""
	for _, text := range sample(t, LogOptions{Format: "nginx"}, 0, "poisson,rate=200,latency=2s,for=1s") {
		_, when, _ := strings.Cut(text, "[")
		if when, _, _ = strings.Cut(when, "]"); when < last {
			t.Errorf("%s comes after %s", when, last)
		}
		last = when
	}
	if last < "01/Jan/2026:00:00:03" {
		t.Errorf("the last request ends at %s", last)
	}
}

// TestLogLines asks for a number of lines, and for the same ones again.
func TestLogLines(t *testing.T) {
	o := LogOptions{Format: "envoy", Lines: 300, Seed: 9}
	lines := sample(t, o, 0, "poisson,rate=100,clients=20", "burst,size=10,every=1s")
	if len(lines) != 300 || !slices.Equal(lines, sample(t, o, 0, "poisson,rate=100,clients=20", "burst,size=10,every=1s")) {
		t.Errorf("%d lines, or others with the same seed", len(lines))
	}
	if o.Seed = 10; slices.Equal(lines, sample(t, o, 0, "poisson,rate=100,clients=20", "burst,size=10,every=1s")) {
		t.Error("the same lines with another seed")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }

// TestLogWriteError ends a log whose file is full.
func TestLogWriteError(t *testing.T) {
	for _, lines := range []int64{1, 100_000} {
		g := New(mustParse(t, "poisson,rate=1000"), Options{Start: start})
		if _, err := WriteLog(full{}, g, LogOptions{Format: "envoy", Lines: lines}); err == nil || err.Error() != "no room" {
			t.Errorf("%d lines: got %v", lines, err)
		}
	}
}

func TestClock(t *testing.T) {
	var c clock
	for _, at := range []time.Time{
		start, start.Add(999_999 * time.Microsecond), start.Add(time.Second), time.Unix(-1, 5e8), time.Unix(0, 0), time.UnixMilli(7),
	} {
		iso, clf := at.UTC().Format("2006-01-02T15:04:05.000Z"), at.UTC().Format("02/Jan/2006:15:04:05 -0700")
		if got := string(c.appendISO(nil, at.UnixMicro())); got != iso {
			t.Errorf("got %s, want %s", got, iso)
		}
		if got := string(c.appendCLF(nil, at.UnixMicro())); got != clf {
			t.Errorf("got %s, want %s", got, clf)
		}
	}
}

func BenchmarkWriteLog(b *testing.B) {
	for _, format := range Formats {
		b.Run(format, func(b *testing.B) {
			g := New(mustParse(b, "poisson,rate=5000,clients=100000,skew=1"), Options{Start: start, Longest: 2 * time.Second})
			b.ReportAllocs()
			if _, err := WriteLog(io.Discard, g, LogOptions{Format: format, Lines: int64(b.N)}); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
