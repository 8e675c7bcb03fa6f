package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkReplay replays a log in Envoy's own format by one rule; its profile
// guides the compiler of the tool: see make pgo.
func BenchmarkReplay(b *testing.B) {
	const lines = 500_000
	var log bytes.Buffer
	if status := run([]string{"sample", "--traffic", "poisson,rate=1000,clients=10000,skew=1", "--lines", "500000"}, nil, &log, os.Stderr); status != 0 {
		b.Fatalf("sample ended with %d", status)
	}
	dir := b.TempDir()
	config, file := filepath.Join(dir, "weir.json"), filepath.Join(dir, "access.log")
	rule := `{"rules": [{"name": "per-ip", "match": {"path": {"prefix": "/"}}, "key": [{"client_ip": true}], "limits": [{"requests": 10, "window": "1s"}]}]}`
	if err := os.WriteFile(config, []byte(rule), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, log.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if status := run([]string{"replay", "-c", config, "--json", "-", file}, nil, io.Discard, os.Stderr); status != 0 {
			b.Fatalf("replay ended with %d", status)
		}
	}
	b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
