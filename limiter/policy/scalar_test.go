package policy

import (
	"testing"
	"time"
)

func TestWhole(t *testing.T) {
	const no = -1 << 62 // not a whole number
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "0.0": 0, "0e5": 0, "0E-5": 0, "1": 1, "-1": -1, "10": 10,
		"1e6": 1_000_000, "1E6": 1_000_000, "1e+6": 1_000_000, "1000000.0": 1_000_000, "1000000.000": 1_000_000,
		"1.5e1": 15, "1.25e2": 125, "1000e-3": 1, "1500e-2": 15, "0.001e3": 1, "-2.5e1": -25, "1e0": 1, "1.0e0": 1,
		"2147483647": 1<<31 - 1, "2147483648.0": 1 << 31, "9.007199254740992e15": 1 << 53,
		"9007199254740991": 1<<53 - 1, "9007199254740992": 1 << 53, "-9007199254740992": -1 << 53,
		"9007199254740993": no, "-9007199254740993": no, "9223372036854775807": no, "18446744073709551617": no, "1e16": no, "1e19": no,
		"0.5": no, "1.5": no, "-1.5": no, "1e-1": no, "1.25e1": no, "15e-1": no, "1.0000000000000000000001": no,
		"1e400": no, "1e401": no, "1e999999999999999999999": no, "1e-999999999999999999999": no,
	} {
		got, ok := whole(text)
		if !ok {
			got = no
		}
		if got != want {
			t.Errorf("whole(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	const no = -1 << 62 // not a duration
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"1ns": 1, "500us": 500 * time.Microsecond, "500µs": 500 * time.Microsecond, "500ms": 500 * time.Millisecond,
		"0.5s": 500 * time.Millisecond, "1s": time.Second, "60s": time.Minute, "1m": time.Minute, "1h": time.Hour, "3600s": time.Hour,
		"1h30m": 90 * time.Minute, "1d": day, "24h": day, "1d12h": 36 * time.Hour, "1d0.5s": day + 500*time.Millisecond,
		"0s": 0, "0d": 0, "-1s": -time.Second, "366d": 366 * day, "65535d": 65535 * day, "00007d": 7 * day,
		"": no, " ": no, "0": no, "1": no, "60": no, "1.5": no, "s": no, "d": no, "-d": no, "5x": no, "1M": no, "1min": no, "1S": no, "1D": no,
		"P1D": no, "PT1M": no, "1m ": no, " 1m": no, "1 m": no, "1m\n": no, "1e3s": no, "+1s": no, "+1d": no, "-1d": no, "1.5d": no,
		"1d1d": no, "1h1d": no, "1d 1h": no, "1d-1h": no, "1d+1h": no, "1d0": no, "1dd": no, "1w": no, "1y": no,
		"300y": no, "99999999999h": no, "18446744073709551617d": no, "0x10s": no, "1_000s": no, "１s": no,
	} {
		got, err := duration(text)
		if err != nil {
			got = no
		}
		if got != want {
			t.Errorf("duration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestDurationOverflow(t *testing.T) {
	// Days and hours that each fit and whose sum does not never wrap into range.
	for _, text := range []string{"65535d2562047h", "65535d2000000h47m16.8s", "65535d1000000h"} {
		if got, err := duration(text); err == nil && got >= 0 && got < 65535*24*time.Hour {
			t.Errorf("duration(%q) = %v, want an error or something out of range", text, got)
		}
	}
}

func TestSuggestion(t *testing.T) {
	known := fields{"key": nil, "limits": nil, "limit": nil, "ipv4_prefix": nil, "ipv6_prefix": nil}
	const all = `, want one of "ipv4_prefix", "ipv6_prefix", "key", "limit", "limits"`
	for name, want := range map[string]string{
		"Key": `, did you mean "key"?`, "keys": `, did you mean "key"?`, "LIMITS": `, did you mean "limits"?`,
		"limti":      `, did you mean "limit"?`,
		"ipv_prefix": `, did you mean "ipv4_prefix"?`, // of two as near, always the same
		"colour":     all, "": all,
	} {
		for range 20 { // whatever the order of the map
			if got := suggestion(name, known); got != want {
				t.Fatalf("suggestion(%q) = %s, want %s", name, got, want)
			}
		}
	}
}
