package child

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test's executable the program of this name, of those below.
const asProgram = "CHILD_TEST_PROGRAM"

// programs are what the tests start. Each works in its private folder.
var programs = map[string]func(){
	"exits": func() {
		for i := range 3 * tailLines {
			fmt.Printf("noise %d\nline %d\n", i, i)
		}
		fmt.Fprintln(os.Stderr, "no such option")
		os.Exit(3)
	},
	"serves": func() { serve() },
	"floods": func() {
		w := bufio.NewWriter(os.Stdout)
		for i := range floodLines {
			fmt.Fprintf(w, floodLine, i)
		}
		w.Flush()
		serve()
	},
	"deaf": func() {
		signal.Ignore(syscall.SIGTERM)
		say("ready")
		for {
			time.Sleep(time.Hour)
		}
	},
	"mute": func() {
		for {
			time.Sleep(time.Hour)
		}
	},
	"ends": func() { fmt.Println("all is well") },
	"parent": func() {
		p, err := Start(context.Background(), program("serves"), saysReady)
		if err != nil {
			panic(err)
		}
		fmt.Println("pid", p.PID())
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	},
}

func TestMain(m *testing.M) {
	if run, ok := programs[os.Getenv(asProgram)]; ok {
		run()
		return
	}
	os.Exit(m.Run())
}

// serve is ready, and ends well when it is told to.
func serve() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	say("ready")
	<-told
	fmt.Fprintln(os.Stderr, "goodbye")
}

// say leaves a file where saysReady looks.
func say(name string) {
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		panic(err)
	}
}

func saysReady(_ context.Context, p *Process) error {
	_, err := os.Stat(filepath.Join(p.Dir(), "ready"))
	return err
}

func program(name string) Options {
	return Options{
		Name: name,
		Command: func(string) *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), asProgram+"="+name)
			return cmd
		},
	}
}

func start(t *testing.T, o Options) *Process {
	t.Helper()
	p, err := Start(t.Context(), o, saysReady)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	return p
}

// leavesNothing fails the test if a file is left at its end in the folder for
// temporary ones.
func leavesNothing(t *testing.T) {
	t.Helper()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("temporary files are left: %v, %v", left, err)
		}
	})
}

// wantGone fails the test if there is such a process, be it a zombie.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}
