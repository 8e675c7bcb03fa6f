package accesslog

import "encoding/binary"

// A clock reads times. It remembers the last minute that it read, which most
// lines share.
type clock struct {
	date, hour uint64 // 2006-01-, 02T15:04
	minute     int64  // when it began, in microseconds since the epoch
}

// envoy reads a time such as 2006-01-02T15:04:05.000Z.
func (c *clock) envoy(b []byte) (at int64, length int) {
	const length24 = len("2006-01-02T15:04:05.000Z")
	if len(b) < length24 || b[16] != ':' || b[19] != '.' || b[23] != 'Z' {
		return 0, 0
	}
	date, hour := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if date != c.date || hour != c.hour || date == 0 {
		at, ok := minuteOf(b)
		if !ok {
			return 0, 0
		}
		c.date, c.hour, c.minute = date, hour, at
	}
	s1, s2, m1, m2, m3 := b[17]-'0', b[18]-'0', b[20]-'0', b[21]-'0', b[22]-'0'
	s := int64(s1)*10 + int64(s2)
	if s1 > 9 || s2 > 9 || m1 > 9 || m2 > 9 || m3 > 9 || s > 60 {
		return 0, 0
	}
	return c.minute + s*second + (int64(m1)*100+int64(m2)*10+int64(m3))*millisecond, length24
}

// minuteOf reads 2006-01-02T15:04, with a blank for the T if need be.
func minuteOf(b []byte) (at int64, ok bool) {
	var d date
	if len(b) < 16 || b[4] != '-' || b[7] != '-' || b[10] != 'T' && b[10] != ' ' || b[13] != ':' {
		return 0, false
	}
	for _, f := range [...]struct {
		at, digits int
		to         *int
	}{{0, 4, &d.year}, {5, 2, &d.month}, {8, 2, &d.day}, {11, 2, &d.hour}, {14, 2, &d.minute}} {
		if _, ok := readDigits(b[f.at:], f.digits, f.to); !ok {
			return 0, false
		}
	}
	return d.microseconds()
}

// rfc3339 reads a whole text as a time of RFC 3339, and says how many digits
// its seconds have after the point.
func (c *clock) rfc3339(b []byte) (at int64, digits int, ok bool) {
	if at, n := c.envoy(b); n == len(b) && n > 0 {
		return at, 3, true
	}
	if len(b) < len("2006-01-02T15:04:05Z") || b[16] != ':' {
		return 0, 0, false
	}
	var d date
	at, ok = minuteOf(b)
	rest, good := readDigits(b[17:], 2, &d.second)
	if !ok || !good || d.second > 60 {
		return 0, 0, false
	}
	if rest[0] == '.' || rest[0] == ',' {
		rest = rest[1:]
		for digits < len(rest) && rest[digits]-'0' <= 9 {
			digits++
		}
		if d.micros, ok = micros(rest, digits); !ok {
			return 0, 0, false
		}
		rest = rest[digits:]
	}
	if string(rest) == "z" {
		rest = []byte("Z")
	}
	rest, ok = readZone(rest, &d.east)
	return at + int64(d.second-d.east)*second + d.micros, digits, ok && len(rest) == 0
}

// epoch reads a whole text as a number of seconds since the Unix epoch, or of
// milli-, micro- or nanoseconds if it is so large that seconds would be far in
// the future, and says how many digits the seconds have after the point.
func epoch(b []byte) (at int64, digits int, ok bool) {
	rest, ok := readNumber(b, &at)
	if !ok {
		return 0, 0, false
	}
	var more int64
	if len(rest) > 0 {
		if digits = len(rest) - 1; rest[0] != '.' {
			return 0, 0, false
		}
		if more, ok = micros(rest[1:], digits); !ok {
			return 0, 0, false
		}
	}
	switch {
	case at < 1e11:
		return at*second + more, digits, true
	case at < 1e14:
		return at*millisecond + more/1000, digits + 3, true
	case at < 1e17:
		return at, 6, true
	default:
		return at / 1000, 9, true
	}
}

// microseconds returns the time since the Unix epoch.
func (d *date) microseconds() (int64, bool) {
	if d.hasEpoch {
		return d.epoch*second + d.micros, d.epoch < 1e11
	}
	if d.month < 1 || d.month > 12 || d.day < 1 || d.day > daysIn(d.year, d.month) ||
		d.hour > 23 || d.minute > 59 || d.second > 60 || d.year < 1970 {
		return 0, false
	}
	seconds := ((days(d.year, d.month, d.day)*24+int64(d.hour))*60+int64(d.minute))*60 + int64(d.second-d.east)
	return seconds*second + d.micros, true
}

func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return int([...]int8{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1])
}

// days since the Unix epoch, counted in years that begin in March, so that a
// leap day comes last.
func days(year, month, day int) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	return int64(365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468)
}
