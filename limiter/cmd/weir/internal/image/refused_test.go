package image

import (
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const (
	user     = "robot"
	password = "hunter2-canary"
)

// impatient tries once.
var impatient = PushOptions{Retry: remote.Backoff{Steps: 1, Duration: time.Millisecond}}

// login writes the configuration that docker login would.
func login(t *testing.T, host string) {
	t.Helper()
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	configure(t, `{"auths": {"`+host+`": {"auth": "`+auth+`"}}}`)
}

func configure(t *testing.T, config string) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.json"), config)
	t.Setenv("DOCKER_CONFIG", dir)
}

// TestCredentials of Docker's configuration are used.
func TestCredentials(t *testing.T) {
	inner := quiet()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	_, b := written(t, full(Compat))

	configure(t, "{}")
	_, err := b.Push(t.Context(), host+"/weir:v1", impatient)
	wantError(t, err, "cannot push to "+host+"/weir: the registry answered 401 Unauthorized: log in first, as with docker login")
	login(t, host)
	if _, err := b.Push(t.Context(), host+"/weir:v1", impatient); err != nil {
		t.Error(err)
	}
}

// TestRefused: a push that is refused says so, and nothing of what was sent, even
// if the registry echoes it in every way that it has.
func TestRefused(t *testing.T) {
	_, b := written(t, full(Compat))
	for status, want := range map[int]string{
		401: "401 Unauthorized: log in first, as with docker login",
		403: "403 Forbidden: these credentials may not write there",
		404: "404 Not Found: is there such a repository?",
		429: "429 Too Many Requests",
		500: "500 Internal Server Error",
		503: "503 Service Unavailable",
	} {
		for what, echo := range echoes {
			var sent atomic.Bool // layers are pushed side by side
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				auth := r.Header.Get("Authorization")
				if auth == "" { // so that the credentials are sent
					w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				sent.Store(true)
				if r.URL.Path == "/v2/" {
					return
				}
				echo(w, auth+" "+user+" "+password, status)
			}))
			host := strings.TrimPrefix(s.URL, "http://")
			login(t, host)
			_, err := b.Push(t.Context(), host+"/weir:v1", impatient)
			wantError(t, err, "cannot push to "+host+"/weir: the registry answered "+want)
			if !sent.Load() {
				t.Errorf("%s: no credentials were sent, so none could be echoed", what)
			}
			s.Close()
		}
	}
}

// TestTokenRefused: the same if the registry has credentials sent elsewhere, for
// a token.
func TestTokenRefused(t *testing.T) {
	_, b := written(t, full(Compat))
	for status, want := range map[int]string{
		200: "the registry does not answer as registries do", // an answer without a token
		401: "the registry answered 401 Unauthorized: log in first, as with docker login",
	} {
		var sent atomic.Bool
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2/" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, p, _ := r.BasicAuth()
			if p == password {
				sent.Store(true)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"secret": "` + p + `"}`))
		}))
		host := strings.TrimPrefix(s.URL, "http://")
		login(t, host)
		_, err := b.Push(t.Context(), host+"/weir:v1", impatient)
		wantError(t, err, "cannot push to "+host+"/weir: "+want)
		if !sent.Load() {
			t.Errorf("%d: no credentials were sent, so none could be echoed", status)
		}
		s.Close()
	}
}

var echoes = map[string]func(w http.ResponseWriter, secret string, status int){
	"error": func(w http.ResponseWriter, secret string, status int) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"errors": [{"code": "` + secret + `", "message": "` + secret + `", "detail": "` + secret + `"}]}`))
	},
	"text": func(w http.ResponseWriter, secret string, status int) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(secret))
	},
	"redirect": func(w http.ResponseWriter, secret string, status int) {
		w.Header().Set("Location", "/"+secret)
		w.WriteHeader(status)
	},
}

// TestUnreachable registries, and credentials that cannot be read.
func TestUnreachable(t *testing.T) {
	_, b := written(t, full(Compat))
	s := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(s.URL, "http://")
	s.Close()
	login(t, host)
	_, err := b.Push(t.Context(), host+"/weir:v1", impatient)
	wantError(t, err, "cannot push to "+host+"/weir: dial tcp "+host+": connect: connection refused")

	configure(t, `{"auths": {"`+host+`": {"auth": "`+password+`"}}}`)
	_, err = b.Push(t.Context(), host+"/weir:v1", impatient)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot read the credentials for "+host+": ") || strings.Contains(err.Error(), password) {
		t.Errorf("credentials that are none: %v", err)
	}

	bin := t.TempDir()
	helper := "#!/bin/sh\necho " + password + "\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "docker-credential-canary"), []byte(helper), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	configure(t, `{"credHelpers": {"`+host+`": "canary"}}`)
	_, err = b.Push(t.Context(), host+"/weir:v1", impatient)
	wantError(t, err, "cannot read the credentials for "+host+": error getting credentials - err: exit status 1")
}

// TestInsecure allows a certificate that nobody vouches for, and only if asked.
func TestInsecure(t *testing.T) {
	s := httptest.NewUnstartedServer(quiet())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // the client hangs up on the certificate
	s.StartTLS()
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "https://")
	_, b := written(t, full(Compat))
	_, err := b.Push(t.Context(), host+"/weir:v1", impatient)
	// On the loopback HTTP is tried next, which a server of HTTPS does not take.
	wantError(t, err, "cannot push to "+host+"/weir: the registry answered 400 Bad Request")
	o := impatient
	o.Insecure = true
	if _, err := b.Push(t.Context(), host+"/weir:v1", o); err != nil {
		t.Error(err)
	}
}
