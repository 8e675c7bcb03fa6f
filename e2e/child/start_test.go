package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStart: a program finds its files in its folder, where only its owner can
// read them, and works there unless it is told otherwise.
func TestStart(t *testing.T) {
	leavesNothing(t)
	o := program("serves")
	o.Files = map[string][]byte{"config/limits.yaml": []byte("domain: weir"), "password": []byte("hunter2")}
	p := start(t, o)
	for name, content := range o.Files {
		path := filepath.Join(p.Dir(), name)
		got, err := os.ReadFile(path)
		if err != nil || string(got) != string(content) {
			t.Errorf("%s is %q, %v, want %q", name, got, err, content)
		}
		for ; path != filepath.Dir(p.Dir()); path = filepath.Dir(path) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
	}

	elsewhere, command := t.TempDir(), o.Command
	o.Command = func(dir string) *exec.Cmd {
		cmd := command(dir)
		cmd.Dir = elsewhere
		return cmd
	}
	p, err := Start(t.Context(), o, func(context.Context, *Process) error {
		_, err := os.Stat(filepath.Join(elsewhere, "ready"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestStartExits(t *testing.T) {
	leavesNothing(t)
	o := program("exits")
	o.Noise = func(line string) bool { return strings.HasPrefix(line, "noise ") }
	_, err := Start(t.Context(), o, saysReady)
	if !errors.Is(err, ErrExited) {
		t.Errorf("got error %v, want %v", err, ErrExited)
	}
	want := "start exits: it exited before it was ready: exit status 3; last output:\n"
	for i := 2*tailLines + 1; i < 3*tailLines; i++ {
		want += fmt.Sprintf("line %d\n", i)
	}
	if want += "no such option"; err == nil || err.Error() != want {
		t.Errorf("got error %v\nwant %s", err, want)
	}
}

// TestStartStranger: somebody else answers for a program that has exited, as on
// a port that it did not get.
func TestStartStranger(t *testing.T) {
	leavesNothing(t)
	p, err := Start(t.Context(), program("serves"), func(ctx context.Context, p *Process) error {
		if err := saysReady(ctx, p); err != nil {
			return err
		}
		if err := syscall.Kill(p.PID(), syscall.SIGTERM); err != nil {
			return err
		}
		<-p.done
		return nil
	})
	if !errors.Is(err, ErrExited) {
		t.Errorf("got error %v, want %v", err, ErrExited)
	}
	if err == nil {
		_ = p.Stop()
	}
	wantError(t, err, "exit status 0; last output:\ngoodbye")
}

// TestStartNeverReady: the error has what the program was last asked, and not
// that a question was cut short.
func TestStartNeverReady(t *testing.T) {
	leavesNothing(t)
	ctx, cancel := context.WithCancel(t.Context())
	asked, pid := 0, 0
	_, err := Start(ctx, program("mute"), func(ctx context.Context, p *Process) error {
		if asked++; asked < 3 {
			return fmt.Errorf("answer %d is no", asked)
		}
		pid = p.PID()
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrExited) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	wantError(t, err, "start mute: it is not ready: context canceled: answer 2 is no; last output:\n")
	wantGone(t, pid)

	_, err = Start(ctx, program("mute"), saysReady)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a start that was cancelled: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = Start(ctx, program("mute"), saysReady)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a start that took too long: %v", err)
	}
}

func TestStartNothing(t *testing.T) {
	leavesNothing(t)
	o := Options{Name: "nothing", Command: func(string) *exec.Cmd { return exec.Command("/no/such/program") }}
	_, err := Start(t.Context(), o, saysReady)
	wantError(t, err, "start nothing: fork/exec /no/such/program: no such file or directory")
	_, err = Run(t.Context(), o)
	wantError(t, err, "run nothing: fork/exec /no/such/program: no such file or directory")

	o = program("ends")
	o.Files = map[string][]byte{"a": nil, "a/b": nil}
	_, err = Run(t.Context(), o)
	wantError(t, err, "run ends: ")
}

func TestRun(t *testing.T) {
	leavesNothing(t)
	printed, err := Run(t.Context(), program("ends"))
	if err != nil || printed != "all is well\n" {
		t.Errorf("Run = %q, %v", printed, err)
	}
	printed, err = Run(t.Context(), program("exits"))
	wantError(t, err, "run exits: exit status 3; last output:\n")
	if !strings.HasPrefix(printed, "noise 0\nline 0\n") || !strings.HasSuffix(printed, "no such option\n") {
		t.Errorf("Run = %q", printed)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var cmd *exec.Cmd
	o := program("mute")
	command := o.Command
	o.Command = func(dir string) *exec.Cmd {
		cmd = command(dir)
		return cmd
	}
	_, err = Run(ctx, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was cancelled: %v", err)
	}
	wantError(t, err, "run mute: context canceled; last output:\n")
	wantGone(t, cmd.Process.Pid)
}
