package scenario

import (
	"testing"
	"time"
)

func TestNear(t *testing.T) {
	for _, test := range []struct {
		got, want string
		late      time.Duration
		near      bool
	}{
		{"60", "60", 0, true},
		{"59", "60", 0, false},
		{"59", "60", time.Millisecond, true},
		{"58", "60", time.Second, false},
		{"58", "60", 1500 * time.Millisecond, true},
		{"61", "60", time.Minute, false},
		{"1", "1", time.Minute, true},
		{"0", "1", time.Minute, false},
		{`"a";r=0;t=59, "b";r=7;t=9`, `"a";r=0;t=60, "b";r=7;t=10`, time.Second, true},
		{`"a";r=1;t=60`, `"a";r=2;t=60`, time.Second, false},
		{`{"rule":"a","retry_after":899}`, `{"rule":"a","retry_after":900}`, time.Second, true},
	} {
		if got := Near(test.got, test.want, test.late); got != test.near {
			t.Errorf("Near(%q, %q, %v) = %v", test.got, test.want, test.late, got)
		}
	}
}
