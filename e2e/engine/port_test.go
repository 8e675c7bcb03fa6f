package engine

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weirproxy/weir/e2e/child"
)

// TestOnPort: an engine that exits at once may have lost its port to somebody, and
// is tried again, but not for ever. Another failure is final.
func TestOnPort(t *testing.T) {
	exited := fmt.Errorf("start it: %w", child.ErrExited)
	other := errors.New("no such file")
	for name, test := range map[string]struct {
		port  int
		fails []error // of the first starts
		tries int
		want  error
	}{
		"at once":                              {0, nil, 1, nil},
		"a fixed port":                         {1234, nil, 1, nil},
		"two taken":                            {0, []error{exited, exited}, 3, nil},
		"a fixed port, and a second one taken": {1234, []error{exited}, 2, nil},
		"always":                               {0, []error{exited, exited, exited, exited, exited, exited}, portAttempts, child.ErrExited},
		"another":                              {0, []error{exited, other}, 2, other},
	} {
		tries := 0
		got, err := onPort(test.port, func(port int) (int, error) {
			tries++
			if port == 0 || test.port != 0 && port != test.port {
				t.Errorf("%s: started on port %d", name, port)
			}
			if tries <= len(test.fails) {
				return 0, test.fails[tries-1]
			}
			return port, nil
		})
		if tries != test.tries || !errors.Is(err, test.want) || (err == nil) != (got != 0) {
			t.Errorf("%s: port %d, %v after %d tries, want %v after %d", name, got, err, tries, test.want, test.tries)
		}
	}
}
