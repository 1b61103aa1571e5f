package incumbent

import "sync"

// workload counts the pieces of work that run under one handle, and signals when none does.
// Its methods are safe to call from any goroutine.
type workload struct {
	mu     sync.Mutex
	count  int
	sealed bool          // no new work may begin
	none   chan struct{} // closed when the last piece returns; nil while no call waits for that
}

// begin counts one more piece of work. After seal it returns false, and counts nothing.
func (w *workload) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sealed {
		return false
	}
	w.count++
	return true
}

// end counts one piece of work that has returned.
func (w *workload) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
	if w.count == 0 && w.none != nil {
		close(w.none)
		w.none = nil
	}
}

// seal prevents new work.
func (w *workload) seal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sealed = true
}

// isSealed reports whether seal was called.
func (w *workload) isSealed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sealed
}

// running reports whether there is work that has not returned.
func (w *workload) running() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count > 0
}

// idle returns a channel that is closed when no work runs; it is closed already if none
// runs now.
func (w *workload) idle() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == 0 {
		return alreadyClosed
	}
	if w.none == nil {
		w.none = make(chan struct{})
	}
	return w.none
}

var alreadyClosed = func() <-chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// oneEvent is something that happens once, and that calls may wait for. It has a channel only while
// they do. Its methods are safe to call from any goroutine.
type oneEvent struct {
	mu       sync.Mutex
	happened bool
	waits    chan struct{} // nil: no call waits
}

// end notes that it has happened.
func (o *oneEvent) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.happened = true
	if o.waits != nil {
		close(o.waits)
		o.waits = nil
	}
}

// done returns a channel that is closed when it has happened.
func (o *oneEvent) done() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.happened {
		return alreadyClosed
	}
	if o.waits == nil {
		o.waits = make(chan struct{})
	}
	return o.waits
}
