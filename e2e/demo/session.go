package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A line of the session is a request and the status that it must get.
type line struct {
	say    string
	user   string
	path   string
	status int
}

var session = []line{
	{"Alice may make 3 requests in any 10 seconds:", "alice", "/api/hello", 200},
	{"", "alice", "/api/hello", 200},
	{"", "alice", "/api/hello", 200},
	{"The fourth is refused, and told when to come back:", "alice", "/api/hello", 429},
	{"Bob has a window of his own:", "bob", "/api/hello", 200},
	{"The rule is about /api, and leaves other paths alone:", "alice", "/", 200},
}

// play runs the session, then obeys the Retry-After that Alice was given.
func play(ctx context.Context, addr string) error {
	var wait time.Duration
	for _, l := range session {
		after, err := l.play(ctx, addr)
		if err != nil {
			return err
		}
		wait = max(wait, after)
	}
	if wait == 0 {
		return fmt.Errorf("nobody was told when to come back")
	}
	fmt.Printf("\n(waiting the %v that Alice was told to)\n", wait)
	if err := pause(ctx, wait); err != nil {
		return err
	}
	_, err := line{"She is let in again:", "alice", "/api/hello", 200}.play(ctx, addr)
	return err
}

func (l line) play(ctx context.Context, addr string) (retryAfter time.Duration, err error) {
	if l.say != "" {
		fmt.Printf("\n%s\n", l.say)
	}
	url := "http://" + addr + l.path
	fmt.Printf("$ curl -i -H 'x-user-id: %s' %s\n", l.user, url)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("x-user-id", l.user)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	fmt.Printf("%s %s\n", response.Proto, response.Status)
	seconds := response.Header.Get("retry-after")
	if seconds != "" {
		fmt.Printf("retry-after: %s\n", seconds)
	}
	fmt.Println(strings.TrimSpace(string(body)))
	if response.StatusCode != l.status {
		return 0, fmt.Errorf("%s as %s: status %d, want %d", l.path, l.user, response.StatusCode, l.status)
	}
	if seconds == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(seconds)
	return time.Duration(n) * time.Second, err
}
