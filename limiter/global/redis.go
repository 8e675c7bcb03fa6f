package global

import (
	_ "embed"
	"errors"
	"strconv"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// The script decides on Redis what a table decides in a proxy. take.lua is its
// end, and tells at its head what goes in and out.
var (
	//go:embed arithmetic.lua
	arithmetic string
	//go:embed sliding.lua
	sliding string
	//go:embed bucket.lua
	bucket string
	//go:embed take.lua
	take string

	// Script is all of it.
	Script = arithmetic + sliding + bucket + take
)

// scriptSHA1 is what Redis knows the script by, once it has run.
const scriptSHA1 = "68064e3c4f3d41961ed76f2c934dc5b10e6dbaec"

// A command of Redis is a list of arguments.
type command []string

// evalsha is the command that decides a call by the script that Redis knows.
func evalsha(asks []policy.Ask) command { return eval("EVALSHA", scriptSHA1, asks) }

// evalScript is the same with the script itself, for a Redis that has not seen
// it since it was started.
func evalScript(asks []policy.Ask) command { return eval("EVAL", Script, asks) }

func eval(name, script string, asks []policy.Ask) command {
	var keys, args []string
	for i := range asks {
		for j := range asks[i].Limits.Len() {
			l := asks[i].Limits.At(j)
			keys = append(keys, keyOf(&asks[i], l))
			args = appendLimit(args, i, &asks[i], l)
		}
	}
	c := command{name, script, strconv.Itoa(len(keys))}
	c = append(append(c, keys...), "", "take") // by the clock of Redis
	return append(c, args...)
}

// keyOf names a window: by the key, in braces so that a cluster keeps all windows
// of a key in one slot, and by what its value can only be read with.
func keyOf(a *policy.Ask, l limiter.Limit) string {
	name := "weir:" + a.Rule.Name + ":{" + a.Key.String() + "}:" + string(l.Algorithm) + ":" +
		strconv.FormatInt(l.Window.Microseconds(), 10)
	if l.Algorithm == limiter.SlidingBuckets {
		name += ":" + strconv.Itoa(buckets(l))
	}
	return name
}

func buckets(l limiter.Limit) int {
	if l.Buckets == 0 {
		return limiter.DefaultBuckets
	}
	return l.Buckets
}

// appendLimit appends the arguments of one limit.
func appendLimit(args []string, charge int, a *policy.Ask, l limiter.Limit) []string {
	how, option := "", int64(0)
	if a.Shadow {
		how = "s"
	}
	switch l.Algorithm {
	case limiter.SlidingLog:
		if l.Inclusive {
			option = 1
		}
	case limiter.SlidingBuckets:
		option = int64(buckets(l))
	default:
		option = l.Requests // per window, which refill the bucket
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return append(args, strconv.Itoa(charge), how, number(a.Cost), string(l.Algorithm),
		number(l.Capacity()), number(l.Window.Microseconds()), number(option))
}

// The reply is three integers, the last of them how many values could not be
// decoded, and perLimit for each limit.
const (
	perCall   = 3
	corruptAt = 2
	perLimit  = 5
)

var errReply = errors.New("the reply of the script is not of the form that was asked for")

// answers reads the reply of the script.
func answers(reply []int64, asks []policy.Ask) (list []policy.Answer, corrupt int, err error) {
	if len(reply) < perCall {
		return nil, 0, errReply
	}
	undecoded, reply := reply[corruptAt], reply[perCall:]
	if limits := len(reply) / perLimit; undecoded < 0 || undecoded > int64(limits) {
		return nil, 0, errReply
	}
	list = make([]policy.Answer, len(asks))
	for i := range asks {
		for range asks[i].Limits.Len() {
			if len(reply) < perLimit {
				return nil, 0, errReply
			}
			d, ok := decision(reply[:perLimit])
			if !ok {
				return nil, 0, errReply
			}
			list[i].Each, reply = append(list[i].Each, d), reply[perLimit:]
		}
	}
	if len(reply) > 0 {
		return nil, 0, errReply
	}
	return list, int(undecoded), nil
}

// decision reads what the script says of one limit.
func decision(n []int64) (d limiter.Decision, ok bool) {
	allowed, limit, remaining, retry, reset := n[0], n[1], n[2], n[3], n[4]
	if allowed < 0 || allowed > 1 || limit < 1 || remaining < 0 || remaining > limit || retry < -1 || reset < 0 ||
		allowed == 1 && retry != 0 || allowed == 0 && retry == 0 {
		return d, false
	}
	d = limiter.Decision{Allowed: allowed == 1, Limit: limit, Remaining: remaining, ResetAfter: microseconds(reset)}
	if d.RetryAfter = microseconds(retry); retry < 0 {
		d.RetryAfter = limiter.Never
	}
	return d, true
}

// microseconds is a wait. The longest that the script tells, 285 years, is short
// of what a Duration holds.
func microseconds(n int64) time.Duration { return time.Duration(min(n, 1<<53)) * time.Microsecond }
