package engine_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/engine"
)

// TestUpstash holds the server to what Upstash documents of its REST API.
func TestUpstash(t *testing.T) {
	u, err := engine.StartUpstash(server, "token")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := u.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, test := range []struct {
		method, path, authorization, body string
		status                            int
		answer                            string
	}{
		{"POST", "/", "Bearer token", `["SET", "upstash", "1"]`, 200, `{"result":"OK"}`},
		{"POST", "/", "Bearer token", `["GET", "upstash"]`, 200, `{"result":"1"}`},
		{"POST", "/", "Bearer token", `["GET", "nothing"]`, 200, `{"result":null}`},
		{"POST", "/", "Bearer token", `["EVAL", "return {1, -2}", "0"]`, 200, `{"result":[1,-2]}`},
		{"POST", "/", "Bearer token", `["EVALSHA", "0000000000000000000000000000000000000000", 0]`, 400, `{"error":"NOSCRIPT No matching script. Please use EVAL."}`},
		{"POST", "/", "Bearer token", `["NOSUCH"]`, 400, `{"error":"ERR unknown command 'NOSUCH', with args beginning with: "}`},
		{"POST", "/", "Bearer token", `{"GET": 1}`, 400, `{"error":"ERR failed to parse command"}`},
		{"POST", "/", "Bearer token", `[]`, 400, `{"error":"ERR failed to parse command"}`},
		{"GET", "/", "Bearer token", ``, 400, `{"error":"ERR failed to parse command"}`},
		{"POST", "/", "Bearer tokem", `["GET", "upstash"]`, 401, `{"error":"Unauthorized"}`},
		{"POST", "/", "Basic token", `["GET", "upstash"]`, 401, `{"error":"Unauthorized"}`},
		{"POST", "/", "", `["GET", "upstash"]`, 401, `{"error":"Unauthorized"}`},
	} {
		request, err := http.NewRequestWithContext(t.Context(), test.method, "http://"+u.Addr+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("authorization", test.authorization)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		answer := strings.TrimSpace(string(body))
		if err != nil || response.StatusCode != test.status || answer != test.answer {
			t.Errorf("%s %s as %q: %d %s, %v, want %d %s", test.method, test.body, test.authorization, response.StatusCode, answer, err, test.status, test.answer)
		}
	}
	if n := u.Calls(); n != 12 {
		t.Errorf("%d calls, want 12", n)
	}
}
