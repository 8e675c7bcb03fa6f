package accesslog

import (
	"strings"
	"testing"
)

func TestFormatErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              `log format "": want envoy, istio, nginx, nginx-main, json, a format string of Envoy with %OPERATORS% or one of NGINX with $variables`,
		"apache":                        `log format "apache": want envoy, istio, nginx, nginx-main, json, a format string of Envoy with %OPERATORS% or one of NGINX with $variables`,
		"%REQ(:PATH)%":                  `log format "%REQ(:PATH)%": no time in it: %START_TIME% of Envoy, $msec, $time_iso8601 or $time_local of NGINX`,
		"$host":                         `log format "$host": no time in it: %START_TIME% of Envoy, $msec, $time_iso8601 or $time_local of NGINX`,
		"$msec $":                       `log format "$msec $": a $ is followed by no name`,
		"$msec$host":                    `log format "$msec$host": nothing tells $msec and $host apart`,
		"%START_TIME%%REQ(A)%":          `log format "%START_TIME%%REQ(A)%": nothing tells %START_TIME% and %REQ(A)% apart`,
		"%START_TIME% %START_TIME%":     `log format "%START_TIME% %START_TIME%": %START_TIME% is a second time`,
		"%START_TIME% 100%":             `log format "%START_TIME% 100%": "%" does not end in %`,
		"%START_TIME% %REQ(A":           `log format "%START_TIME% %REQ(A": "%REQ(A" does not end in %`,
		"%START_TIME(%Y-%m-%d %I:%M)%":  `log format "%START_TIME(%Y-%m-%d %I:%M)%": %START_TIME(%Y-%m-%d %I:%M)%: "%I" in a time is not supported: use %s %f %1f to %9f %Y %m %b %d %H %M %S %T %F %z %Z`,
		"%START_TIME(%Y-%m-%d %H:%M)%":  `log format "%START_TIME(%Y-%m-%d %H:%M)%": %START_TIME(%Y-%m-%d %H:%M)%: a time of "%Y-%m-%d %H:%M" has neither %s nor %S`,
		"%START_TIME%\n%REQ(:PATH)%":    `log format "%START_TIME%\n%REQ(:PATH)%": a record of more than one line`,
		"%%":                            `log format "%%": no field in it`,
		"%START_TIME% %UNKNOWN(%a):3%x": "",
	} {
		f, err := ParseFormat(text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("ParseFormat(%q) = %v, %s\nwant %s", text, f, got, want)
		}
	}
}

func TestDetect(t *testing.T) {
	for _, k := range knownFormats {
		f, err := Detect([]string{"", "garbage", k.example + "\r\n", k.example})
		if err != nil || f.String() != k.name {
			t.Errorf("Detect(%s) = %v, %v, want %s", k.example, f, err, k.name)
		}
	}
	_, err := Detect([]string{"", "some other log"})
	if err == nil || !strings.HasPrefix(err.Error(), "no line of the log could be read; expected one of these formats") || !strings.HasSuffix(err.Error(), `but the first line is "some other log"`) {
		t.Errorf("Detect = %v", err)
	}
	for _, k := range knownFormats {
		if err != nil && !strings.Contains(err.Error(), k.example) {
			t.Errorf("the error has no example of %s: %v", k.name, err)
		}
	}
}

// TestNothingReads: an error, not the end, which shows the first broken line.
func TestNothingReads(t *testing.T) {
	l := openText(t, "\n"+strings.Repeat("GET /\n", 10), Options{Format: format(t, "envoy")})
	_, err := paths(t, l)
	if err == nil || !strings.HasSuffix(err.Error(), `but line 2 of - is "GET /": does not begin with "["`) {
		t.Errorf("Next = %v", err)
	}
	if st := l.Stats(); st.Broken != 10 || len(st.Samples) != 5 {
		t.Errorf("%d broken, %d samples, want 10 and 5", st.Broken, len(st.Samples))
	}
}
