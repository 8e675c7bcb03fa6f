package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// doubted is a report of a log that was neither read as a whole nor in order.
func doubted(file, why, disorder string) *Report {
	r := one()
	r.Input.Faults = []Fault{{"access.log.2.gz", "cut off"}, {file, why}}
	r.Input.OutOfOrder = disorder
	return r
}

// TestFaultsAreSaid in all forms, each before the figures that they spoil.
func TestFaultsAreSaid(t *testing.T) {
	r := doubted("other.log", "no line of it could be read", "3 of 9 lines were out of order")
	var text, page, raw bytes.Buffer
	must(t, r.WriteText(&text))
	must(t, r.WriteHTML(&page))
	must(t, r.WriteJSON(&raw))
	for _, want := range []string{
		"\n  Out of order: 3 of 9 lines were out of order.\n",
		"\n  Not read to the end, or not at all; the figures are of the rest:\n    access.log.2.gz: cut off\n    other.log: no line of it could be read\n",
	} {
		if i, figures := strings.Index(text.String(), want), strings.Index(text.String(), "\nlimits.json\n"); i < 0 || i > figures {
			t.Errorf("the text lacks %q before the figures:\n%s", want, &text)
		}
	}
	for _, want := range []string{
		"<strong class=\"mark\">The figures do not hold.</strong> <bdi>3 of 9 lines were out of order</bdi>.",
		"<strong class=\"mark\">Not read to the end, or not at all; the figures are of the rest:</strong>",
		"<li><bdi>access.log.2.gz</bdi>: <bdi>cut off</bdi></li><li><bdi>other.log</bdi>: <bdi>no line of it could be read</bdi></li>",
	} {
		if i, figures := strings.Index(page.String(), want), strings.Index(page.String(), "<main>"); i < 0 || i > figures {
			t.Errorf("the page lacks %q before its figures", want)
		}
	}
	var back struct {
		Input struct {
			Faults     []map[string]string
			OutOfOrder string `json:"out_of_order"`
		}
	}
	must(t, json.Unmarshal(raw.Bytes(), &back))
	if f := back.Input.Faults; len(f) != 2 || f[1]["file"] != "other.log" || f[1]["error"] != "no line of it could be read" || back.Input.OutOfOrder != r.Input.OutOfOrder {
		t.Errorf("the JSON says %+v", back)
	}
}

// TestNoFaultsAreNotSaid: no form speaks of what is not wrong.
func TestNoFaultsAreNotSaid(t *testing.T) {
	var all bytes.Buffer
	r := one()
	must(t, r.WriteText(&all))
	must(t, r.WriteHTML(&all))
	for _, bad := range []string{"Out of order", "do not hold", "Not read", "faults", "out_of_order"} {
		if strings.Contains(all.String(), bad) {
			t.Errorf("a report without faults has %q", bad)
		}
	}
}

// TestFaultsOfStrangers: names and lines that strangers wrote make no elements,
// and nothing that a terminal obeys.
func TestFaultsOfStrangers(t *testing.T) {
	elementsOf := func(r *Report) int {
		var page bytes.Buffer
		must(t, r.WriteHTML(&page))
		return len(elements.FindAllString(page.String(), -1))
	}
	r := doubted(hostile, hostile+strings.Repeat("<", 3000), hostile+strings.Repeat("x", 3000))
	if got, want := elementsOf(r), elementsOf(doubted("a", "b", "c")); got != want {
		t.Errorf("%d tags, but %d without what strangers wrote", got, want)
	}
	var text bytes.Buffer
	must(t, r.WriteText(&text))
	prints(t, text.String())
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > textWidth {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}
