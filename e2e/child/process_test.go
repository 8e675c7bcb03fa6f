package child

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestStop(t *testing.T) {
	leavesNothing(t)
	p := start(t, program("serves"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
			if log := p.Log(); log != "goodbye\n" {
				t.Errorf("the log is %q", log)
			}
		})
	}
	wg.Wait()
	wantGone(t, p.PID())
	p.Kill()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestStopDeaf(t *testing.T) {
	leavesNothing(t)
	o := program("deaf")
	o.StopTimeout = 50 * time.Millisecond
	p := start(t, o)
	want := fmt.Sprintf("stop deaf (pid %d): still running 50ms after SIGTERM\nsignal: killed", p.PID())
	for range 2 {
		if err := p.Stop(); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	wantGone(t, p.PID())
}

func TestKill(t *testing.T) {
	leavesNothing(t)
	p := start(t, program("deaf"))
	p.Kill()
	wantGone(t, p.PID())
	p.Kill()
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

// TestStopReportsCrash: also if the process was killed after that.
func TestStopReportsCrash(t *testing.T) {
	for name, kill := range map[string]bool{"stopped": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			p := start(t, program("serves"))
			if err := syscall.Kill(p.PID(), syscall.SIGABRT); err != nil {
				t.Fatal(err)
			}
			<-p.done
			if kill {
				p.Kill()
			}
			wantError(t, p.Stop(), fmt.Sprintf("stop serves (pid %d): ", p.PID()))
		})
	}
}

// TestFlood: a program prints more than is kept, while others read it.
func TestFlood(t *testing.T) {
	leavesNothing(t)
	reads := 0
	p, err := Start(t.Context(), program("floods"), func(ctx context.Context, p *Process) error {
		if reads++; reads <= 5 { // which holds the flood up
			_ = p.Log()
		}
		return saysReady(ctx, p)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	missing, kept, _ := strings.Cut(p.Log(), "\n")
	var dropped int
	if _, err := fmt.Sscanf(missing, "(%d bytes before this are not kept)", &dropped); err != nil {
		t.Fatalf("the log begins with %q: %v", missing, err)
	}
	if got, want := dropped+len(kept), floodLines*len(fmt.Sprintf(floodLine, 0))+len("goodbye\n"); got != want {
		t.Errorf("%d bytes dropped and %d kept are not the %d printed", dropped, len(kept), want)
	}
	if len(kept) < keptOutput || len(kept) > 2*keptOutput {
		t.Errorf("%d bytes are kept, want from %d to twice that", len(kept), keptOutput)
	}
	if want := fmt.Sprintf(floodLine, floodLines-1) + "goodbye\n"; !strings.HasSuffix(kept, want) {
		t.Errorf("the log does not end with %q", want)
	}
	if !strings.HasPrefix(kept, "flood ") {
		t.Errorf("the log goes on with %.100q", kept)
	}
}
