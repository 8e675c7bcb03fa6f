package manifest

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WriteText writes a line for each finding, as compilers do, and unless quiet one
// for each file that has configurations and is valid.
func WriteText(w io.Writer, files []File, strict, quiet bool) error {
	var b strings.Builder
	for _, f := range files {
		for _, g := range f.Findings {
			b.WriteString(f.Name)
			if g.Line > 0 {
				fmt.Fprintf(&b, ":%d:%d", g.Line, g.Column)
			}
			b.WriteString(": ")
			if g.Severity == Warning {
				b.WriteString("warning: ")
			}
			fmt.Fprintln(&b, g.Text())
		}
	}
	for _, f := range files {
		if quiet || len(f.Configurations) == 0 || !f.Valid(strict) {
			continue
		}
		fmt.Fprintf(&b, "%s: %s, %s: valid", f.Name, count(len(f.Configurations), "configuration"), count(f.Rules(), "rule"))
		if len(f.Skipped) > 0 {
			b.WriteString("; skipped " + names(f.Skipped))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteGitHub writes a workflow command of GitHub Actions for each finding, which
// shows it beside its line.
func WriteGitHub(w io.Writer, files []File) error {
	var b strings.Builder
	for _, f := range files {
		for _, g := range f.Findings {
			fmt.Fprintf(&b, "::%s file=%s", g.Severity, property.Replace(f.Name))
			if g.Line > 0 {
				fmt.Fprintf(&b, ",line=%d,col=%d", g.Line, g.Column)
			}
			title := g.Path
			if title == "" {
				title = "weir"
			}
			fmt.Fprintf(&b, ",title=%s::%s\n", property.Replace(title), data.Replace(g.Message))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// What a workflow command must not have in its message, and in a property.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// WriteJSON writes a Result as one JSON object.
func WriteJSON(w io.Writer, files []File, strict bool) error {
	valid := true
	for _, f := range files {
		valid = valid && f.Valid(strict)
	}
	if err := json.MarshalWrite(w, Result{valid, files}, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
