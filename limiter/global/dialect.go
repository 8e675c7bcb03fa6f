package global

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weirproxy/weir/limiter/policy"
)

// A Message is an HTTP request: its headers, those of HTTP/2 included, and its
// body.
type Message struct {
	Headers [][2]string
	Body    []byte
}

// RedisRequest returns the request that asks what a call asks. Unless the script
// is sent along, Redis must have seen it: ErrNoScript says that it has not.
func RedisRequest(g *policy.Global, asks []policy.Ask, withScript bool) Message {
	c := evalsha(asks)
	if withScript {
		c = evalScript(asks)
	}
	m := Message{Headers: [][2]string{{":method", "POST"}, {":path", "/"}, {":authority", g.Authority}}}
	if g.Dialect == policy.Upstash {
		m.Body = c.json()
		m.Headers = append(m.Headers, [2]string{"content-type", "application/json"})
	} else {
		m.Body = c.webdis()
	}
	if g.Token != "" {
		m.Headers = append(m.Headers, [2]string{"authorization", authorization(g)})
	}
	return m
}

// authorization is what the dialect wants of the token.
func authorization(g *policy.Global) string {
	if g.Dialect == policy.Upstash {
		return "Bearer " + g.Token
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(g.Token))
}

// webdis writes a command as webdis takes it in the body of a POST: arguments
// separated by slashes, and escaped as in a URL.
func (c command) webdis() (b []byte) {
	for i, arg := range c {
		if i > 0 {
			b = append(b, '/')
		}
		for j := range len(arg) {
			if ch := arg[j]; 'a' <= ch && ch <= 'z' || 'A' <= ch && ch <= 'Z' || '0' <= ch && ch <= '9' || ch == '_' || ch == '-' {
				b = append(b, ch)
			} else {
				b = append(b, '%', upperHex[ch>>4], upperHex[ch&15])
			}
		}
	}
	return b
}

const upperHex = "0123456789ABCDEF"

// json writes a command as Upstash takes it: a list of strings.
func (c command) json() []byte {
	b := []byte{'['}
	for i, arg := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, arg) // which is UTF-8
	}
	return append(b, ']')
}

// What a reply of Redis says besides answers.
var (
	// ErrNoScript says that Redis does not know the script: ask again with it.
	ErrNoScript = errors.New("redis does not know the script")

	// ErrRedis says that Redis answered with another error.
	ErrRedis = errors.New("redis answered with an error")
)

// ParseRedisReply reads the answers, one for each Ask, out of the body of a
// response with status 200, or 400, which Upstash gives errors, and how many
// values Redis could not decode, and took as empty. The error is ErrNoScript,
// ErrRedis, or of a body that is no reply.
func ParseRedisReply(g *policy.Global, body []byte, asks []policy.Ask) (list []policy.Answer, corrupt int, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if err := expect(d, '{'); err != nil {
		return nil, 0, err
	}
	name, err := d.ReadToken()
	if err != nil {
		return nil, 0, errReply
	}
	if name.Kind() == '"' && name.String() == "error" {
		message, err := d.ReadToken()
		if err != nil {
			return nil, 0, errReply
		}
		return nil, 0, redisError(message.String())
	}
	reply, err := integers(d)
	if err != nil {
		return nil, 0, err
	}
	return answers(reply, asks)
}

// integers reads a list of them. Where webdis gives an error it is false and a
// message instead.
func integers(d *jsontext.Decoder) (list []int64, err error) {
	if err := expect(d, '['); err != nil {
		return nil, err
	}
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil, errReply
		}
		switch token.Kind() {
		case ']':
			return list, nil
		case 'f':
			message, err := d.ReadToken()
			if err != nil {
				return nil, errReply
			}
			return nil, redisError(message.String())
		case '0':
			n, err := strconv.ParseInt(token.String(), 10, 64)
			if err != nil {
				return nil, errReply
			}
			list = append(list, n)
		default:
			return nil, errReply
		}
	}
}

func expect(d *jsontext.Decoder, kind jsontext.Kind) error {
	if token, err := d.ReadToken(); err != nil || token.Kind() != kind {
		return errReply
	}
	return nil
}

// redisError tells the one error that something can be done about. What others
// say may have the names of keys in it, and is left out.
func redisError(message string) error {
	if strings.HasPrefix(message, "NOSCRIPT") {
		return ErrNoScript
	}
	return ErrRedis
}
