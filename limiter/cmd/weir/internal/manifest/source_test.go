package manifest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPosition counts lines and characters of a text one by one, and holds the
// chart to that at every byte, whether it begins a character or not.
func TestPosition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "ä", "☃", "\U0001F600", "\xff", "\t"}
	for _, lines := range []int{1, 50} { // one that is long, or some
		var b strings.Builder
		for range 5 * apart {
			b.WriteString(pieces[random.IntN(len(pieces))])
			if random.IntN(5*apart) < lines-1 {
				b.WriteString("\n")
			}
		}
		text := b.String()
		c, want := newChart(text), Position{1, 1}
		for i, r := range text {
			size := utf8.RuneLen(r)
			if r == utf8.RuneError {
				size = 1
			}
			for at := i; at < i+size; at++ {
				if got := c.position(at); got != want {
					t.Fatalf("position(%d) = %v, want %v", at, got, want)
				}
			}
			want.Column++
			if r == '\n' {
				want = Position{want.Line + 1, 1}
			}
		}
		if got := c.position(len(text)); got != want {
			t.Errorf("position of the end = %v, want %v", got, want)
		}
	}
}
