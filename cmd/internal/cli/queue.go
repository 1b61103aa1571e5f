package cli

import (
	"io"
	"sync"
	"time"
)

// maxQueued is how many bytes wait for a reader at most. What does not fit is dropped and counted.
const maxQueued = 1 << 18

// lineQueue keeps lines for one goroutine that writes them, so that a reader that does not read holds nobody up.
type lineQueue struct {
	w      io.Writer
	notice func(dropped int) []byte // the line that says how many are missing
	failed func(error)
	ended  chan struct{} // closed when everything is written, after end

	mu      sync.Mutex
	changed *sync.Cond // of mu: there is a line, or end was called
	lines   [][]byte
	size    int // of lines, in bytes
	dropped int // since the last line that was queued
	ending  bool
}

func newLineQueue(w io.Writer, notice func(int) []byte, failed func(error)) *lineQueue {
	q := &lineQueue{w: w, notice: notice, failed: failed, ended: make(chan struct{})}
	q.changed = sync.NewCond(&q.mu)
	go q.write()
	return q
}

// put queues a line, or counts it if there is no room.
func (q *lineQueue) put(line []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size+len(line) > maxQueued {
		q.dropped++
		return
	}
	q.sayDropped()
	q.add(line)
}

// sayDropped queues the notice, if lines are missing here.
func (q *lineQueue) sayDropped() {
	if q.dropped > 0 {
		q.add(q.notice(q.dropped))
		q.dropped = 0
	}
}

func (q *lineQueue) add(line []byte) {
	q.lines = append(q.lines, append([]byte(nil), line...))
	q.size += len(line)
	q.changed.Signal()
}

// write writes line after line, until there is none and end was called. A line counts as queued while it is written.
func (q *lineQueue) write() {
	defer close(q.ended)
	defer writeInBackground()()
	for {
		line, ok := q.next()
		if !ok {
			return
		}
		if _, err := q.w.Write(line); err != nil {
			q.failed(err)
		}
		q.written(len(line))
	}
}

// next waits for the next line. It returns false when there is none, and end was called.
func (q *lineQueue) next() (line []byte, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if len(q.lines) == 0 {
			q.sayDropped()
		}
		if len(q.lines) > 0 {
			line = q.lines[0]
			q.lines = q.lines[1:]
			return line, true
		}
		if q.ending {
			return nil, false
		}
		q.changed.Wait()
	}
}

func (q *lineQueue) written(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.size -= n
}

// end waits until everything is written, or until the limit. It reports whether everything is.
func (q *lineQueue) end(limit <-chan time.Time) bool {
	q.mu.Lock()
	q.ending = true
	q.changed.Signal()
	q.mu.Unlock()
	select {
	case <-q.ended:
		return true
	case <-limit:
		return false
	}
}
