package observability

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

const (
	limits = `{"rules": [
		{"name": "per-user", "match": {"path": {"prefix": "/api"}}, "key": [{"header": "x-user-id"}], "limits": [{"requests": 3, "window": "1h"}]},
		{"name": "on-trial", "match": {"path": {"prefix": "/trial"}}, "key": [], "shadow": true, "limits": [{"requests": 2, "window": "1h"}]},
		{"name": "needs-key", "match": {"path": {"prefix": "/key"}}, "key": [{"header": "x-api-key"}], "on_missing_key": "reject", "limits": [{"requests": 9, "window": "1h"}]},
		{"name": "login", "match": {"path": {"prefix": "/login"}}, "key": [], "charge": {"when": "response", "statuses": ["401"]}, "limits": [{"requests": 9, "window": "1h"}]}]}`
	tiny = `{"store": {"max_keys": 1}, "rules": [{"name": "crowd", "key": [{"header": "x-user-id"}], "limits": [{"requests": 2, "window": "1h"}]}]}`

	// admits and refuses are what Weir's script says in Redis, as webdis tells it.
	admits  = `{"EVALSHA":[1700000000000000,1,0,1,2,1,0,3600000000]}`
	refuses = `{"EVALSHA":[1700000000000000,0,0,0,2,0,30000000,1800000000]}`
)

// asking is a configuration with a rule that asks an engine.
func asking(cluster, more string) string {
	return `{"global": {"redis": {"cluster": "` + cluster + `"` + more + `}}, "on_global_error": "allow",
		"rules": [{"name": "shared", "key": [{"header": "x-user-id"}], "global": {"limits": [{"requests": 2, "window": "1h"}]}}]}`
}

// service answers what is admitted.
func service(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/login") {
		w.WriteHeader(http.StatusUnauthorized)
	}
	_, _ = io.WriteString(w, "hello\n")
}

// A step is so many requests of one kind, and the status that they get.
type step struct {
	namespace, path, user string
	count, status         int
}

// steps move each counter that can be moved without breaking the proxy itself.
var steps = []step{
	{"weir", "/api/hello", secret, 3, 200},
	{"weir", "/api/hello", secret, 2, 429},
	{"weir", "/api/hello", "", 1, 200}, // its address stands in, and nothing is missing
	{"weir", "/trial", secret, 5, 200},
	{"weir", "/key", secret, 2, 429},
	{"weir", "/login", secret, 2, 401},
	{"tiny", "/", "1", 1, 200},
	{"tiny", "/", "2", 2, 200}, // forces 1 out
	{"tiny", "/", "3", 2, 200}, // finds no room
	{"answering", "/", secret, 1, 200},
	{"refusing", "/", secret, 3, 429}, // the first makes a call
	{"hanging", "/", secret, 1, 200},
	{"gone", "/", secret, 1, 200},
	{"nocluster", "/", secret, 2, 200}, // makes no call, and neither does
	{"nohosts", "/", secret, 2, 200},
	{"broken", "/", secret, 1, 200},
	{"nonsense", "/", secret, 1, 200},
}

// running is an Envoy for the steps.
func running(t *testing.T) (envoy *envoyproc.Process, crowd func()) {
	t.Helper()
	waiting, release := make(chan bool, 1), make(chan bool)
	engines := map[string]string{
		"service":  serve(t, service),
		"webdis":   says(t, 200, admits),
		"refusing": says(t, 200, refuses),
		"broken":   says(t, 500, "no"),
		"nonsense": says(t, 200, "no"),
		"gone":     nobody(t),
		"nohosts":  "",
		"hanging": serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}),
		"crowded": serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			waiting <- true
			<-release
			_, _ = io.WriteString(w, admits)
		}),
	}
	const patient = `, "timeout": "1m"`
	configurations := map[string]string{
		"weir": limits, "tiny": tiny,
		"answering": asking("webdis", patient),
		"hanging":   asking("hanging", `, "timeout": "50ms"`),
		"crowded":   asking("crowded", patient+`, "max_pending": 1`),
	}
	for _, name := range []string{"refusing", "broken", "nonsense", "gone", "nohosts", "nocluster"} {
		configurations[name] = asking(name, patient)
	}
	envoy = start(t, bootstrap(t, configurations, nil, engines))

	// crowd has one request wait for the engine, while another finds no room to.
	return envoy, func() {
		first := make(chan error, 1)
		go func() {
			_, err := ask(t.Context(), envoy, "crowded", "/", "x-user-id", secret)
			first <- err
		}()
		select {
		case <-waiting:
		case err := <-first:
			t.Fatalf("a request did not wait for the engine: %v", err)
		}
		_, err := ask(t.Context(), envoy, "crowded", "/", "x-user-id", secret)
		close(release)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// drive plays the steps.
func drive(t *testing.T, envoy *envoyproc.Process) {
	t.Helper()
	for _, s := range steps {
		for range s.count {
			status, err := ask(t.Context(), envoy, s.namespace, s.path, "x-user-id", s.user)
			if err != nil || status != s.status {
				t.Fatalf("%s%s of %s: %d, %v, want %d", s.namespace, s.path, s.user, status, err, s.status)
			}
		}
	}
}
