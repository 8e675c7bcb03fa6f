// Package accesslog reads the access logs of proxies as a stream of requests,
// in the order in which they came.
//
//	files ─▶ blocks of lines ─▶ Format: cut into fields ─▶ buffer: in order of time ─▶ Log.Next
//
// A [Format] says how a line is read. [ParseFormat] makes one of a name, of an
// Envoy format string or of an NGINX log_format; [Detect] picks one by looking
// at lines. [Open] reads files, plain or compressed, and [Log.Next] returns a
// [Record] at a time, which a policy can ask as it asks a request.
//
// # Order
//
// A proxy writes a line when a request ends, so that the times at which
// requests began are out of order by as much as some of them took. Next returns
// records by time, and records of the same time by file and line. For that it
// waits until each file has gone beyond a record's time by Options.Disorder. A
// line that comes later still is returned at once; if it is older than what was
// returned before, it is Late and takes the time of that. The buffer holds at
// most 64 MiB and a million records. If that is not enough for the disorder,
// the earlier half is returned before its time. If a few lines are far ahead of
// those that follow, which are therefore late, Stats.Stray says which. Memory
// depends neither on the length of the log nor on the number of files, but for
// those that overlap in time: each of them is open and has a block of its own.
//
// # What a client can do to its line
//
// Envoy's text formats escape nothing, so a client can send a user agent such
// as
//
//	x" "y" "evil.example
//
// to have its line read as that of another host. Here such a line is broken,
// never misread. In a format that has double quotes no value may contain one.
// Then the quotes of a line are those of the format, one by one, and what
// stands between two of them is what the proxy wrote there. Where several
// values share a stretch without quotes, none of them may contain the character
// that separates them, mostly a blank, by the same argument. (Times may; they
// are read by their own layout, which has a fixed number of them.) Values that
// may have blanks should therefore be quoted in a format. NGINX escapes quotes,
// and a JSON line must be written by a JSON formatter, as Envoy's json_format
// is; one put together from text can be forged, though a name that is there
// twice makes the line broken.
//
// What remains: a client can have its own lines left out, which Stats.Broken
// counts, and a header of "-" cannot be told from an absent one.
//
// # The client's address
//
// Record.ClientAddress is the address of the downstream, if the format has it:
// DOWNSTREAM_REMOTE_ADDRESS of Envoy, which is already what Envoy trusts, or
// $remote_addr of NGINX. Otherwise it is the entry of X-Forwarded-For that is
// Options.TrustedHops from the right; 0 is the last, which Envoy itself appends
// with use_remote_address. That this is right for a log must be known from its
// proxy: with a wrong number of hops a client can choose its address. If there
// is neither, it is DOWNSTREAM_DIRECT_REMOTE_ADDRESS.
package accesslog
