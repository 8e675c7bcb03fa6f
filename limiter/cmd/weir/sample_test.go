package main

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/accesslog"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/traffic"
)

// TestSampleParses writes a log in each format and reads it as replay does,
// without being told the format: every line says what the request was.
func TestSampleParses(t *testing.T) {
	const spec = "poisson,rate=100,clients=300,header=x-user-id:{client}"
	for _, format := range traffic.Formats {
		var log, stderr bytes.Buffer
		args := []string{"sample", "--traffic", spec, "--for", "20s", "--format", format, "--disorder", "1s", "--start", "2026-03-01T12:00:00+01:00"}
		if status := run(args, nil, &log, &stderr); status != 0 {
			t.Fatalf("%s: status %d: %s", format, status, stderr.String())
		}
		want := requests(t, spec)
		lines := bytes.Count(log.Bytes(), []byte("\n"))
		r, err := accesslog.Open([]string{"-"}, &log, accesslog.Options{Disorder: 3 * time.Second})
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		defer r.Close()
		read := 0
		for {
			record, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			method, _ := record.Method()
			path, _ := record.Path()
			client, _ := record.ClientAddress()
			got := request(method, path, identity(t, client), record.Status)
			if want[got]--; want[got] < 0 {
				t.Fatalf("%s: %s is none of the requests, or once too many", format, got)
			}
			read++
			if user, _ := record.Header("x-user-id"); format == "json" && user != identity(t, client) {
				t.Fatalf("x-user-id is %q for %s", user, client)
			}
		}
		stats := r.Stats()
		if read != lines || lines < 1500 || stats.Broken != 0 || stats.Late != 0 {
			t.Errorf("%s: %d lines, %d read, %d broken, %d late", format, lines, read, stats.Broken, stats.Late)
		}
	}
}

func request(method, path, client, status string) string {
	return fmt.Sprintf("%s %s by %s: %s", method, path, client, status)
}

// identity is the name of the client of an address.
func identity(t *testing.T, address string) string {
	t.Helper()
	ip, err := netip.ParseAddr(address)
	if err != nil {
		both, err := netip.ParseAddrPort(address)
		if err != nil {
			t.Fatal(err)
		}
		ip = both.Addr()
	}
	b := ip.As4()
	return fmt.Sprintf("client-%d", int(b[1])<<16|int(b[2])<<8|int(b[3]))
}

// requests are those that the log should have, with how often.
func requests(t *testing.T, spec string) map[string]int {
	t.Helper()
	source, err := traffic.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	g := traffic.New([]traffic.Source{source}, traffic.Options{Start: start, For: 20 * time.Second, Seed: 1, Longest: time.Second})
	all := map[string]int{}
	for _, r := g.Next(); r != nil; _, r = g.Next() {
		method, _ := r.Method()
		path, _ := r.Path()
		client, _ := r.ClientAddress()
		status, _ := r.Response().Status()
		all[request(method, path, identity(t, client), status)]++
	}
	return all
}

// TestSampleBounds ends a log with its lines, an hour or not, and cuts durations
// at the disorder.
func TestSampleBounds(t *testing.T) {
	for _, x := range []struct {
		args  []string
		lines int
	}{
		{[]string{"--lines", "5000"}, 5000}, // which take more than an hour
		{[]string{"--for", "100s"}, 100},
		{[]string{"--for", "100s", "--lines", "5000"}, 100},
		{[]string{"--for", "100s", "--lines", "70"}, 70},
		{nil, 3600},
	} {
		var log, stderr bytes.Buffer
		args := append([]string{"sample", "--traffic", "burst,size=1,every=1s,latency=1m", "--disorder", "1500ms"}, x.args...)
		if status := run(args, nil, &log, &stderr); status != 0 {
			t.Fatalf("%v: status %d: %s", x.args, status, stderr.String())
		}
		if n := bytes.Count(log.Bytes(), []byte("\n")); n != x.lines {
			t.Errorf("%v: %d lines, want %d", x.args, n, x.lines)
		}
		if n := len(regexp.MustCompile(` 1500 1(500|499) "10\.0\.0\.1"`).FindAll(log.Bytes(), -1)); n != x.lines {
			t.Errorf("%v: %d requests of %d take as long as the disorder", x.args, n, x.lines)
		}
	}
}
