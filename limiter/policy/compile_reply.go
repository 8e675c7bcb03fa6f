package policy

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

func (d *decoder) reply(n node, r *reply) {
	d.object(n, fields{
		"status":      func(n node) { r.status = int(d.integer(n, 400, 599)) },
		"grpc_status": func(n node) { r.grpcStatus = int(d.integer(n, 1, 16)) },
		"body":        func(n node) { d.body(n, r) },
		"headers": func(n node) {
			if n.kind != '{' {
				d.errorf(n, "want an object")
			}
			for _, m := range n.members {
				r.headers = append(r.headers, d.replyHeader(m))
			}
			d.distinct(n)
		},
	})
}

// body is a format, with a text of its own or not.
func (d *decoder) body(n node, r *reply) {
	format, text, given := "text", "", false
	d.object(n, fields{
		"format": func(n node) { format = d.choice(n, "text", "json", "problem") },
		"text":   func(n node) { text, given = d.text(n), true },
	})
	switch format {
	case "json":
		r.contentType, r.body = "application/json", jsonBody
	case "problem":
		r.contentType, r.body = "application/problem+json", problemBody
		if given {
			d.problem(join(n.path, "text"), "the problem format has a body of its own")
		}
	}
	if given {
		r.body = text
	}
	if format == "json" && given && !(fillsToJSON(text, "1", "rule") && fillsToJSON(text, "")) {
		d.problem(join(n.path, "text"), "not JSON: want JSON in which %RULE% stands in a string, and %RETRY_AFTER% for a number or null")
	}
}

func fillsToJSON(text, seconds string, policies ...string) bool {
	return jsontext.Value(reply{body: text}.fill("rule", policies, seconds)).IsValid(jsontext.AllowDuplicateNames(true))
}

// reserved are the headers of a reply that Weir or the proxy sets.
var reserved = []string{"retry-after", "content-type", "content-length", "transfer-encoding", "connection",
	"ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"}

func (d *decoder) replyHeader(m member) [2]string {
	name := strings.ToLower(m.name)
	d.token(node{path: m.value.path, kind: '"', text: m.name}, "header name")
	if slices.Contains(reserved, name) {
		d.problem(m.value.path, "this header is set by other means")
	}
	value := d.text(m.value)
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		d.errorf(m.value, "want a value without control characters")
	}
	return [2]string{name, value}
}

// distinct checks that no two members of an object have one name, in any case.
func (d *decoder) distinct(n node) {
	seen := map[string]bool{}
	for _, m := range n.members {
		if name := strings.ToLower(m.name); seen[name] {
			d.problem(m.value.path, "the header is given twice")
		} else {
			seen[name] = true
		}
	}
}

func (d *decoder) headers(n node) (h headers) {
	d.items(n, func(n node) {
		switch d.choice(n, "retry-after", "ratelimit", "x-ratelimit") {
		case "retry-after":
			h.retryAfter = true
		case "ratelimit":
			h.rateLimit = true
		case "x-ratelimit":
			h.xRateLimit = true
		}
	})
	return h
}
