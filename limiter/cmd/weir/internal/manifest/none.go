package manifest

import (
	"fmt"
	"strconv"
	"strings"
)

// NoneIn is the error that files, of which at least one was expected to have a
// configuration of Weir, have none. It says what was looked for and what was
// passed over.
func NoneIn(files ...File) Finding {
	message := "no configuration of Weir: neither the filter's JSON nor, of a name with \"weir\" in it, an Envoy HTTP filter (" +
		wasmType + "), a WasmPlugin, a TrafficExtension, an EnvoyExtensionPolicy, or one of these in a ConfigMap"
	if len(files) != 1 {
		message += fmt.Sprintf(", in %d files", len(files))
	}
	var skipped []Skipped
	for _, f := range files {
		skipped = append(skipped, f.Skipped...)
	}
	if len(skipped) > 0 {
		message += "; skipped " + names(skipped)
	}
	return Finding{Severity: Error, Message: message}
}

// names lists plugins of others.
func names(skipped []Skipped) string {
	const most = 5
	list := make([]string, 0, most+1)
	for i, s := range skipped {
		if i == most {
			list = append(list, "...")
			break
		}
		list = append(list, strconv.Quote(s.Name))
	}
	return count(len(skipped), "other plugin") + ": " + strings.Join(list, ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
