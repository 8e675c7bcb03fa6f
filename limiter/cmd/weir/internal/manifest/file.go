package manifest

import (
	"cmp"
	"slices"
)

// A Result is what was found in all files, as JSON has it.
type Result struct {
	Valid bool   `json:"valid"` // whether the exit status is 0
	Files []File `json:"files"`
}

// A File is what was found in one file.
type File struct {
	Name           string          `json:"file"`           // "-" is standard input
	Configurations []Configuration `json:"configurations"` // of Weir, in the order of the file
	Skipped        []Skipped       `json:"skipped"`        // plugins of others
	Findings       []Finding       `json:"findings"`       // by line and column
}

// A Configuration is one of Weir's.
type Configuration struct {
	Position
	Carrier Carrier `json:"carrier"` // what it was found in
	Name    string  `json:"name"`    // of the plugin or its resource; may be empty
	Rules   int     `json:"rules"`   // how many it has; 0 if it is not valid
	Valid   bool    `json:"valid"`

	// Data is the filter's JSON, as the proxy hands it to the module.
	Data []byte `json:"-"`
}

// A Carrier is what a configuration is found in.
type Carrier string

const (
	JSON         Carrier = "json"          // the file is the filter's JSON
	Envoy        Carrier = "envoy"         // an HTTP filter of Envoy
	Istio        Carrier = "istio"         // a WasmPlugin
	EnvoyGateway Carrier = "envoy-gateway" // an EnvoyExtensionPolicy
)

// A Skipped is a plugin that is not Weir's, and was left alone.
type Skipped struct {
	Position
	Carrier Carrier `json:"carrier"`
	Name    string  `json:"name"` // of the plugin or its resource; may be empty
}

// A Finding is one thing that is wrong.
type Finding struct {
	Severity Severity `json:"severity"`
	Position
	Path    string `json:"path"` // in the configuration, as rules[0].limits[1].window; empty for the whole
	Message string `json:"message"`
}

// A Severity says how wrong a thing is.
type Severity string

const (
	Error   Severity = "error"   // the configuration would be refused, or is not found
	Warning Severity = "warning" // it works until something fails
)

// A Position is a place in a file. Both numbers are 0 where a finding is about
// the file as a whole.
type Position struct {
	Line   int `json:"line"`   // from 1
	Column int `json:"column"` // in characters, from 1
}

// Text returns the path and the message in one line.
func (f Finding) Text() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// Valid reports whether nothing is wrong with the file; a warning is, if strict.
func (f File) Valid(strict bool) bool {
	return !slices.ContainsFunc(f.Findings, func(g Finding) bool { return strict || g.Severity == Error })
}

// Rules returns how many rules the configurations have together.
func (f File) Rules() int {
	rules := 0
	for _, c := range f.Configurations {
		rules += c.Rules
	}
	return rules
}

func (f *File) sort() {
	slices.SortStableFunc(f.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
