// Package report is what a replay or a simulation found: as JSON for scripts,
// as text for a terminal, and as one HTML page for people who must agree on a
// limit. A Report holds counts and texts; this package computes nothing but
// shares and sums of them, so that the three forms say the same.
//
//	Report ─▶ WriteJSON  every figure; nothing else is kept
//	       ─▶ WriteText  at most 100 columns: one run in full, two side by side, more in a table
//	       ─▶ WriteHTML  one page without scripts that loads nothing; charts are inline SVG
//
// The last two share their sentences (answer.go), tables (compare.go,
// suggest.go, counts.go) and spelling of figures (format.go). In them a figure
// carries the path of its number in the JSON, which the page shows as data-json,
// so that a test can compare the two.
//
// Keys, lines of logs and names of files are what strangers wrote. They are
// printed with escapes for all that does not print, and cut if they are long.
package report

import "time"

// A Report tells of one stream of requests and of what each configuration, or
// each algorithm, would have answered.
type Report struct {
	// Command is what was run: "replay" or "simulate".
	Command string `json:"command"`

	// Input is where the requests came from.
	Input Input `json:"input"`

	// Runs has one for each configuration or algorithm, on the same requests.
	// (In a simulation clients that retry make their own requests in each.)
	Runs []Run `json:"runs"`
}

// An Input is a stream of requests.
type Input struct {
	Files   []string `json:"files,omitempty"`   // of logs; "-" is standard input
	Format  string   `json:"format,omitempty"`  // of the logs
	Traffic []string `json:"traffic,omitempty"` // of a simulation: its specifications

	Lines  int64        `json:"lines"`            // read, or requests made up
	Broken int64        `json:"broken"`           // lines that did not parse, and were left out
	Late   int64        `json:"late"`             // lines further out of order than the disorder allowed, decided late
	Sample []BrokenLine `json:"sample,omitempty"` // a few of the broken lines

	// Faults are of files that could not be read to their ends, or of which no
	// line could be read. What could be read is in the report.
	Faults []Fault `json:"faults,omitempty"`

	// OutOfOrder says why the figures do not hold, if too many lines were late.
	OutOfOrder string `json:"out_of_order,omitempty"`

	// NotLogged are parts of requests that rules asked for and the log does not
	// have. They were taken as absent.
	NotLogged []NotLogged `json:"not_logged,omitempty"`

	From time.Time `json:"from,omitzero"` // of the first request, if there is one
	To   time.Time `json:"to,omitzero"`   // of the last request
}

// A BrokenLine is a line that did not parse.
type BrokenLine struct {
	File  string `json:"file"`
	Line  int64  `json:"line"` // from 1
	Error string `json:"error"`
	Text  string `json:"text"` // its beginning
}

// A NotLogged is a part of requests that the log does not have.
type NotLogged struct {
	Field string `json:"field"` // as in: header x-user-id
	Asked int64  `json:"asked"` // how many times
}

// A Run is what one configuration answered.
type Run struct {
	Name   string `json:"name"`   // the file of the configuration, or the algorithm
	Config string `json:"config"` // the filter's JSON, secrets hashed

	// Replicas is the number of proxies that the configuration divides its limits
	// among, if that is more than one. All requests were decided by one of them.
	Replicas int64 `json:"replicas,omitzero"`

	Requests  int64 `json:"requests"` // all of them: admitted + refused + errors
	Admitted  int64 `json:"admitted"` // also those that no rule matched
	Refused   int64 `json:"refused"`
	Errors    int64 `json:"errors"`    // could not be decided; on_error applied
	Unmatched int64 `json:"unmatched"` // of the admitted: no rule matched, or they were exempt

	Timeline Timeline `json:"timeline"`
	Rules    []Rule   `json:"rules"`
}

// A Timeline counts requests in slots of equal width.
type Timeline struct {
	Start    time.Time `json:"start,omitzero"`
	Width    Duration  `json:"width"`
	Admitted []int64   `json:"admitted"` // of each slot
	Refused  []int64   `json:"refused"`
	Shadow   []int64   `json:"shadow"` // of the admitted: refused by a rule in shadow
}

// A Rule is what became of one rule.
type Rule struct {
	Name           string   `json:"name"`
	Key            []string `json:"key"`             // sources, as in: header x-user-id
	EnforcePercent int      `json:"enforce_percent"` // 0: in shadow
	Limits         []Limit  `json:"limits"`

	// RateLimitService says that the rule asks a rate limit service. Its limits
	// are not known here, and it was taken to admit everything.
	RateLimitService bool `json:"rate_limit_service,omitzero"`

	Admitted   int64 `json:"admitted"` // by this rule; another may have refused
	Refused    int64 `json:"refused"`
	Shadow     int64 `json:"shadow"`      // would have been refused, but the rule is not enforced
	MissingKey int64 `json:"missing_key"` // skipped or rejected for want of a key
	Full       int64 `json:"full"`        // new keys that found no room in the table
	Errors     int64 `json:"errors"`
	Charged    int64 `json:"charged"` // responses
	Evicted    int64 `json:"evicted"` // live keys that made way for new ones

	// Close counts decisions that the resolution of the log's times cannot
	// tell: refusals whose wait is no longer than it.
	Close int64 `json:"close"`

	// Clients is the number of different keys. Above some number only a sample
	// of one in Sampled is followed, and what is said of clients is scaled up.
	Clients int64 `json:"clients"`
	Sampled int64 `json:"sampled"`

	// Used counts the keys by the highest fraction that they ever used of a
	// limit: Used[0] up to a tenth, … Used[9] above nine tenths. Clients who
	// were refused are not in it.
	Used           [10]int64 `json:"used"`
	RefusedClients int64     `json:"refused_clients"` // refused once or more, or in shadow

	TopRefused []Key `json:"top_refused"` // the keys refused most often, most first

	Suggestions     []Suggestion     `json:"suggestions"`
	SuggestionNotes []SuggestionNote `json:"suggestion_notes"` // why there are none, or what they are worth
}

// A Limit is one limit of a rule.
type Limit struct {
	Name      string   `json:"name"`
	Algorithm string   `json:"algorithm"`
	Requests  int64    `json:"requests"` // that one proxy admits, or all if it is global
	Window    Duration `json:"window"`
	Burst     int64    `json:"burst,omitzero"` // of a bucket

	// Configured is what the configuration says for Requests, if that is divided
	// among replicas.
	Configured int64 `json:"configured,omitzero"`

	// Global says that all proxies share the limit.
	Global bool `json:"global,omitzero"`

	// WorstWindow is the most units of one key that a simulation saw admitted
	// within any window of this length, whatever the algorithm counted. Keys
	// with an override, and rules that charge responses, are not in it.
	WorstWindow int64 `json:"worst_window,omitzero"`
}

// A Key is one that was refused.
type Key struct {
	Key     string `json:"key"` // its parts for people, secrets hashed
	Refused int64  `json:"refused"`

	// AtMost is above Refused if there were too many keys to count each: the
	// truth lies between the two.
	AtMost int64 `json:"at_most"`
}

// A Suggestion is the smallest limit of a window that would have refused at most
// a share of all matching requests, or of all clients once or more. Each window
// is judged as if it were the only limit, for keys without an override.
type Suggestion struct {
	Limit    string   `json:"limit"` // the name of the limit with that window
	Window   Duration `json:"window"`
	Of       string   `json:"of"`       // "requests" or "clients"
	Share    float64  `json:"share"`    // as asked: 0.001, 0.01, 0.05
	Requests int64    `json:"requests"` // the limit, as a configuration says it
	Refused  int64    `json:"refused"`  // how many it would have refused
	Total    int64    `json:"total"`    // of how many
	Accuracy Accuracy `json:"accuracy"` // of Refused
}

// An Accuracy says how many a replay with a suggested limit refuses.
type Accuracy string

const (
	Exact    Accuracy = "exact"    // as many as the suggestion says
	AtMost   Accuracy = "at_most"  // as many, or fewer
	Estimate Accuracy = "estimate" // about as many
)

// A SuggestionNote is about the suggestions of a limit.
type SuggestionNote struct {
	Limit string `json:"limit,omitzero"` // its name; empty: those of the rule
	Note  string `json:"note"`           // a sentence
}
