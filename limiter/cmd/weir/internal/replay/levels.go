package replay

import "math"

// levels tell, for one key and one window, the smallest limit under which each
// of its requests would have been admitted: its level. The request is refused
// under every smaller limit and admitted under every larger one, all at once.
//
// Think of a limit of n requests in a window as n servers, each of which an
// admitted request keeps busy for one window. Number the servers, and let each
// request take the free one of the lowest number. What finds the servers 1 to n
// busy goes on to n+1, and what it does there never comes back to them: so the
// first n servers serve exactly what a limit of n would have admitted. (This is
// the ordered entry of queueing theory, and what stack distances are to caches.)
//
// The times at which the servers become free are the leaves of a tournament
// tree of minima, in which the first free one is found, and taken, in the
// logarithm of their number.
type levels struct {
	tree []int64 // tree[1] is the root, the leaves are its second half
	used int     // how many servers have ever been busy: the highest level
}

// maxLevel is the highest level that is told from higher ones. A limit of
// sliding_log is no higher.
const maxLevel = 1 << 20

// never is when a server is free that has not been needed yet.
const never = math.MaxInt64

// take returns the level of a request at a time, after which its server is busy
// until another; maxLevel+1 stands for all that is higher. Times must not go
// back.
func (l *levels) take(now, until int64) int {
	leaves := len(l.tree) / 2
	if leaves == 0 || l.tree[1] > now {
		if l.used == maxLevel {
			return maxLevel + 1
		}
		if l.used == leaves {
			l.grow()
		}
		l.used++
		l.set(l.used-1, until)
		return l.used
	}
	i := 1
	for i < leaves {
		if i *= 2; l.tree[i] > now {
			i++
		}
	}
	l.set(i-leaves, until)
	return i - leaves + 1
}

// set makes a server busy until a time.
func (l *levels) set(server int, until int64) {
	i := len(l.tree)/2 + server
	l.tree[i] = until
	for i /= 2; i > 0; i /= 2 {
		least := min(l.tree[2*i], l.tree[2*i+1])
		if l.tree[i] == least {
			return
		}
		l.tree[i] = least
	}
}

// grow doubles the number of leaves.
func (l *levels) grow() {
	leaves := max(1, len(l.tree))
	tree := make([]int64, 2*leaves)
	half := copy(tree[leaves:], l.tree[len(l.tree)/2:])
	for i := leaves + half; i < len(tree); i++ {
		tree[i] = never
	}
	for i := leaves - 1; i > 0; i-- {
		tree[i] = min(tree[2*i], tree[2*i+1])
	}
	l.tree = tree
}
