package incumbent

import (
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// queueMeter counts the items of one queue, as this client's consumers see it.
type queueMeter struct {
	took *histogram

	mu      sync.Mutex
	results map[string]uint64
	items   int
	head    string // the first item of the last listing; "": there was none, or it is done
	since   int64  // when head was seen first, by the loop's clock
}

// The results of ItemDone.
const (
	itemDone      = "done"
	itemFailed    = "failed"
	itemWithdrawn = "withdrawn"
)

// queue returns the meter of a queue.
func (m *meters) queue(path string) *queueMeter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queues) >= maxStatPaths && m.queues[path] == nil {
		path = "other"
	}
	q := m.queues[path]
	if q == nil {
		q = &queueMeter{took: newHistogram(handlerBounds), results: map[string]uint64{}}
		m.queues[path] = q
	}
	return q
}

// listed notes what a consumer has read of its queue: the answer that ends listing, after one with the locks. The items of a DelayQueue wait on purpose, so the
// age of its first one is not counted.
func (c *Client) listed(s engine.Observed) {
	if s.Event.Code != events.OK || s.State == "listing" || !strings.HasPrefix(string(s.Machine), consumerPrefix) {
		return
	}
	c.mu.Lock()
	consumer, known := c.handles[s.Machine].(*Consumer)
	c.mu.Unlock()
	if known {
		head, items := consumer.kind.FirstPut(s.Event.Children)
		consumer.meter.listed(head, items, s.Event.At)
	}
}

var consumerPrefix = machines.ConsumerRecipe.Name() + "-"

func (q *queueMeter) listed(head string, items int, now int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = items
	if head != q.head {
		q.head, q.since = head, now
	}
}

// handled counts an item that was handed to the handler.
func (q *queueMeter) handled(node, result string, took time.Duration) {
	q.took.noteTime(took)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.results[result]++
	if result == itemDone && q.items > 0 {
		q.items--
		if node == q.head {
			q.head = ""
		}
	}
}

func (q *queueMeter) read(path string, now int64) QueueStats {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := QueueStats{Path: path, Items: q.items, Done: q.results[itemDone], Failed: q.results[itemFailed],
		Withdrawn: q.results[itemWithdrawn], Took: q.took.read()}
	if q.head != "" {
		s.Oldest = time.Duration(now - q.since)
	}
	return s
}
