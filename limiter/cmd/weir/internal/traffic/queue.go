package traffic

// A queue gives back what comes first: the least time, and of the same time
// what was added first. It is a binary heap.
type queue[T any] struct {
	items []queued[T]
	added uint64
}

type queued[T any] struct {
	at    int64
	order uint64
	value T
}

func (a *queued[T]) before(b *queued[T]) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *queue[T]) add(at int64, value T) {
	q.added++
	item := queued[T]{at, q.added, value}
	q.items = append(q.items, item)
	i := len(q.items) - 1
	for i > 0 && item.before(&q.items[(i-1)/2]) {
		q.items[i] = q.items[(i-1)/2]
		i = (i - 1) / 2
	}
	q.items[i] = item
}

// take removes the first. There must be one.
func (q *queue[T]) take() queued[T] {
	first, end := q.items[0], len(q.items)-1
	last := q.items[end]
	q.items = q.items[:end]
	for i := 0; end > 0; {
		child := 2*i + 1
		if child+1 < end && q.items[child+1].before(&q.items[child]) {
			child++
		}
		if child >= end || last.before(&q.items[child]) {
			q.items[i] = last
			break
		}
		q.items[i] = q.items[child]
		i = child
	}
	return first
}
