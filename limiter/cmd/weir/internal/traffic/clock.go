package traffic

import "time"

// A clock writes times, in microseconds since the Unix epoch, which mostly are of
// the second of the one before.
type clock struct {
	second      int64 // since the Unix epoch
	millisecond int64
	iso, clf    []byte // the second, as in 2026-01-01T00:00:00 and 01/Jan/2026:00:00:00 +0000
}

// set moves the clock to a time.
func (c *clock) set(at int64) {
	second := at / 1e6
	if at%1e6 < 0 {
		second--
	}
	c.millisecond = (at - second*1e6) / 1000
	if second == c.second && c.iso != nil {
		return
	}
	c.second = second
	t := time.Unix(second, 0).UTC()
	c.iso = t.AppendFormat(c.iso[:0], "2006-01-02T15:04:05")
	c.clf = t.AppendFormat(c.clf[:0], "02/Jan/2006:15:04:05 -0700")
}

// appendISO appends a time as Envoy does: 2026-01-01T00:00:00.123Z.
func (c *clock) appendISO(b []byte, at int64) []byte {
	c.set(at)
	ms := c.millisecond
	b = append(b, c.iso...)
	return append(b, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// appendCLF appends a time as NGINX does, in whole seconds.
func (c *clock) appendCLF(b []byte, at int64) []byte {
	c.set(at)
	return append(b, c.clf...)
}
