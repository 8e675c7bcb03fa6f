package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// chart draws what each contender costs above no filter, as SVG: a bar for the
// median, a line from the lower to the upper quartile.
func chart(contenders []contender, all costs) []byte {
	const left, width, step = 190, 420, 26
	most := time.Duration(1)
	for _, c := range contenders {
		most = max(most, quantile(all.above(c.name, noFilter), 0.75))
	}
	x := func(d time.Duration) int { return left + int(int64(max(d, 0))*width/int64(most)) }
	var svg bytes.Buffer
	height := step*len(contenders) + 40
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", left+width+70, height)
	fmt.Fprintf(&svg, `<rect width="100%%" height="100%%" fill="white"/><text x="8" y="18" font-weight="bold">CPU of Envoy per request above no filter, µs</text>`+"\n")
	for i, c := range contenders {
		above := all.above(c.name, noFilter)
		median, y := quantile(above, 0.5), 34+i*step
		fmt.Fprintf(&svg, `<text x="8" y="%d">%s</text><rect x="%d" y="%d" width="%d" height="16" fill="%s"/>`,
			y+13, c.name, left, y, x(median)-left, colour(c.name))
		fmt.Fprintf(&svg, `<path d="M%d %dH%d" stroke="black"/><text x="%d" y="%d">%s</text>`+"\n",
			x(quantile(above, 0.25)), y+8, x(quantile(above, 0.75)), x(quantile(above, 0.75))+6, y+13, micro(median))
	}
	svg.WriteString("</svg>\n")
	return svg.Bytes()
}

func colour(name string) string {
	switch {
	case strings.HasPrefix(name, "Weir"):
		return "#3b7dd8"
	case strings.Contains(name, "floor"):
		return "#b8b8b8"
	default:
		return "#e0a040"
	}
}
