package envoyproc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

func TestStartBrokenConfig(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	p, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: []byte("static_resource: {}")})
	if err == nil {
		p.Stop()
	}
	wantError(t, err, "start envoy: it exited before it was ready: exit status 1; last output:\n")
	wantError(t, err, "'static_resource'")
	if err != nil && len(err.Error()) > 5_000 {
		t.Errorf("the error has %d bytes, the reason drowns:\n%v", len(err.Error()), err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("temporary files after a failed start: %v, %v", left, err)
	}
}

// A cluster that waits for its first endpoints holds Envoy in PRE_INITIALIZING.
func TestStartDeadline(t *testing.T) {
	const config = `
node: {id: a, cluster: b}
static_resources:
  clusters:
  - name: waits
    type: EDS
    eds_cluster_config:
      eds_config:
        initial_fetch_timeout: 0s
        resource_api_version: V3
        api_config_source: {api_type: GRPC, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: nobody}}]}
  - name: nobody
    http2_protocol_options: {}
`
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	p, err := envoyproc.Start(ctx, envoyproc.Options{Config: []byte(config), Concurrency: 1})
	if err == nil {
		p.Stop()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
	}
	wantError(t, err, "PRE_INITIALIZING")
}

func TestStartOptions(t *testing.T) {
	config, err := envoyproc.Patch([]byte(hello), map[string]string{"inline_string: hello": "filename: page"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, envoyproc.Options{
		Config:            config,
		Dir:               dir,
		Concurrency:       2,
		LogLevel:          "warning",
		ComponentLogLevel: "config:info",
		Env:               []string{"ENVOYPROC_TEST=from the environment"},
		ExtraArgs:         []string{"--service-zone", "east"},
	})
	get(t, "http://"+listener(t, p))

	stats, err := p.Stats(t.Context(), "^server.concurrency$")
	if err != nil || stats["server.concurrency"] != 2 {
		t.Errorf("Stats = %v, %v, want server.concurrency 2", stats, err)
	}
	if log := p.Log(); strings.Contains(log, "[info][main]") || !strings.Contains(log, "[info][config]") {
		t.Error("the log levels were not obeyed")
	}
	for file, want := range map[string]string{"environ": "ENVOYPROC_TEST=from the environment", "cmdline": "east"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.PID(), file))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s is %q (%v), want %q in it", file, b, err, want)
		}
	}
}

// The test runs itself as a parent that starts an Envoy and is killed.
func TestProcessDiesWithParent(t *testing.T) {
	const asParent = "ENVOYPROC_TEST_AS_PARENT"
	if os.Getenv(asParent) != "" {
		p, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: []byte(hello), Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("pid", p.PID())
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		select {}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessDiesWithParent$")
	cmd.Env = append(os.Environ(), asParent+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.Output()
	wantError(t, err, "signal: killed")
	var pid int
	if _, err := fmt.Sscanf(string(out), "pid %d\n", &pid); err != nil {
		t.Fatalf("parent printed %q: %v", out, err)
	}
	// A zombie has no exe either: it is dead, whoever reaps it.
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Readlink(exe); err != nil {
			return
		}
	}
	t.Errorf("envoy %d outlived its parent", pid)
	if orphan, err := os.FindProcess(pid); err == nil {
		orphan.Kill()
	}
}

func TestValidate(t *testing.T) {
	log, err := envoyproc.Validate(t.Context(), envoyproc.Options{Config: []byte(hello)})
	if err != nil || !strings.Contains(log, "OK") {
		t.Errorf("Validate = %q, %v, want OK", log, err)
	}
	log, err = envoyproc.Validate(t.Context(), envoyproc.Options{Config: []byte("static_resource: {}")})
	wantError(t, err, "validate the bootstrap: run envoy: exit status 1; last output:\n")
	wantError(t, err, "'static_resource'")
	if !strings.Contains(log, "'static_resource'") {
		t.Errorf("the log does not say what is wrong: %q", log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = envoyproc.Validate(ctx, envoyproc.Options{Config: []byte(hello)})
	wantError(t, err, "validate the bootstrap: run envoy: context canceled")
}
