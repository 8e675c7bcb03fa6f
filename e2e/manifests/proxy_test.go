package manifests

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// start runs an Envoy with two workers in the folder that the paths in its
// configuration begin at.
func start(t *testing.T, dir string, config []byte) *envoyproc.Process {
	t.Helper()
	p, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Dir: dir, Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// A tally counts answers by status.
type tally map[int]int

// ask sends so many requests to a listener of Envoy, one after the other.
func ask(t *testing.T, p *envoyproc.Process, listener, path string, count int, headers ...string) tally {
	t.Helper()
	addr, err := p.Listener(t.Context(), listener)
	if err != nil {
		t.Fatal(err)
	}
	// A connection each, so that an update is seen at once.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answers := tally{}
	for range count {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		answers[response.StatusCode]++
	}
	return answers
}

// admin is the text of a page of Envoy's admin interface.
func admin(t *testing.T, p *envoyproc.Process, path string) string {
	t.Helper()
	response, err := http.Get("http://" + p.Admin() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replace puts a file in the place of another by a move, which Envoy watches for.
func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file+".next", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".next", file); err != nil {
		t.Fatal(err)
	}
}

// changed is a file of ours with replacements, each of which must be of something.
func changed(t *testing.T, file string, replacements map[string]string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	out, err := envoyproc.Patch(text, replacements)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return string(out)
}

// rewritten is a document with replacements in its JSON.
func rewritten(t *testing.T, d document, replacements ...string) document {
	t.Helper()
	text := string(d.json())
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			t.Fatalf("%s: no %s in it", d.name, replacements[i])
		}
	}
	out, err := parse(d.name, []byte(strings.NewReplacer(replacements...).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func toJSON(t *testing.T, value any) []byte {
	t.Helper()
	var text []byte
	var err error
	if m, ok := value.(proto.Message); ok {
		text, err = protojson.Marshal(m)
	} else {
		text, err = json.Marshal(value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fromProto is a message as JSON to build on.
func fromProto(t *testing.T, m proto.Message) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(toJSON(t, m), &o); err != nil {
		t.Fatal(err)
	}
	return o
}
