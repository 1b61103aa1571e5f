package zkio

import (
	"math"
	"sync"
)

// writer sends the requests of one connection. The loop only puts calls into the lanes. One
// goroutine takes what may be sent, in the order of the lanes, and passes it on with one
// write; what comes meanwhile is in the next one. Only what the write takes leaves the
// lanes, so a heartbeat never waits for more than one batch.
type writer struct {
	turn chan struct{} // has one element while nobody writes: zk.Conn writes its pings and the close itself
	wake chan struct{} // has room for one
	gone chan struct{} // closed when the connection can be read no longer
	xid  int32         // of the last request; guarded by session.mu
}

const (
	// firstXid keeps the numbers of requests apart from those of zk.Conn, which begins with 1
	// and numbers only its close.
	firstXid int32 = 1 << 30
	// maxBatch is how many bytes one write takes, if no single request is larger.
	maxBatch = 64 << 10
	// maxKept is the largest buffer that a connection keeps for its next batch.
	maxKept = 8 << 10
	// maxShared is the largest buffer that is kept for the next large batch of any connection.
	maxShared = 2 << 20
)

// largeBuffers are buffers above maxKept, for the connection that needs one next. A large
// request is copied once, into a buffer that has room for all of it.
var largeBuffers sync.Pool // of *frame

// room returns the batch with room for n bytes more.
func (f frame) room(n int) frame {
	need := len(f) + n
	if need <= max(maxKept, cap(f)) {
		return f
	}
	if large, kept := largeBuffers.Get().(*frame); kept && cap(*large) >= need {
		return append((*large)[:0], f...)
	}
	return append(make(frame, 0, need), f...)
}

// kept returns the buffer of a batch that was written, if the connection keeps it.
func (f frame) kept() frame {
	switch {
	case cap(f) <= maxKept:
		return f
	case cap(f) <= maxShared:
		largeBuffers.Put(&f)
	}
	return nil
}

func newWriter() writer {
	w := writer{turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), gone: make(chan struct{}), xid: firstXid}
	w.turn <- struct{}{}
	return w
}

// take waits until nobody else writes. A channel, and no mutex: a write may last, and tests in
// virtual time end only waits that Go can see through.
func (w *writer) take() { <-w.turn }

func (w *writer) free() { w.turn <- struct{}{} }

// signal has the goroutine look for calls. It never blocks.
func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next returns the number of the next request.
func (w *writer) next() int32 {
	if w.xid == math.MaxInt32 {
		w.xid = firstXid
	}
	w.xid++
	return w.xid
}

// writeCalls writes batches until the connection has ended.
func (s *session) writeCalls(w *wire) {
	var buffer frame
	for {
		select {
		case <-w.writer.wake:
		case <-w.writer.gone:
			return
		}
		for {
			buffer = s.writeBatch(w, buffer[:0])
			if len(buffer) == 0 {
				break
			}
			buffer = buffer.kept()
		}
	}
}

// writeBatch writes what may be sent now. It returns the batch, empty if there was nothing
// to send or the connection cannot be written to any longer. The socket is taken before
// the time of sending is, so that no ping is written between.
func (s *session) writeBatch(w *wire, batch frame) frame {
	w.writer.take()
	defer w.writer.free()
	if batch = s.takeBatch(w, batch); len(batch) > 0 && w.put(batch) != nil {
		return batch[:0]
	}
	return batch
}

// takeBatch encodes the calls that may be sent now and notes that they are sent.
func (s *session) takeBatch(w *wire, batch frame) frame {
	s.mu.Lock()
	defer s.mu.Unlock()
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
		batch = s.a.encode(batch.room(c.size), xid, c)
		s.noteSent(w, c, xid, now)
	}
	return batch
}
