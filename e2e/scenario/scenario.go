// Package scenario holds the behaviour of Weir as data: a configuration, timed
// requests and what each must get. Every scenario runs on each [Backend]: the
// Go core, the module under wazero, and the module in a real Envoy.
//
//	{
//	  "about": "a limit of two",
//	  "config": {"rules": [ … ]},
//	  "steps": [
//	    {"at": "0s", "times": 2, "request": {"path": "/a"}, "want": {"status": 200}},
//	    {"at": "0s", "request": {"path": "/a"}, "want": {"status": 429, "headers": {"retry-after": "60"}}}
//	  ]
//	}
//
// A real proxy has a real clock. There a step runs at its time or a little
// later, and later steps are later by more, so that a window that is over at
// the time of a step is over when the step runs. A scenario that asks what
// happens at the very instant is marked exact, and stays off that backend.
package scenario

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// A Scenario is one file.
type Scenario struct {
	Name   string          `json:"-"` // of the file
	About  string          `json:"about"`
	Exact  bool            `json:"exact"` // needs a clock that can be set
	Config json.RawMessage `json:"config"`
	File   string          `json:"config_file"` // in place of Config, relative to the scenario
	Steps  []Step          `json:"steps"`
}

// A Step is one request, or several alike, at one time.
type Step struct {
	At       Duration `json:"at"`
	Times    int      `json:"times"` // 0 means 1
	Request  Request  `json:"request"`
	Upstream Upstream `json:"upstream"`
	Want     Want     `json:"want"`
}

// An Upstream is what the service behind the proxy answers, if it is asked.
type Upstream struct {
	Status  int         `json:"status"` // 0 means 200
	Headers [][2]string `json:"headers"`
}

// A Request is what the client sends. Zero values mean GET, /, the host
// weir.test and the client 192.0.2.1.
type Request struct {
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Host    string      `json:"host"`
	Headers [][2]string `json:"headers"`
	Client  string      `json:"client"` // an IP address without a port

	// Properties are what the proxy knows besides, by their paths joined with
	// dots. A scenario with any is exact: a real proxy makes its own.
	Properties map[string]string `json:"properties"`
}

// Want is what the response must be. Absent lists headers that must not be
// there, and a body of null may be anything.
type Want struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Absent  []string          `json:"absent"`
	Body    *string           `json:"body"`
}

// A Response is what a backend answered. Header names are in lower case.
type Response struct {
	Status  int
	Headers map[string][]string
	Body    string
	Late    time.Duration // by how much the request may have missed its time
}

// A Duration is written "1.5s" in JSON.
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Load reads all scenarios in a directory.
func Load(files fs.FS, dir string) ([]Scenario, error) {
	names, err := fs.Glob(files, path.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Scenario
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		s := Scenario{Name: strings.TrimSuffix(path.Base(name), ".json")}
		decoder := json.NewDecoder(strings.NewReader(string(data)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if s.File != "" {
			if s.Config, err = fs.ReadFile(files, path.Join(dir, s.File)); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		for i := range s.Steps {
			s.Steps[i].fill()
		}
		all = append(all, s)
	}
	return all, nil
}

func (s *Step) fill() {
	s.Request.fill()
	if s.Upstream.Status == 0 {
		s.Upstream.Status = 200
	}
}

func (r *Request) fill() {
	if r.Host == "" {
		r.Host = "weir.test"
	}
	if r.Method == "" {
		r.Method = "GET"
	}
	if r.Path == "" {
		r.Path = "/"
	}
	if r.Client == "" {
		r.Client = "192.0.2.1"
	}
}

// check says how a response differs from what was wanted.
func (w Want) check(got Response) error {
	if got.Status != w.Status {
		return fmt.Errorf("status %d, want %d", got.Status, w.Status)
	}
	for name, want := range w.Headers {
		values := got.Headers[name]
		if len(values) != 1 || !NearHeader(name, values[0], want, got.Late) {
			return fmt.Errorf("%s: %q, want %q once", name, values, want)
		}
	}
	for _, name := range w.Absent {
		if values := got.Headers[name]; len(values) > 0 {
			return fmt.Errorf("%s: %q, want none", name, values)
		}
	}
	if w.Body != nil && !Near(got.Body, *w.Body, got.Late) {
		return fmt.Errorf("body %q, want %q", got.Body, *w.Body)
	}
	return nil
}
