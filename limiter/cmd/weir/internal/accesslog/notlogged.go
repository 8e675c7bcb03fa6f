package accesslog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// A notLogged counts how many times parts of requests were asked for that no
// line had by then.
type notLogged map[meaning]*int64

func (n notLogged) count(m meaning) {
	asked := n[m]
	if asked == nil {
		m.name = strings.Clone(m.name)
		asked = new(int64)
		n[m] = asked
	}
	*asked++
}

// report lists what no line has had, the most asked for first.
func (n notLogged) report(words *vocabulary) (all []report.NotLogged) {
	for m, asked := range n {
		if _, ok := words.find(m); !ok {
			all = append(all, report.NotLogged{Field: m.label(), Asked: *asked})
		}
	}
	slices.SortFunc(all, func(a, b report.NotLogged) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), strings.Compare(a.Field, b.Field))
	})
	return all
}

// label is what people call it.
func (m meaning) label() string {
	switch m.kind {
	case method:
		return "method"
	case path:
		return "path"
	case host:
		return "host"
	case header:
		return "header " + m.name
	case property:
		return "property " + m.name
	default:
		return "client_ip"
	}
}
