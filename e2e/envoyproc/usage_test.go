package envoyproc

import (
	"slices"
	"testing"
)

// The other fields that the tests read.
const fieldUserTime, fieldSystemTime = 14, 15

func TestParseStat(t *testing.T) {
	// Made up in the layout of proc_pid_stat(5), with a name that tries to confuse.
	const line = "8340 (en) S 1 (voy) S 8339 8340 8339 0 -1 4194560 7261 0 3 0 17 4 0 0 20 0 9 0 96104 221917184 14023 18446744073709551615\n"
	got, err := parseStat([]byte(line), fieldUserTime, fieldSystemTime, fieldRSS)
	if want := []int64{17, 4, 14023}; err != nil || !slices.Equal(got, want) {
		t.Errorf("parseStat = %v, %v, want %v", got, err, want)
	}
}

func TestParseStatErrors(t *testing.T) {
	tests := map[string]string{
		"":              `no field 4 in ""`,
		"1 (envoy) S":   `no field 4 in "1 (envoy) S"`,
		"1 (envoy) S x": `field 4: strconv.ParseInt: parsing "x": invalid syntax`,
	}
	for line, want := range tests {
		if got, err := parseStat([]byte(line), 4); err == nil || err.Error() != want {
			t.Errorf("parseStat(%q) = %v, %v, want error %s", line, got, err, want)
		}
	}
}
