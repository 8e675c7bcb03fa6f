package limiter

import (
	"encoding/hex"
	"testing"
)

// TestHashIsSipHash compares with the vectors of the reference implementation,
// of SipHash-2-4 with 128 bits: whoever names keys to others must name them
// alike for ever.
func TestHashIsSipHash(t *testing.T) {
	var bytes [16]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	seed, err := ParseSeed(bytes[:])
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		0: "a3817f04ba25a8e66df67214c7550293", 1: "da87c1d86b99af44347659119b22fc45", 2: "8177228da4a45dc7fca38bdef60affe4",
	} {
		if h := seed.Hash(bytes[:n]); hex.EncodeToString(h[:]) != want {
			t.Errorf("Hash(%d bytes) = %x, want %s", n, h, want)
		}
	}
}

// TestHashTellsApart keys, and seeds, in all of its bytes.
func TestHashTellsApart(t *testing.T) {
	seen, varies := map[[16]byte]bool{}, [16]bool{}
	first := Seed{}.Hash(nil)
	for _, seed := range []Seed{{}, {1, 0}, {0, 1}} {
		for _, key := range []string{"", "\x00", "a", "b", "ab", "a\x00"} {
			h := seed.Hash([]byte(key))
			if seen[h] {
				t.Errorf("%v.Hash(%q) = %x, as another", seed, key, h)
			}
			seen[h] = true
			for i := range h {
				varies[i] = varies[i] || h[i] != first[i]
			}
		}
	}
	for i := range varies {
		if !varies[i] {
			t.Errorf("byte %d is always %d", i, first[i])
		}
	}
}
