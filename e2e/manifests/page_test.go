package manifests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// image is a reference by digest, as `weir image push` prints one.
const image = "oci://registry.test/edge/weir@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// fenced is a block of shell that needs no cluster. Those that do are "console".
var fenced = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")

// shellOf are the shell lines of a page, in their order.
func shellOf(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, page))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -eu\n")
	for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
		script.WriteString(block[1])
	}
	if script.Len() < 30 {
		t.Fatalf("%s: no shell lines", page)
	}
	return script.String()
}

// follow runs the shell lines of a page in a folder, with this tree's weir and the
// Envoy of the tests on PATH, and a curl that fetches from the checkout, but for a
// file that the environment calls GONE.
func follow(t *testing.T, page, dir string, environment ...string) (said string, err error) {
	t.Helper()
	bin := t.TempDir()
	envoy, err := envoyproc.Find()
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	const site = "https://raw.githubusercontent.com/weirproxy/weir/main/"
	curl := fmt.Sprintf("#!/bin/sh\nfor url; do :; done\ncase $url in\n*\"/$GONE\") ;;\n%s*) exec cat \"%s/${url#%s}\";;\nesac\necho \"curl: $url\" >&2\nexit 22\n", site, checkout, site)
	if err := os.WriteFile(filepath.Join(bin, "curl"), []byte(curl), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"weir": tool(t), "envoy": envoy} {
		run := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", target)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(run), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shell := exec.CommandContext(t.Context(), "sh")
	shell.Dir, shell.Stdin = dir, strings.NewReader(shellOf(t, page))
	shell.Env = append([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + bin}, environment...)
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	err = shell.Run()
	return out.String(), err
}

// followed is a folder in which a page has been followed.
func followed(t *testing.T, page, dir string, environment ...string) string {
	t.Helper()
	said, err := follow(t, page, dir, environment...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", page, err, said)
	}
	return said
}

// TestMeshPages follows the pages of Istio and Envoy Gateway from an empty folder:
// out come the manifests of the folder, valid, and with the image in them.
func TestMeshPages(t *testing.T) {
	for _, mesh := range []string{"istio", "gateway"} {
		t.Run(mesh, func(t *testing.T) {
			dir := t.TempDir()
			followed(t, mesh+"/README.md", dir, "IMAGE="+image)
			want, err := filepath.Glob(filepath.Join(folder, mesh, "*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			images := 0
			for _, file := range want {
				if name := filepath.Base(file); name == "kustomization.yaml" || name == "route.yaml" {
					continue // the one is for a reader's own files, the other has no image
				}
				text, err := os.ReadFile(filepath.Join(dir, filepath.Base(file)))
				if err != nil {
					t.Fatal(err)
				}
				images += strings.Count(string(text), strings.TrimPrefix(image, "oci://")+"\n")
				if strings.Contains(string(text), "registry.example.com") {
					t.Errorf("%s: the image is not filled in", file)
				}
				for _, d := range read(t, filepath.Join(dir, filepath.Base(file))) {
					if err := check(d); err != nil {
						t.Errorf("%s: %v", d.name, err)
					}
				}
			}
			if least := map[string]int{"istio": 8, "gateway": 2}[mesh]; images != least {
				t.Errorf("the image is filled in %d times, want %d", images, least)
			}
		})
	}
}

// TestMeshPagesWantAnImage follows them without one: the shell stops there.
func TestMeshPagesWantAnImage(t *testing.T) {
	for _, page := range []string{"istio/README.md", "gateway/README.md"} {
		dir := t.TempDir()
		said, err := follow(t, page, dir)
		left, _ := filepath.Glob(filepath.Join(dir, "*"))
		if err == nil || !strings.Contains(said, "IMAGE") || len(left) > 0 {
			t.Errorf("%s: %v, %q, and %q is there", page, err, said, left)
		}
	}
}

// TestOverlay builds the overlay that Istio's page writes.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	followed(t, "istio/README.md", dir, "IMAGE="+image)
	built, err := kustomizeBuild(filesys.MakeFsOnDisk(), filepath.Join(dir, "overlay"))
	if err != nil || len(built) != 1 {
		t.Fatalf("%d resources, %v", len(built), err)
	}
	if err := check(built[0]); err != nil {
		t.Error(err)
	}
	rules, _ := built[0].at("spec", "pluginConfig", "rules").([]any)
	if got := built[0].at("spec", "url"); got != image || len(rules) != 1 || built[0].at("spec", "phase") != "AUTHZ" {
		t.Errorf("url %v, %d rules in\n%s", got, len(rules), built[0].json())
	}
}

// TestPages follows the other pages, from the root of a checkout.
func TestPages(t *testing.T) {
	said := followed(t, "troubleshooting.md", checkout(t))
	if !strings.Contains(said, "per-api-key") {
		t.Errorf("no rule explained:\n%s", said)
	}
	followed(t, "rollout.md", t.TempDir())

	dir := checkout(t)
	followed(t, "install.md", dir, "IMAGE="+image)
	moved, err := os.ReadFile(filepath.Join(dir, "envoy/dynamic/lds.yaml"))
	if err != nil || !bytes.Contains(moved, []byte(`"requests": 30`)) {
		t.Errorf("the limit was not changed: %v", err)
	}
	next := read(t, filepath.Join(dir, "next.yaml"))[0]
	if err := check(next); err != nil {
		t.Error(err)
	}
	inShadow(t, next.at("spec", "pluginConfig"))
	if got := next.at("spec", "url"); got != image {
		t.Errorf("url %v, want the new image", got)
	}
	if got := next.at("spec", "failStrategy"); got != "FAIL_OPEN" {
		t.Errorf("failStrategy %v", got)
	}
	for _, path := range [][]string{{"metadata", "name"}, {"spec", "pluginName"}} {
		if got := next.at(path...); got != "weir-next" {
			t.Errorf("%v: %v", path, got)
		}
	}
}

// checkout is a folder with the parts of one that pages use.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "envoy"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "build"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(module(t), filepath.Join(dir, "build/weir.wasm")); err != nil {
		t.Fatal(err)
	}
	return dir
}
