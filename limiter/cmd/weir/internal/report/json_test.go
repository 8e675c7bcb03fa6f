package report

import (
	"bytes"
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestWriteJSONReadsBack(t *testing.T) {
	for name, r := range fixtures() {
		var first, second bytes.Buffer
		must(t, r.WriteJSON(&first))
		var back, std Report
		must(t, json.Unmarshal(first.Bytes(), &back, json.RejectUnknownMembers(true)))
		must(t, stdjson.Unmarshal(first.Bytes(), &std))
		must(t, back.WriteJSON(&second))
		if first.String() != second.String() {
			t.Errorf("%s: what was read back is written otherwise", name)
		}
		if !reflect.DeepEqual(back, std) {
			t.Errorf("%s: encoding/json reads something else", name)
		}
		if name == "one" && !reflect.DeepEqual(&back, r) {
			t.Errorf("%s: read back %+v", name, back)
		}
	}
}

// TestWriteJSONIsSafeOnTerminals, where people look at reports too.
func TestWriteJSONIsSafeOnTerminals(t *testing.T) {
	var b bytes.Buffer
	must(t, attacked().WriteJSON(&b))
	prints(t, b.String())
	for _, want := range []string{`"lines": 1203450,`, `"window": "1h"`, `\u202e`, `\u009b`, `\u001b`, `\u0000`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the JSON lacks %s", want)
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain \n é 水":       "plain \n é 水",
		"\u202e\u009b\u007f": `\u202e\u009b\u007f`,
		"\U000e0041":         `\udb40\udc41`,
	} {
		if got := string(escape([]byte(in))); got != want {
			t.Errorf("escape(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestWriteJSONGolden(t *testing.T) {
	var b bytes.Buffer
	must(t, empty().WriteJSON(&b))
	golden(t, "empty.json", b.Bytes())
}
