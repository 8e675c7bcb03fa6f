package envoyproc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Patch returns config with each key of replacements replaced by its value,
// wherever it occurs. It lets a test load the very file that users copy, with
// only ports and paths changed.
//
// A key that does not occur is an error, so that the file and the test cannot
// drift apart. Replaced text is not searched again, and where two keys begin
// at the same place, the longer wins.
func Patch(config []byte, replacements map[string]string) ([]byte, error) {
	keys := slices.SortedFunc(maps.Keys(replacements), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	var pairs []string
	var errs []error
	for _, key := range keys {
		if key == "" || !bytes.Contains(config, []byte(key)) {
			errs = append(errs, fmt.Errorf("patch: the config does not contain %q", key))
		}
		pairs = append(pairs, key, replacements[key])
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(config))), nil
}
