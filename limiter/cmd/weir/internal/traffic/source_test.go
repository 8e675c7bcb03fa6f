package traffic

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	s := mustParse(t, "retry,rate=2.5,clients=10,obey=false,after=1d12h,tries=3,start=1m30s,for=2h,method=PUT,path=/x?y={client},"+
		"host=a.example:8443,header=X-A:1,header=x-a: 2 ,header=x-b:a:b=c,status=401,latency=0s,first=7")[0]
	want := Source{
		kind: "retry", rate: 2.5, clients: 10, after: 36 * time.Hour, tries: 3, start: 90 * time.Second, length: 2 * time.Hour,
		method: "PUT", path: "/x?y={client}", host: "a.example:8443", status: "401", first: 7,
	}
	for name, same := range map[string]bool{
		"kind": s.kind == want.kind, "rate": s.rate == want.rate, "clients": s.clients == want.clients, "obey": s.obey == want.obey,
		"after": s.after == want.after, "tries": s.tries == want.tries, "start": s.start == want.start, "for": s.length == want.length,
		"method": s.method == want.method, "path": s.path == want.path, "host": s.host == want.host, "status": s.status == want.status,
		"latency": s.latency == 0, "first": s.first == want.first,
		"header": len(s.headers) == 2 && s.headers[0] == [2]string{"x-a", "1,2"} && s.headers[1] == [2]string{"x-b", "a:b=c"},
	} {
		if !same {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                  `traffic "": unknown kind: want one of "burst", "flood", "poisson", "retry"`,
		"poison,rate=1":                     `traffic "poison": unknown kind, did you mean "poisson"?`,
		"poisson":                           `traffic poisson: the setting "rate" is missing`,
		"burst,every=1s":                    `traffic burst: the setting "size" is missing`,
		"poisson,rte=50":                    `traffic poisson: unknown setting "rte", did you mean "rate"?`,
		"flood,rate=1,clients=3":            `traffic flood: unknown setting "clients": want one of "for", "header", "host", "latency", "method", "path", "rate", "start", "status"`,
		"poisson,rate=1,":                   `traffic poisson: unknown setting "": want one of "clients", "first", "for", "header", "host", "latency", "method", "path", "rate", "skew", "start", "status", "wave"`,
		"poisson,rate=1,rate=1":             `traffic poisson: rate: the setting is given twice`,
		"poisson,rate":                      `traffic poisson: rate: want a value, as in rate=…`,
		"poisson,rate=":                     `traffic poisson: rate: want a value, as in rate=…`,
		"poisson,rate=x":                    `traffic poisson: rate: "x": want a number from 1e-06 to 1000000`,
		"poisson,rate=0":                    `traffic poisson: rate: "0": want a number from 1e-06 to 1000000`,
		"poisson,rate=NaN":                  `traffic poisson: rate: "NaN": want a number from 1e-06 to 1000000`,
		"poisson,rate=1,skew=-1":            `traffic poisson: skew: "-1": want a number from 0 to 10`,
		"poisson,rate=1,clients=1.5":        `traffic poisson: clients: "1.5": want a whole number from 1 to 10000000`,
		"poisson,rate=1,for=0s":             `traffic poisson: for: "0s": want a time from 1µs to 366d, such as 500ms, 1m30s or 1d`,
		"poisson,rate=1,for=1d-1h":          `traffic poisson: for: "1d-1h": want a time from 1µs to 366d, such as 500ms, 1m30s or 1d`,
		"poisson,rate=1,start=5":            `traffic poisson: start: "5": want a time from 0s to 366d, such as 500ms, 1m30s or 1d`,
		"poisson,rate=1,start=-5s":          `traffic poisson: start: "-5s": want a time from 0s to 366d, such as 500ms, 1m30s or 1d`,
		"poisson,rate=1,start=367d":         `traffic poisson: start: "367d": want a time from 0s to 366d, such as 500ms, 1m30s or 1d`,
		"burst,size=1,every=1s,spread=2s":   `traffic burst: spread: 2s is longer than every, which is 1s`,
		"retry,rate=1,obey=yes":             `traffic retry: obey: "yes": want true or false`,
		"poisson,rate=1,method=G T":         `traffic poisson: method: "G T": want a method, such as GET`,
		"poisson,rate=1,path=x":             `traffic poisson: path: "x": want a path such as /api/orders?page=2, with blanks, quotes and what is no ASCII escaped`,
		"poisson,rate=1,path=/a b?s=secret": `traffic poisson: path: "/a b": want a path such as /api/orders?page=2, with blanks, quotes and what is no ASCII escaped`,
		"poisson,rate=1,host=a/b":           `traffic poisson: host: "a/b": want a host, such as shop.example.com`,
		"poisson,rate=1,header=cookie":      `traffic poisson: header: "cookie": want NAME:VALUE`,
		"poisson,rate=1,header=a b:c":       `traffic poisson: header: "a b": want NAME:VALUE`,
		"poisson,rate=1,header=a:s3cret\n":  `traffic poisson: header: "a": the value has a control character, or is not UTF-8`,
		"poisson,rate=1,status=600":         `traffic poisson: status: "600": want a whole number from 100 to 599`,
	} {
		_, err := Parse(spec)
		if err == nil || err.Error() != want {
			t.Errorf("%q: got %v\nwant %s", spec, err, want)
		}
	}
}

// TestString shows what was specified, without secrets.
func TestString(t *testing.T) {
	for spec, want := range map[string]string{
		"poisson,rate=50,header=x-tier:free":                         "poisson,rate=50,header=x-tier:free",
		"flood,rate=1,path=/x?token=s3cret,header=X-Api-Key:s3cret":  "flood,rate=1,path=/x?…,header=X-Api-Key:…",
		"flood,rate=1,header=Authorization:Bearer s3cret,status=401": "flood,rate=1,header=Authorization:…,status=401",
	} {
		if got := mustParse(t, spec)[0].String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestHelp holds the help to the settings of each kind.
func TestHelp(t *testing.T) {
	_, sections, _ := strings.Cut(Help, "\nSettings of ")
	texts := map[string]string{}
	for _, section := range strings.Split(sections, "\nSettings of ") {
		kind, text, _ := strings.Cut(section, ":\n")
		texts[kind] = text
	}
	if len(texts) != len(kinds)+1 {
		t.Errorf("help has %d sections", len(texts))
	}
	check := func(kind string, settings []string) {
		if n := strings.Count("\n"+texts[kind], "\n  ") - strings.Count(texts[kind], "\n   "); n != len(settings) {
			t.Errorf("%s has %d settings, and the help %d", kind, len(settings), n)
		}
		for _, name := range settings {
			if !strings.Contains("\n"+texts[kind], "\n  "+name+"=") {
				t.Errorf("the help of %s lacks %s", kind, name)
			}
		}
	}
	for kind, settings := range kinds {
		check(kind, settings)
	}
	check("all", common)
	for name := range setters {
		if !strings.Contains(Help, "\n  "+name+"=") {
			t.Errorf("the help lacks %s", name)
		}
	}
}

// FuzzParse makes requests of whatever parses: in order, within their time, and
// with something to say.
func FuzzParse(f *testing.F) {
	for _, spec := range []string{
		"poisson,rate=50,clients=100,skew=1.1,wave=0.5", "burst,size=200,every=30s,clients=5,spread=1s", "flood,rate=10000",
		"retry,rate=20,clients=10,obey=false,after=100ms,tries=3", "poisson,rate=1,start=1m,for=1d,path=/{client},header=a:b,status=200",
	} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := Parse(spec)
		if err != nil {
			if s.spec != "" {
				t.Errorf("%q is refused, and has the specification %q", spec, s.spec)
			}
			return
		}
		if s.clients > 1000 {
			return // which takes its time
		}
		g := New([]Source{s}, Options{Start: start, Seed: 1})
		last := start.UnixMicro()
		for range 50 {
			at, r := g.Next()
			if r == nil {
				break
			}
			path, _ := r.Path()
			if int64(at) < last || s.length > 0 && int64(at) >= start.Add(s.start+s.length).UnixMicro() || path[0] != '/' || r.method == "" {
				t.Fatalf("%q: %s %s at %d, after %d", spec, r.method, path, at, last)
			}
			last = int64(at)
		}
	})
}
