package accesslog

import "strings"

// readDigits reads a number of exactly n digits, and returns what follows.
func readDigits(b []byte, n int, to *int) (rest []byte, ok bool) {
	if len(b) < n {
		return b, false
	}
	*to = 0
	for _, c := range b[:n] {
		if c -= '0'; c > 9 {
			return b, false
		}
		*to = *to*10 + int(c)
	}
	return b[n:], true
}

// readNumber reads a number of 1 to 18 digits.
func readNumber(b []byte, to *int64) (rest []byte, ok bool) {
	n := 0
	*to = 0
	for n < len(b) && b[n]-'0' <= 9 {
		*to = *to*10 + int64(b[n]-'0')
		if n++; n > 18 {
			return b, false
		}
	}
	return b[n:], n > 0
}

// micros reads n digits after a decimal point, down to the sixth.
func micros(b []byte, n int) (at int64, ok bool) {
	if len(b) < n || n == 0 {
		return 0, false
	}
	unit := second
	for _, c := range b[:n] {
		if c -= '0'; c > 9 {
			return 0, false
		}
		unit /= 10
		at += int64(c) * unit
	}
	return at, true
}

// decimal reads a whole text as a number that is not negative, in units of
// microseconds.
func decimal(b []byte, unit int64) (n int64, ok bool) {
	rest, ok := readNumber(b, &n)
	if !ok || n > 1e11 {
		return 0, false
	}
	n *= unit
	if len(rest) == 0 {
		return n, true
	}
	if rest[0] != '.' {
		return 0, false
	}
	part, ok := micros(rest[1:], len(rest)-1)
	return n + part*unit/second, ok
}

// readMonth reads the name of a month in English, as in Jan.
func readMonth(b []byte, to *int) (rest []byte, ok bool) {
	if len(b) < 3 {
		return b, false
	}
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	i := strings.Index(months, text(b[:3]))
	if i < 0 || i%3 != 0 {
		return b, false
	}
	*to = i/3 + 1
	return b[3:], true
}

// readZone reads Z, +0100 or +01:00, as seconds to the east.
func readZone(b []byte, to *int) (rest []byte, ok bool) {
	if len(b) > 0 && b[0] == 'Z' {
		return b[1:], true
	}
	if len(b) < 5 || b[0] != '+' && b[0] != '-' {
		return b, false
	}
	var hours, minutes int
	rest, ok = readDigits(b[1:], 2, &hours)
	if ok && rest[0] == ':' {
		rest = rest[1:]
	}
	if ok {
		rest, ok = readDigits(rest, 2, &minutes)
	}
	if *to = (hours*60 + minutes) * 60; b[0] == '-' {
		*to = -*to
	}
	return rest, ok && hours < 24 && minutes < 60
}
