package accesslog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// read reads one line, and returns its record and its values by their meaning;
// false if it is broken.
func (f *Format) read(t *testing.T, line string) (r record, values map[meaning]string, ok bool) {
	t.Helper()
	p := must[*parser](t)(newParser(f, nil))
	b := &block{text: []byte(line)}
	if p.parse(b, 0, len(line)).why != nothing {
		if len(b.records)+len(b.fields) > 0 {
			t.Fatalf("%q leaves something behind, and is broken", line)
		}
		return r, nil, false
	}
	values = map[meaning]string{}
	if code := b.records[0].status; code != noStatus {
		values[meaning{kind: status}] = fmt.Sprintf("%03d", code) // NGINX logs 000 and 009 too
	}
	for _, x := range b.fields {
		if m := p.format.words.meanings[x.what]; values[m] == "" {
			values[m] = string(b.value(&x))
		}
	}
	return b.records[0], values, true
}

// again writes a line of what was read.
func (f *Format) again(r record, values map[meaning]string) string {
	if f.isJSON() {
		names := map[meaning]string{{kind: method}: "method", {kind: path}: "path", {kind: host}: "authority", {kind: client}: "client_ip", {kind: direct}: "downstream_direct_remote_address", {kind: status}: "status"}
		for name, m := range jsonOther {
			names[m] = name
		}
		object := map[string]any{"path": nil, "start_time": time.UnixMicro(r.time).UTC().Format("2006-01-02T15:04:05.000000Z"), "duration": float64(r.end-r.time) / 1000}
		for m, v := range values {
			name, ok := names[m]
			if !ok {
				name = m.name
			}
			if v != "" {
				object[name] = v
			}
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		if err := e.Encode(object); err != nil {
			panic(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return f.write(func(p *piece) string {
		switch p.meaning.kind {
		case startTime:
			return time.UnixMicro(r.time).UTC().Format("2006-01-02T15:04:05.000Z")
		case endTime:
			return p.layout.format(time.UnixMicro(r.end).UTC())
		case duration:
			return strconv.FormatInt((r.end-r.time)/millisecond, 10)
		case requestLine:
			return escape(values[meaning{kind: method}] + " " + values[meaning{kind: path}] + " HTTP/1.1")
		}
		if f.escapes {
			return escape(values[p.meaning])
		}
		return values[p.meaning]
	})
}

// escape escapes as NGINX does.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			b.WriteString(`\x`)
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// FuzzLine: no line makes a parser panic, and what was read and is written
// again reads the same.
func FuzzLine(f *testing.F) {
	var formats []*Format
	for _, k := range knownFormats {
		formats = append(formats, format(f, k.name))
		f.Add(k.example)
	}
	f.Add(`[2026-03-01T12:00:00.123Z] "GET /a" b" HTTP/1.1" 200 - 0 5 12 10 "203.0.113.7" "x" "y" "evil.example" "id-1" "a.example:8443" "10.0.0.5:80"`)
	f.Add(`{"time":1.5,"a":{"b":[1,"}"]},"path":"\u00e4\ud83d\ude00\ud83d","x_y":"\\\"\n","n":-1e5,"status":200}`)
	f.Add(`{"time":"7071-02-02T08:22:11,01Z","":"020","yb&000":0}`) // a name that encoding/json escapes
	f.Add(`{"time":1,"method":null,"user_id":"a"}`)                 // a request that could not be parsed
	f.Add(`{"time":1,"status":"009"}`)
	f.Add(`1.2.3.4 - a b [29/Feb/2024:23:59:60 -0130] "\x16\x03 / x" 400 0 "-" "\x22"`)
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return
		}
		for _, format := range formats {
			r, values, ok := format.read(t, line)
			if !ok {
				continue
			}
			if format.isJSON() && !writable(r, values) {
				continue
			}
			if _, has := values[meaning{kind: path}]; !has && format.escapes {
				continue // a request line of another form
			}
			if r.end-r.time != (r.end-r.time)/1000*1000 || r.end-r.time >= 1e9 {
				continue // a duration that the test cannot write
			}
			written := format.again(r, values)
			r2, values2, ok := format.read(t, written)
			if !ok {
				t.Fatalf("%s: %q\nis written %q, and that is broken", format, line, written)
			}
			if r.time != r2.time || r.end != r2.end || len(values) != len(values2) {
				t.Fatalf("%s: %q\nis read as  %v %q\nis written as %q\nand read as %v %q", format, line, r, values, written, r2, values2)
			}
			for m, v := range values {
				if values2[m] != v {
					t.Fatalf("%s: %q\nsays %q of %s\nis written as %q\nand says %q", format, line, v, m.label(), written, values2[m])
				}
			}
		}
	})
}

// writable says whether encoding/json can write what a JSON line said: it has
// no bytes that are not UTF-8, and the names are of headers.
func writable(r record, values map[meaning]string) bool {
	if r.time >= 253402300800*second { // the year 10000
		return false
	}
	for m, v := range values {
		if !utf8.ValidString(v) || v == "-" || m.kind >= named && (m.name != jsonHeader(m.name).name || !utf8.ValidString(m.name)) {
			return false
		}
		if m.kind >= named && m.kind != header {
			return false
		}
		if m.kind == header {
			for _, a := range jsonAliases {
				if strings.Contains(" "+a.names+" ", " "+m.name+" ") {
					return false
				}
			}
			if _, other := jsonOther[m.name]; other {
				return false
			}
		}
	}
	return true
}
