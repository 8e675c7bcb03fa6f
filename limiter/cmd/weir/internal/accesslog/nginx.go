package accesslog

import (
	"bytes"
	"errors"
	"strings"
)

const (
	nginxFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

	// nginxMain is in the configuration that NGINX is packaged with.
	nginxMain = nginxFormat + ` "$http_x_forwarded_for"`
)

// variables are those of NGINX that have a fixed name. All others are read
// over, but for $http_x and $sent_http_x.
var variables = map[string]meaning{
	"remote_addr":     {kind: client},
	"time_local":      {kind: endTime},
	"time_iso8601":    {kind: endTime},
	"msec":            {kind: endTime},
	"request_time":    {kind: seconds},
	"request":         {kind: requestLine},
	"request_method":  {kind: method},
	"request_uri":     {kind: path},
	"host":            {kind: host},
	"http_host":       {kind: host},
	"status":          {kind: status},
	"server_protocol": {property, "request.protocol"},
	"ssl_server_name": {property, "connection.requested_server_name"},
	"ssl_protocol":    {property, "connection.tls_version"},
}

// nginxLayouts are how NGINX writes times.
var nginxLayouts = map[string]string{
	"time_local":   "%d/%b/%Y:%H:%M:%S %z",
	"time_iso8601": "%Y-%m-%dT%H:%M:%S%z",
	"msec":         "%s.%3f",
}

// splitNGINX reads what a log_format of NGINX says.
func splitNGINX(text string) (items []item, err error) {
	for text != "" {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			i = len(text)
		}
		if i > 0 {
			items, text = append(items, item{literal: text[:i]}), text[i:]
			continue
		}
		var name string
		name, text = cutVariable(text)
		if name == "" {
			return nil, errors.New("a $ is followed by no name")
		}
		it := item{name: "$" + name, meaning: variable(name)}
		if times, ok := nginxLayouts[name]; ok {
			if it.layout, err = newLayout(times); err != nil {
				return nil, err
			}
		}
		items = append(items, it)
	}
	return items, nil
}

// cutVariable cuts off $name or ${name}.
func cutVariable(text string) (name, rest string) {
	text = text[1:]
	if strings.HasPrefix(text, "{") {
		name, rest, _ = strings.Cut(text[1:], "}")
		return name, rest
	}
	n := 0
	for n < len(text) && (text[n] == '_' || '0' <= text[n] && text[n] <= '9' || 'a' <= text[n] && text[n] <= 'z') {
		n++
	}
	return text[:n], text[n:]
}

// variable says what a variable of NGINX is.
func variable(name string) meaning {
	if m, ok := variables[name]; ok {
		return m
	}
	if of, ok := strings.CutPrefix(name, "http_"); ok {
		return meaning{header, strings.ReplaceAll(of, "_", "-")}
	}
	if of, ok := strings.CutPrefix(name, "sent_http_"); ok {
		return meaning{responseHeader, strings.ReplaceAll(of, "_", "-")}
	}
	return meaning{}
}

// cutRequestLine cuts the line that a client sent. What does not look like one
// has neither method nor path. A path may have blanks; NGINX once let them be.
func cutRequestLine(line []byte) (methodEnd, pathBegin, pathEnd int) {
	methodEnd = bytes.IndexByte(line, ' ')
	if methodEnd <= 0 {
		return 0, 0, 0
	}
	pathBegin, pathEnd = methodEnd+1, len(line)
	if i := bytes.LastIndexByte(line, ' '); i > methodEnd && strings.HasPrefix(text(line[i+1:]), "HTTP/") {
		pathEnd = i
	}
	// A client of a proxy sends the whole URL; its path begins after the host.
	if target := text(line[pathBegin:pathEnd]); !strings.HasPrefix(target, "/") {
		if i := strings.Index(target, "://"); i > 0 {
			if slash := strings.IndexByte(target[i+3:], '/'); slash >= 0 {
				pathBegin += i + 3 + slash
			}
		}
	}
	return methodEnd, pathBegin, pathEnd
}

// unescape decodes \xXX in place, and returns how long the result is.
func unescape(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+3 < len(b) && b[i+1] == 'x' && isHex(b[i+2]) && isHex(b[i+3]) {
			b[n] = unhex(b[i+2])<<4 | unhex(b[i+3])
			i += 3
		} else {
			b[n] = b[i]
		}
		n++
	}
	return n
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func unhex(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b&^0x20 - 'A' + 10
}
