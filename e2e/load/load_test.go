package load

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// server answers with the status in the header x-status, and counts.
func server(t *testing.T) (addr string, served *atomic.Int64) {
	t.Helper()
	served = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		status := http.StatusOK
		if r.Header.Get("x-status") != "" {
			_, _ = fmt.Sscan(r.Header.Get("x-status"), &status)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(strings.Repeat("x", 5000)))
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), served
}

func TestPipelineKeepsOrder(t *testing.T) {
	addr, _ := server(t)
	conn, err := Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	want := []int{200, 429, 503, 200, 404}
	var requests []Request
	for _, status := range want {
		requests = append(requests, Request{"/", [][2]string{{"x-status", fmt.Sprint(status)}}})
	}
	err = conn.Pipeline(requests, func(i, status int) {
		if status != want[i] {
			t.Errorf("answer %d: status %d, want %d", i, status, want[i])
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestFloodCountsEveryAnswer(t *testing.T) {
	addr, served := server(t)
	var sent atomic.Int64
	tally, err := Flood(t.Context(), addr, 3, 7, func(int) (Request, bool) {
		n := sent.Add(1)
		status := "200"
		if n%5 == 0 {
			status = "429"
		}
		return Request{"/", [][2]string{{"x-status", status}}}, n <= 1000
	})
	if err != nil || tally.Total() != 1000 || tally[429] != 200 || served.Load() != 1000 {
		t.Errorf("tally %v, served %d, %v", tally, served.Load(), err)
	}
}

func TestFloodEndsWithItsContext(t *testing.T) {
	addr, served := server(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	tally, err := Flood(ctx, addr, 2, 2, func(int) (Request, bool) { return Request{Path: "/"}, true })
	if err != nil || tally.Total() != served.Load() || tally.Total() == 0 {
		t.Errorf("tally %v, served %d, %v", tally, served.Load(), err)
	}
}

func TestFloodReportsAServerThatHangsUp(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer s.Close()
	if _, err := Flood(t.Context(), s.Listener.Addr().String(), 2, 2, func(int) (Request, bool) { return Request{Path: "/"}, true }); err == nil {
		t.Error("no error")
	}
}

func TestAtRateSendsWhatIsDue(t *testing.T) {
	addr, served := server(t)
	latencies, tally, err := AtRate(t.Context(), addr, 4, 200, 200*time.Millisecond, func(int) (Request, bool) { return Request{Path: "/"}, true })
	if err != nil || int64(len(latencies)) != served.Load() || tally.Total() != served.Load() {
		t.Fatalf("%d latencies, tally %v, served %d, %v", len(latencies), tally, served.Load(), err)
	}
	if n := len(latencies); n == 0 || n > 44 {
		t.Errorf("%d requests, want up to 40 and one more a connection", n)
	}
}

func TestQuantile(t *testing.T) {
	l := Latencies{1, 2, 3, 4}
	for q, want := range map[float64]time.Duration{0: 1, 0.25: 1, 0.5: 2, 0.75: 3, 0.99: 4, 1: 4} {
		if got := l.Quantile(q); got != want {
			t.Errorf("quantile %v = %d, want %d", q, got, want)
		}
	}
	if (Latencies{}).Quantile(0.5) != 0 {
		t.Error("the quantile of nothing is not 0")
	}
}

func TestLoadIsForLoopbackOnly(t *testing.T) {
	if _, err := Dial("192.0.2.1:80"); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Error(err)
	}
}
