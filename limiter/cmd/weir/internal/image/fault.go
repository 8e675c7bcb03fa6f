package image

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// plain says what kept a push from going on. What a registry writes is left out,
// since it may echo what was sent to it, and so are addresses, since those of
// uploads and tokens have secrets in them.
func plain(err error) error {
	var answer *transport.Error
	if errors.As(err, &answer) {
		return fmt.Errorf("the registry answered %d %s%s", answer.StatusCode, http.StatusText(answer.StatusCode), hint(answer.StatusCode))
	}
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return errors.New("the registry does not answer as registries do")
}

func hint(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return ": log in first, as with docker login"
	case http.StatusForbidden:
		return ": these credentials may not write there"
	case http.StatusNotFound:
		return ": is there such a repository?"
	}
	return ""
}

// plainCredentials leaves out what a helper for credentials has printed.
func plainCredentials(err error) error {
	text, _, _ := strings.Cut(err.Error(), ", out:")
	return errors.New(text)
}
