package accesslog

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// benchFormats write the lines of a benchmark: varied, and out of order by the
// time that each took.
var benchFormats = []struct {
	name string
	line func(b *bytes.Buffer, at time.Time, took, i int)
}{
	{"envoy", func(b *bytes.Buffer, at time.Time, took, i int) {
		fmt.Fprintf(b, "[%s] \"GET /api/v1/items/%d?page=%d HTTP/1.1\" 200 - 0 %d %d %d \"203.0.113.%d\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36\" \"%08x-52c5-4b0e-8a37-1f6f1f0f7a11\" \"api%d.example.com\" \"10.0.0.%d:8080\"\n",
			at.Format("2006-01-02T15:04:05.000Z"), i%5000, i%7, i%9000, took, took, i%250, i, i%3, i%20)
	}},
	{"json", func(b *bytes.Buffer, at time.Time, took, i int) {
		fmt.Fprintf(b, `{"authority":"api%d.example.com","bytes_received":0,"bytes_sent":%d,"connection_termination_details":null,"downstream_local_address":"10.0.0.5:8080","downstream_remote_address":"203.0.113.%d:4711","duration":%d,"method":"GET","path":"/api/v1/items/%d?page=%d","protocol":"HTTP/1.1","request_id":"%08x-52c5-4b0e-8a37-1f6f1f0f7a11","requested_server_name":null,"response_code":200,"response_code_details":"via_upstream","response_flags":"-","route_name":"default","start_time":"%s","upstream_cluster":"inbound|8080||","upstream_host":"10.0.0.%d:8080","upstream_service_time":"%d","user_agent":"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36","x_forwarded_for":"203.0.113.%d"}`+"\n",
			i%3, i%9000, i%250, took, i%5000, i%7, i, at.Format("2006-01-02T15:04:05.000Z"), i%20, took, i%250)
	}},
	{"nginx", func(b *bytes.Buffer, at time.Time, took, i int) {
		fmt.Fprintf(b, "203.0.113.%d - - [%s] \"GET /api/v1/items/%d?page=%d HTTP/1.1\" 200 %d \"https://www.example.com/\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36\"\n",
			i%250, at.Add(time.Duration(took)*time.Millisecond).Format("02/Jan/2006:15:04:05 -0700"), i%5000, i%7, i%9000)
	}},
}

func BenchmarkRead(b *testing.B) {
	const lines = 100_000
	for _, f := range benchFormats {
		rnd := rand.New(rand.NewPCG(1, 2))
		var log bytes.Buffer
		began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for i := range lines {
			took := int(rnd.ExpFloat64() * 50)
			ended := began.Add(time.Duration(i) * 100 * time.Microsecond)
			f.line(&log, ended.Add(-time.Duration(took)*time.Millisecond), took, i)
		}
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(int64(log.Len()))
			b.ReportAllocs()
			read, began := 0, cpuTime()
			for b.Loop() {
				l, err := Open([]string{"-"}, bytes.NewReader(log.Bytes()), Options{Disorder: 2 * time.Second})
				if err != nil {
					b.Fatal(err)
				}
				for {
					r, err := l.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					read += len(r.Status) / 3
				}
			}
			if want := b.N * lines; read != want {
				b.Fatalf("%d records read, want %d", read, want)
			}
			b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "lines/s")
			b.ReportMetric(float64(read)/(cpuTime()-began).Seconds(), "lines/cpu-s") // on a busy machine
		})
	}
}

// cpuTime is what the process has used of a processor.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
