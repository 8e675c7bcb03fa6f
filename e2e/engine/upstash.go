package engine

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// Upstash is a server, in this process, that speaks the REST dialect of Upstash
// in front of a Redis server: a POST of a command as a JSON array, with a token.
// The answer is {"result": …}, or {"error": …} with status 400.
type Upstash struct {
	// Addr is where it serves, as host and port.
	Addr string

	token  string
	redis  *redis.Client
	server *http.Server
	calls  atomic.Int64
}

// StartUpstash starts it, for those who have the token.
func StartUpstash(r *Redis, token string) (*Upstash, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start upstash: %w", err)
	}
	u := &Upstash{
		Addr: l.Addr().String(), token: token,
		redis: redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1, DialerRetries: 1, Protocol: 2, DisableIdentity: true}),
	}
	u.server = &http.Server{Handler: u}
	go func() { _ = u.server.Serve(l) }() // until Stop
	return u, nil
}

// Calls is how many requests there have been.
func (u *Upstash) Calls() int64 { return u.calls.Load() }

// Stop ends the server.
func (u *Upstash) Stop() error { return errors.Join(u.server.Close(), u.redis.Close()) }

// ServeHTTP implements http.Handler.
func (u *Upstash) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.calls.Add(1)
	status, answer := u.answer(r)
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // which fails only if the client has left
}

func (u *Upstash) answer(r *http.Request) (status int, answer map[string]any) {
	problem := func(status int, message string) (int, map[string]any) {
		return status, map[string]any{"error": message}
	}
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("authorization")), []byte("Bearer "+u.token)) == 0 {
		return problem(http.StatusUnauthorized, "Unauthorized")
	}
	var command []any
	if r.Method != http.MethodPost || r.URL.Path != "/" || json.NewDecoder(r.Body).Decode(&command) != nil || len(command) == 0 {
		return problem(http.StatusBadRequest, "ERR failed to parse command")
	}
	result, err := u.redis.Do(r.Context(), command...).Result()
	var refused redis.Error
	switch {
	case err == nil:
		return http.StatusOK, map[string]any{"result": result}
	case errors.Is(err, redis.Nil):
		return http.StatusOK, map[string]any{"result": nil}
	case errors.As(err, &refused):
		return problem(http.StatusBadRequest, refused.Error())
	default:
		return problem(http.StatusServiceUnavailable, "ERR redis is not reachable")
	}
}
