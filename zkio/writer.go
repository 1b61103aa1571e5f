package zkio

import (
	"math"
	"sync"
)

// writer sends the requests of one connection. The loop only puts calls into the lanes. A
// goroutine, which runs while calls may be sent, takes them in the order of the lanes, and sends
// them with one write. Calls that come meanwhile are in the next write. A call stays in its lane
// until a write takes it, so a heartbeat never waits for more than one batch.
type writer struct {
	turn chan struct{} // holds one element while nothing is written: the keeper writes its pings and the close itself
	kept frame         // the goroutine's buffer
	runs bool          // the goroutine; guarded by session.mu
	xid  int32         // of the last request; guarded by session.mu
}

const (
	// firstXid keeps the numbers of requests apart from those of the keeper, which numbers
	// only its close, with 1.
	firstXid int32 = 1 << 30
	// maxBatch is after how many bytes a write takes no further request.
	maxBatch = 64 << 10
	// maxKept is the largest buffer, in bytes, that a connection keeps for its next batch.
	maxKept = 8 << 10
	// maxShared is the largest buffer, in bytes, that is kept for a large batch of any connection.
	maxShared = 2 << 20
)

// largeBuffers are buffers above maxKept, for the connection that needs one next. A large
// request is copied once, into a buffer that has room for all of it.
var largeBuffers sync.Pool // of *frame

// withRoom returns the batch with room for n more bytes.
func withRoom(f frame, n int) frame {
	need := len(f) + n
	if need <= max(maxKept, cap(f)) {
		return f
	}
	if large, kept := largeBuffers.Get().(*frame); kept && cap(*large) >= need {
		return append((*large)[:0], f...)
	}
	return append(make(frame, 0, need), f...)
}

// keepable returns the buffer of a batch that was written, nil if the connection does not keep it.
func keepable(f frame) frame {
	switch {
	case cap(f) <= maxKept:
		return f
	case cap(f) <= maxShared:
		largeBuffers.Put(&f)
	}
	return nil
}

func newWriter() writer {
	w := writer{turn: make(chan struct{}, 1), xid: firstXid}
	w.turn <- struct{}{}
	return w
}

// take waits until no other goroutine writes. It is a channel and no mutex, because a write may
// take long, and testing/synctest does not count a goroutine that waits for a mutex as blocked.
func (w *writer) take() { <-w.turn }

// free lets the next goroutine write.
func (w *writer) free() { w.turn <- struct{}{} }

// next returns the number of the next request.
func (w *writer) next() int32 {
	if w.xid == math.MaxInt32 {
		w.xid = firstXid
	}
	w.xid++
	return w.xid
}

// startWriter has the calls written that may be sent. s.mu is held.
func (s *session) startWriter(w *wire) {
	if !w.writer.runs {
		w.writer.runs = true
		s.a.work.Go(func() {
			for s.writeBatch(w) {
			}
		})
	}
}

// writeBatch writes the calls that may be sent now, and reports whether there were any. It waits
// for the socket first and reads the clock then, so that no ping is written between the time of
// sending and the requests.
func (s *session) writeBatch(w *wire) bool {
	w.writer.take()
	defer w.writer.free()
	s.mu.Lock()
	batch := s.takeBatch(w, w.writer.kept[:0])
	w.writer.runs = len(batch) > 0
	s.mu.Unlock()
	if len(batch) == 0 {
		return false
	}
	_ = w.put(batch) // after an error there is no next batch
	w.writer.kept = keepable(batch)
	return true
}

// takeBatch encodes the calls that may be sent now and notes that they are sent. s.mu is held.
func (s *session) takeBatch(w *wire, batch frame) frame {
	if s.wire != w || s.closing || !s.lanes.ready() || w.broken() {
		return batch
	}
	now := s.a.cfg.Now()
	if s.loopStalled(now) != nil {
		return batch
	}
	for len(batch) < maxBatch {
		c := s.lanes.next()
		if c == nil {
			break
		}
		if s.withheld(w, c) {
			continue
		}
		c.started = true
		xid := w.writer.next()
		batch = s.a.encode(withRoom(batch, c.size), xid, c)
		s.noteSent(w, c, xid, now)
	}
	return batch
}
