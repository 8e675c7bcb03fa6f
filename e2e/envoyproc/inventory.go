package envoyproc

import "strings"

// isInventory reports whether line belongs to the lists of all extensions and
// headers, 40 kB in total, which Envoy prints before it reads the bootstrap. They
// alone are indented:
//
//	[2026-11-30 09:23:37.017][11478][info][main] [source/server/server.cc:467]   envoy.string_matcher: envoy.string_matcher.lua
func isInventory(line string) bool {
	_, message, _ := strings.Cut(line, "[info][main] ")
	return strings.Contains(message, "]   ")
}
