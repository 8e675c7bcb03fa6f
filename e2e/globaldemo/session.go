package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/load"
)

// limit is what both files let a user do, in both proxies together.
const limit = 100

// showRedis spreads the requests of users over two proxies in several ways, and
// then kills Redis and starts it again.
func showRedis(ctx context.Context, s *stage, addrs []string) error {
	fmt.Printf("\nA user may make %d requests in any 10 seconds, in both proxies together:\n", limit)
	for _, u := range []struct {
		name string
		sent [2]int
	}{{"alice", [2]int{100, 100}}, {"bob", [2]int{180, 20}}, {"carol", [2]int{200, 0}}} {
		if err := show(ctx, addrs, u.name, u.sent, limit); err != nil {
			return err
		}
	}
	wait, err := refused(ctx, addrs[1], "carol")
	if err != nil {
		return err
	}
	fmt.Printf("\nCarol has never been at the second proxy, which refuses her, with Retry-After: %d.\n", wait/time.Second)

	fmt.Printf("\nkill -9 redis: each of two proxies lets half of it pass, %d:\n", limit/2)
	s.server.Kill()
	if err := show(ctx, addrs, "dave", [2]int{100, 0}, limit/2); err != nil {
		return err
	}
	again, err := engine.StartRedis(ctx, engine.RedisOptions{Port: s.server.Port})
	if err != nil {
		return err
	}
	s.server = again
	s.stops = append(s.stops, again.Stop)
	fmt.Println("\nRedis is back, and with it the shared limit:")
	if err := awaitEngine(ctx, addrs); err != nil {
		return err
	}
	return show(ctx, addrs, "erin", [2]int{100, 100}, limit)
}

// showRLS does the same with a rate limit service, within one of its windows.
func showRLS(ctx context.Context, addrs []string) error {
	fmt.Printf("\nThe rate limit service lets a user make %d requests in each minute of the clock:\n", limit)
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 10*time.Second {
		fmt.Printf("(waiting %v for the next one)\n", left.Round(time.Second))
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := show(ctx, addrs, "frank", [2]int{100, 100}, limit); err != nil {
		return err
	}
	return show(ctx, addrs, "grace", [2]int{180, 20}, limit)
}

// show sends the requests of a user, at once to both proxies, and wants so many
// to pass.
func show(ctx context.Context, addrs []string, user string, sent [2]int, want int64) error {
	var tallies [2]load.Tally
	var errs [2]error
	var wg sync.WaitGroup
	for i, addr := range addrs {
		wg.Go(func() { tallies[i], errs[i] = send(ctx, addr, user, sent[i]) })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	passed := int64(0)
	for i, t := range tallies {
		fmt.Printf("  %-5s  %3d requests to proxy %d: %3d admitted, %3d refused\n", user, sent[i], i+1, t[200], t[429])
		if passed += t[200]; t[200]+t[429] != int64(sent[i]) {
			return fmt.Errorf("%s: answers by status %v", user, t)
		}
	}
	if passed != want {
		return fmt.Errorf("%s: %d admitted in all, want %d", user, passed, want)
	}
	return nil
}

// send sends so many requests of a user, one after the other.
func send(ctx context.Context, addr, user string, requests int) (load.Tally, error) {
	return load.Flood(ctx, addr, 1, 1, func(int) (load.Request, bool) {
		requests--
		return load.Request{Path: "/api/hello", Headers: [][2]string{{"x-user-id", user}}}, requests >= 0
	})
}

// refused asks once, and returns the Retry-After of the refusal.
func refused(ctx context.Context, addr, user string) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/hello", nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("x-user-id", user)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusTooManyRequests {
		return 0, fmt.Errorf("%s: %s, want 429", user, answer.Status)
	}
	seconds, err := strconv.Atoi(answer.Header.Get("retry-after"))
	return time.Duration(seconds) * time.Second, err
}

// awaitEngine waits until both proxies ask Redis again: one user
// has more than a proxy's share.
func awaitEngine(ctx context.Context, addrs []string) error {
	for attempt := range 100 {
		back := 0
		for i, addr := range addrs {
			t, err := send(ctx, addr, fmt.Sprint("probe", attempt, i), limit/2+1)
			if err != nil {
				return err
			}
			if t[429] == 0 {
				back++
			}
		}
		if back == len(addrs) {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("redis is back, and is not asked")
}
