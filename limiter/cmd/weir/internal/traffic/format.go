package traffic

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirproxy/weir/limiter/policy"
)

// Formats are the names of the formats of access logs:
//
//	envoy  the text format that Envoy has if none is configured
//	istio  the text format of Istio
//	json   the JSON format of Istio, and the headers of the source
//	nginx  NGINX's "combined"
var Formats = []string{"envoy", "istio", "json", "nginx"}

// forms append a line in each format.
var forms = map[string]func(b []byte, l *line) []byte{
	"envoy": appendEnvoy, "istio": appendIstio, "json": appendJSON, "nginx": appendNGINX,
}

func appendEnvoy(b []byte, l *line) []byte {
	b = l.appendRequest(b)
	b = append(b, ' ')
	b = l.appendFlags(b)
	return l.appendTransfer(append(b, ' '))
}

func appendIstio(b []byte, l *line) []byte {
	b = l.appendRequest(b)
	b = append(b, ' ')
	b = l.appendFlags(b)
	b = append(b, ` via_upstream - "-" `...)
	b = l.appendTransfer(b)
	b = append(b, ` inbound|8080|| 127.0.0.6:41935 10.244.0.9:8080 `...)
	b = l.appendAddress(b)
	return append(b, `:0 - default`...)
}

// appendRequest appends what both formats begin with.
func (l *line) appendRequest(b []byte) []byte {
	b = append(b, '[')
	b = l.clock.appendISO(b, l.start)
	b = append(b, `] "`...)
	b = append(b, l.method...)
	b = append(b, ' ')
	b = l.appendPath(b)
	b = append(b, ` HTTP/1.1" `...)
	return append(b, l.status...)
}

// appendTransfer appends what both formats have from the bytes received to the
// upstream's host.
func (l *line) appendTransfer(b []byte) []byte {
	for _, n := range [...]int64{int64(l.received), int64(l.sent), l.ms, l.upstream} {
		b = strconv.AppendInt(b, n, 10)
		b = append(b, ' ')
	}
	b = append(b, '"')
	b = l.appendAddress(b)
	b = append(b, `" "`...)
	b = append(b, agent(l.client)...)
	b = append(b, `" "`...)
	b = l.appendID(b)
	b = append(b, `" "`...)
	b = append(b, l.source.host...)
	b = append(b, `" "`...)
	b = l.appendServer(b)
	return append(b, '"')
}

func appendJSON(b []byte, l *line) []byte {
	b = append(b, `{"start_time":"`...)
	b = l.clock.appendISO(b, l.start)
	b = append(b, `","method":"`...)
	b = append(b, l.method...)
	b = append(b, `","path":"`...)
	b = l.appendPath(b)
	b = append(b, `","protocol":"HTTP/1.1","response_code":`...)
	b = append(b, l.status...)
	b = append(b, `,"response_flags":"`...)
	b = l.appendFlags(b)
	b = append(b, `","response_code_details":"via_upstream","bytes_received":`...)
	b = strconv.AppendInt(b, int64(l.received), 10)
	b = append(b, `,"bytes_sent":`...)
	b = strconv.AppendInt(b, int64(l.sent), 10)
	b = append(b, `,"duration":`...)
	b = strconv.AppendInt(b, l.ms, 10)
	b = append(b, `,"upstream_service_time":"`...)
	b = strconv.AppendInt(b, l.upstream, 10)
	b = append(b, `","x_forwarded_for":"`...)
	b = l.appendAddress(b)
	b = append(b, `","user_agent":"`...)
	b = append(b, agent(l.client)...)
	b = append(b, `","request_id":"`...)
	b = l.appendID(b)
	b = append(b, `","authority":"`...)
	b = append(b, l.source.host...)
	b = append(b, `","upstream_host":"`...)
	b = l.appendServer(b)
	b = append(b, `","upstream_cluster":"inbound|8080||","route_name":"default"`...)
	return append(l.appendHeaders(b), '}')
}

// appendHeaders appends the headers of the source as members, under the names
// that logs give them: x-user-id is x_user_id. A name that is taken, and what is
// likely a credential, is left out.
func (l *line) appendHeaders(b []byte) []byte {
	for i, h := range l.source.headers {
		name := snake(h[0])
		isTaken := slices.ContainsFunc(l.source.headers[:i], func(h [2]string) bool { return snake(h[0]) == name })
		if isTaken || policy.IsCredential(h[0]) || slices.Contains(members, name) {
			continue
		}
		b = append(b, ',')
		b, _ = jsontext.AppendQuote(b, name) // a token is valid UTF-8
		b = append(b, ':')
		b, _ = jsontext.AppendQuote(b, l.fill(h[1]))
	}
	return b
}

// members are the names that every line in JSON has.
var members = []string{
	"start_time", "method", "path", "protocol", "response_code", "response_flags", "response_code_details",
	"bytes_received", "bytes_sent", "duration", "upstream_service_time", "x_forwarded_for", "user_agent",
	"request_id", "authority", "upstream_host", "upstream_cluster", "route_name",
}

// snake writes a name as members of a log are written.
func snake(header string) string {
	b := []byte(header)
	for i, c := range b {
		if c == '-' {
			b[i] = '_'
		}
	}
	return string(b)
}

func appendNGINX(b []byte, l *line) []byte {
	b = l.appendAddress(b)
	b = append(b, ` - - [`...)
	b = l.clock.appendCLF(b, l.start+l.duration.Microseconds())
	b = append(b, `] "`...)
	b = append(b, l.method...)
	b = append(b, ' ')
	b = l.appendPath(b)
	b = append(b, ` HTTP/1.1" `...)
	b = append(b, l.status...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(l.sent), 10)
	b = append(b, ` "-" "`...)
	b = append(b, agent(l.client)...)
	return append(b, '"')
}

func (l *line) appendPath(b []byte) []byte { return append(b, l.fill(l.path)...) }

// appendFlags appends Envoy's response flags.
func (l *line) appendFlags(b []byte) []byte {
	if l.status == "503" {
		return append(b, "UF"...)
	}
	return append(b, '-')
}

func (l *line) appendServer(b []byte) []byte {
	b = append(b, "10.244.0.1"...)
	b = strconv.AppendInt(b, l.server, 10)
	return append(b, ":8080"...)
}

// appendID appends a random UUID (version 4).
func (l *line) appendID(b []byte) []byte {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], l.random.Uint64()&^0xf000|0x4000)
	binary.BigEndian.PutUint64(id[8:], l.random.Uint64()&^(3<<62)|1<<63)
	b = append(hex.AppendEncode(b, id[:4]), '-')
	b = append(hex.AppendEncode(b, id[4:6]), '-')
	b = append(hex.AppendEncode(b, id[6:8]), '-')
	b = append(hex.AppendEncode(b, id[8:10]), '-')
	return hex.AppendEncode(b, id[10:])
}
