package accesslog

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Format says how the lines of a log are read. It does not change; a log that
// learns from its lines has one of its own.
type Format struct {
	name       string
	resolution int64 // of times, in microseconds

	// Of a text format. One without pieces is JSON.
	before  string
	pieces  []piece
	escapes bool // \xXX

	words *vocabulary
}

// A knownFormat has a name, and an example to show to people.
type knownFormat struct{ name, format, example string }

var knownFormats = []knownFormat{
	{"envoy", envoyFormat, `[2026-03-01T12:00:00.123Z] "GET /api/items?page=2 HTTP/1.1" 200 - 0 512 12 10 "203.0.113.7" "curl/8.5.0" "0b8a3c52-52c5-4b0e-8a37-1f6f1f0f7a11" "api.example.com" "10.0.0.5:8080"`},
	{"istio", istioFormat, `[2026-03-01T12:00:00.123Z] "GET /api/items?page=2 HTTP/1.1" 200 - via_upstream - "-" 0 512 12 10 "203.0.113.7" "curl/8.5.0" "0b8a3c52-52c5-4b0e-8a37-1f6f1f0f7a11" "api.example.com" "10.0.0.5:8080" inbound|8080|| 127.0.0.6:41305 10.0.0.5:8080 203.0.113.7:0 outbound_.80_._.api.default.svc.cluster.local default`},
	{"nginx", nginxFormat, `203.0.113.7 - - [01/Mar/2026:12:00:00 +0000] "GET /api/items?page=2 HTTP/1.1" 200 512 "-" "curl/8.5.0"`},
	{"nginx-main", nginxMain, `203.0.113.7 - - [01/Mar/2026:12:00:00 +0000] "GET /api/items?page=2 HTTP/1.1" 200 512 "-" "curl/8.5.0" "-"`},
	{"json", "", `{"start_time":"2026-03-01T12:00:00.123Z","method":"GET","path":"/api/items?page=2","authority":"api.example.com","response_code":200,"duration":12,"x_forwarded_for":"203.0.113.7"}`},
}

// ParseFormat returns the format of a name: envoy and istio, which are the
// default text formats of the two, nginx, which is NGINX's combined,
// nginx-main, which adds X-Forwarded-For to it, or json, one object a line. Or
// it reads a format string, of Envoy if it has %OPERATORS%, or of NGINX if it
// has $variables. It must have a time.
func ParseFormat(text string) (*Format, error) {
	for _, k := range knownFormats {
		if text == k.name && k.format == "" {
			return &Format{name: k.name, resolution: millisecond, words: newVocabulary()}, nil
		}
		if text == k.name {
			return newFormat(k.name, k.format)
		}
	}
	return newFormat(text, text)
}

func newFormat(name, text string) (*Format, error) {
	split := splitEnvoy
	text = strings.TrimSuffix(strings.TrimRight(text, "\r\n"), `\n`) // as it is written in YAML
	f := &Format{name: name, words: newVocabulary()}
	switch {
	case strings.Contains(text, "%"):
	case strings.Contains(text, "$"):
		split, f.escapes = splitNGINX, true
	default:
		return nil, fmt.Errorf("log format %q: want %s, a format string of Envoy with %%OPERATORS%% or one of NGINX with $variables", name, names())
	}
	items, err := split(text)
	if err == nil && strings.Contains(text, "\n") {
		err = errors.New("a record of more than one line")
	}
	if err == nil {
		f.before, f.pieces, err = newPieces(items)
	}
	if err == nil {
		err = f.learn()
	}
	if err != nil {
		return nil, fmt.Errorf("log format %q: %w", name, err)
	}
	return f, nil
}

// learn learns what the fields are.
func (f *Format) learn() error {
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.what = f.words.learn(p.meaning); p.meaning.kind == requestLine {
			f.words.learn(meaning{kind: method})
			f.words.learn(meaning{kind: path})
		}
		if p.layout == nil {
			continue
		}
		if f.resolution != 0 {
			return fmt.Errorf("%s is a second time", p.name)
		}
		f.resolution = p.layout.resolution
	}
	if f.resolution == 0 {
		return errors.New("no time in it: %START_TIME% of Envoy, $msec, $time_iso8601 or $time_local of NGINX")
	}
	return nil
}

// names lists the names of the known formats.
func names() string {
	var all []string
	for _, k := range knownFormats {
		all = append(all, k.name)
	}
	return strings.Join(all, ", ")
}

// String returns the format's name, or its format string.
func (f *Format) String() string { return f.name }

// Resolution is that of the times in the log, one microsecond to one second: a
// time of one second is known to a millisecond if it says 12:00:00.123. For
// JSON it is the finest that was read so far, and one millisecond before that.
func (f *Format) Resolution() time.Duration { return time.Duration(f.resolution) * time.Microsecond }

func (f *Format) isJSON() bool { return len(f.pieces) == 0 }

// unreadable is the error of a log of which no line parses: where it was looked
// for one, and one that does not parse, with what is wrong with it. The first and
// the last may be empty.
func unreadable(looked, where string, line []byte, wrong string) error {
	if wrong != "" {
		wrong = ": " + wrong
	}
	return fmt.Errorf("no line of the log could be read%s; %s\nbut %s is %q%s", looked, expected(), where, (&Format{}).sample(line), wrong)
}

// expected shows the known formats to people.
func expected() string {
	var b strings.Builder
	b.WriteString("expected one of these formats (--format names one, or takes a format string of Envoy or NGINX):")
	for _, k := range knownFormats {
		fmt.Fprintf(&b, "\n  %-10s %s", k.name, k.example)
	}
	return b.String()
}
