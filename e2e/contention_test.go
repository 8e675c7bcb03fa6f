package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// TestFourWorkersAdmitExactly is B01 and B76 in a real Envoy: four workers, 32
// connections, keys in random order. Every key gets its limit and not one more,
// and no request fails.
func TestFourWorkersAdmitExactly(t *testing.T) {
	hundred := filter{"hundred", `{"rules": [{"name": "hundred", "key": [{"header": "x-key"}], "limits": [{"requests": 100, "window": "1h"}]}], "on_error": "deny"}`}
	one := filter{"one", `{"rules": [{"name": "one", "key": [{"header": "x-key"}], "limits": [{"requests": 1, "window": "1h"}]}], "on_error": "deny"}`}
	envoy := startEnvoy(t, bootstrap(t, startUpstream(t), hundred, one), 4)
	for _, test := range []struct {
		listener              string
		keys, requests, limit int
	}{{"hundred", 50, 200, 100}, {"one", 500, 8, 1}} {
		t.Run(test.listener, func(t *testing.T) {
			addr, err := envoy.Listener(t.Context(), test.listener)
			if err != nil {
				t.Fatal(err)
			}
			for key, n := range flood(t, addr, test.keys, test.requests) {
				if n != int64(test.limit) {
					t.Errorf("key %d: %d of %d admitted, want %d", key, n, test.requests, test.limit)
				}
			}
			sent, admitted := int64(test.keys*test.requests), int64(test.keys*test.limit)
			prefix := fmt.Sprintf("wasmcustom.weir.rule.%s.%s.", test.listener, test.listener)
			checkStats(t, envoy, map[string]int64{
				prefix + "allowed": admitted,
				prefix + "limited": sent - admitted, // B70: what is refused is counted
				prefix + "errors":  0,
			})
		})
	}
}

// flood sends so many requests for each of so many keys, in random order over
// 32 connections, and returns how many of each key were admitted.
func flood(t *testing.T, addr string, keys, requests int) []int64 {
	t.Helper()
	const connections = 32
	order := make(chan int, keys*requests)
	for _, i := range rand.Perm(keys * requests) {
		order <- i % keys
	}
	close(order)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	admitted := make([]int64, keys)
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for key := range order {
				switch status, err := get(client, "http://"+addr+"/", fmt.Sprint("key-", key)); {
				case err != nil || status != 200 && status != 429:
					t.Errorf("key %d: status %d, %v", key, status, err)
					return
				case status == 200:
					atomic.AddInt64(&admitted[key], 1)
				}
			}
		})
	}
	wg.Wait()
	return admitted
}

func get(client *http.Client, url, key string) (status int, err error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("x-key", key)
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
