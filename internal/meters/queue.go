package meters

import (
	"sync"
	"time"
)

// QueueMeter counts the items of one queue, as this client's consumers see it.
type QueueMeter struct {
	took *Histogram

	mu      sync.Mutex
	results map[string]uint64
	items   int
	head    string // the first item of the last listing; "": there was none, or it is done
	since   int64  // when head was seen first, by the loop's clock
}

// The results of an item.
const (
	ItemDone      = "done"
	ItemFailed    = "failed"
	ItemWithdrawn = "withdrawn"
)

// Queue returns the meter of a queue.
func (m *Meters) Queue(path string) *QueueMeter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queues) >= MaxPaths && m.queues[path] == nil {
		path = "other"
	}
	q := m.queues[path]
	if q == nil {
		q = &QueueMeter{took: NewHistogram(handlerBounds), results: map[string]uint64{}}
		m.queues[path] = q
	}
	return q
}

// Listed takes what a listing has shown.
func (q *QueueMeter) Listed(head string, items int, now int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = items
	if head != q.head {
		q.head, q.since = head, now
	}
}

// Handled counts an item that was handed to the handler.
func (q *QueueMeter) Handled(node, result string, took time.Duration) {
	q.took.NoteTime(took)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.results[result]++
	if result == ItemDone && q.items > 0 {
		q.items--
		if node == q.head {
			q.head = ""
		}
	}
}
