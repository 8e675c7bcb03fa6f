package manifest

import (
	"strings"
	"unicode/utf8"
)

// A place follows the lines and columns that yaml/v3 tells, which mostly grow,
// to offsets: it goes on from the last one instead of counting anew, so that a
// file of one long line takes no longer than others.
type place struct {
	text   string
	starts []int // of each line, found when first asked

	line, column, at int // of the last one asked for
}

// offset returns where a character is. Lines and columns are from 1. What lies
// beyond the line or the text is its end.
func (p *place) offset(line, column int) int {
	if p.starts == nil {
		p.starts = yamlLines(p.text)
	}
	line = min(max(line, 1), len(p.starts))
	if line != p.line || column < p.column {
		p.line, p.column, p.at = line, 1, p.starts[line-1]
	}
	end := len(p.text)
	if line < len(p.starts) {
		end = p.starts[line]
	}
	for ; p.column < column && p.at < end; p.column++ {
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
	}
	return p.at
}

// yamlLines returns where each line begins, as YAML 1.1 counts them: by CR, LF,
// NEL, LS and PS.
func yamlLines(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == '\r' && strings.HasPrefix(text[i:], "\r\n"):
			size = 2
			fallthrough
		case c == '\r', c == '\n', c == '\u0085', c == '\u2028', c == '\u2029':
			starts = append(starts, i+size)
		}
		i += size
	}
	return starts
}

// firstOf returns where the content of a line begins.
func (p *place) firstOf(line int) int {
	at := p.offset(line, 1)
	content := strings.TrimLeft(p.text[at:], " \t")
	if content == "" {
		return at
	}
	return len(p.text) - len(content)
}
