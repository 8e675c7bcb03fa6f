package manifest

import (
	"sort"
	"strings"
	"unicode/utf8"
)

const bom = "\ufeff"

// A source is a text, and where each byte of it lies in the file.
type source struct {
	text string

	// at has the offset in the file of every byte of text, and of its end. It is
	// nil if the text is the file itself.
	at []int
}

func (s source) offset(i int) int {
	if s.at == nil {
		return i
	}
	return s.at[i]
}

// cut returns the source of a text that was read out of this one: m's offsets
// are into s.
func (s source) cut(m mapped) source {
	at := make([]int, len(m.at))
	for i, j := range m.at {
		at[i] = s.offset(j)
	}
	return source{string(m.text), at}
}

// skipBlanks returns the first byte from i on that is no white space of JSON; at
// the end, the last one of the text that is none.
func (s source) skipBlanks(i int) int {
	const blanks = " \t\r\n"
	rest := strings.TrimLeft(s.text[i:], blanks)
	if rest == "" {
		return max(0, len(strings.TrimRight(s.text, blanks))-1)
	}
	return len(s.text) - len(rest)
}

// A mapped is a text under construction with the offset of each byte, and of
// its end, in the raw text that it is read from.
type mapped struct {
	text []byte
	at   []int
}

func (m *mapped) add(text string, at int) {
	m.text = append(m.text, text...)
	for range len(text) {
		m.at = append(m.at, at)
	}
}

// copy adds what stands for itself in the raw text from offset at on.
func (m *mapped) copy(text string, at int) {
	for i := range len(text) {
		m.text = append(m.text, text[i])
		m.at = append(m.at, at+i)
	}
}

// mappedTo says of a whole text no more than where it begins.
func mappedTo(text string, at int) mapped {
	m := mapped{}
	m.add(text, at)
	m.at = append(m.at, at)
	return m
}

// A chart finds the line and column of an offset.
type chart struct {
	text   string
	starts []int // of each line
	marks  []int // where every so many characters of the text begin
}

// apart is how many characters are between two marks: few enough to be counted
// for every finding, where a file may be one line.
const apart = 1 << 10

// newChart counts lines as grep and editors do: by their line feeds.
func newChart(text string) chart {
	c := chart{text: text, starts: []int{0}}
	characters := 0
	for i := range text {
		if text[i] == '\n' {
			c.starts = append(c.starts, i+1)
		}
		if characters%apart == 0 {
			c.marks = append(c.marks, i)
		}
		characters++
	}
	return c
}

// characters counts those before an offset.
func (c chart) characters(offset int) int {
	mark := sort.SearchInts(c.marks, offset+1) - 1
	if mark < 0 { // there is no text
		return 0
	}
	return mark*apart + utf8.RuneCountInString(c.text[c.marks[mark]:offset])
}

// position of a byte within a character is the character's.
func (c chart) position(offset int) Position {
	for back := 1; back < utf8.UTFMax && back <= offset; back++ {
		if _, size := utf8.DecodeRuneInString(c.text[offset-back:]); size > back {
			offset -= back
		}
	}
	line := sort.SearchInts(c.starts, offset+1)
	start := c.starts[line-1]
	if start == 0 && strings.HasPrefix(c.text, bom) { // which nobody sees
		start = min(len(bom), offset)
	}
	return Position{line, c.characters(offset) - c.characters(start) + 1}
}
