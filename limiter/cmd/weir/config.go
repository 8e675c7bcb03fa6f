package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/manifest"
)

// loadConfig returns the one configuration in a file: the filter's JSON, which is
// the file or lies in a manifest. It is valid.
func loadConfig(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f := manifest.Find(file, data, false)
	if !f.Valid(false) {
		var text strings.Builder
		if err := manifest.WriteText(&text, []manifest.File{f}, false, true); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the configuration is refused:\n%s", strings.TrimSuffix(text.String(), "\n"))
	}
	if n := len(f.Configurations); n != 1 {
		lines := make([]string, n)
		for i, c := range f.Configurations {
			lines[i] = strconv.Itoa(c.Line)
		}
		return nil, fmt.Errorf("%s: it has %d configurations, on the lines %s: want one", file, n, strings.Join(lines, ", "))
	}
	return f.Configurations[0].Data, nil
}
