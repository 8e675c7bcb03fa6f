package spelling

import "testing"

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"limits", "limits", 0}, {"limts", "limits", 1}, {"limitss", "limits", 1},
		{"limots", "limits", 1}, {"lmiits", "limits", 2}, {"kitten", "sitting", 3}, {"Rules", "rules", 1}, {"é", "e", 2},
	} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := edits(c.b, c.a); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
