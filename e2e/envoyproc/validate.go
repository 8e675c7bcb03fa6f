package envoyproc

import (
	"context"
	"fmt"

	"github.com/weirproxy/weir/e2e/child"
)

// Validate lets Envoy check the bootstrap without serving it, and returns what
// Envoy printed. The error of a refused bootstrap carries the end of that too.
func Validate(ctx context.Context, o Options) (log string, err error) {
	bin, err := Find()
	if err != nil {
		return "", err
	}
	log, err = child.Run(ctx, o.run(bin, func(string) []string { return []string{"--mode", "validate"} }))
	if err != nil {
		return log, fmt.Errorf("validate the bootstrap: %w", err)
	}
	return log, nil
}
