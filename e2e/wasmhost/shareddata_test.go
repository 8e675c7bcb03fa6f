package wasmhost

import (
	"slices"
	"testing"
)

func TestSharedDataFollowsEnvoysCasRule(t *testing.T) {
	const other = 0xFFFFFFFF
	tests := []struct {
		name    string
		present bool
		cas     uint32 // current stands for the version that is there
		want    Status
	}{
		{"cas 0 inserts", false, 0, OK},
		{"cas 0 overwrites", true, 0, OK},
		{"another cas inserts", false, other, OK},
		{"the current cas replaces", true, 1, OK},
		{"another cas is refused", true, other, CasMismatch},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := newSharedData()
			if test.present {
				data.Set("key", []byte("old"), 0)
			}
			if got := data.Set("key", []byte("new!"), test.cas); got != test.want {
				t.Fatalf("Set(cas %d) = %v, want %v", test.cas, got, test.want)
			}
			want := "new!"
			if test.want != OK {
				want = "old"
			}
			value, cas, ok := data.Get("key")
			if string(value) != want || cas == 0 || !ok {
				t.Errorf("Get = %q, %d, %v, want %q", value, cas, ok, want)
			}
			if data.Len() != 1 || data.Bytes() != len(want) || !slices.Equal(data.Keys(), []string{"key"}) {
				t.Errorf("Len %d, Bytes %d, Keys %q", data.Len(), data.Bytes(), data.Keys())
			}
		})
	}
}

func TestSharedDataVersionSkipsZero(t *testing.T) {
	data := newSharedData()
	data.lastCas = 0xFFFFFFFF
	data.Set("a", nil, 0)
	data.Set("b", nil, 0)
	_, a, _ := data.Get("a")
	_, b, _ := data.Get("b")
	if a != 1 || b != 2 {
		t.Errorf("versions %d and %d, want 1 and 2", a, b)
	}
}
