package async

import "sync"

// Workload counts the pieces of work that run under one handle, and signals when none does.
// Its methods are safe to call from any goroutine.
type Workload struct {
	mu     sync.Mutex
	none   chan struct{} // closed when the last piece returns; nil while no call waits for that
	count  int32
	sealed bool // no new work may begin
}

// Begin counts one more piece of work. After Seal it returns false, and counts nothing.
func (w *Workload) Begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sealed {
		return false
	}
	w.count++
	return true
}

// End counts one piece of work that has returned.
func (w *Workload) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count--
	if w.count == 0 && w.none != nil {
		close(w.none)
		w.none = nil
	}
}

// Seal prevents new work.
func (w *Workload) Seal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sealed = true
}

// IsSealed reports whether Seal was called.
func (w *Workload) IsSealed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sealed
}

// Running reports whether there is work that has not returned.
func (w *Workload) Running() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count > 0
}

// Idle returns a channel that is closed when no work runs; it is closed already if none
// runs now.
func (w *Workload) Idle() <-chan struct{} {
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

var alreadyClosed = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// OneEvent is something that happens once, and that calls may wait for. It has a channel only while
// they do. Its methods are safe to call from any goroutine.
type OneEvent struct {
	mu    sync.Mutex
	waits chan struct{} // alreadyClosed: it has happened; nil: it has not, and no call waits
}

// Set notes that it has happened.
func (o *OneEvent) Set() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waits != nil && o.waits != alreadyClosed {
		close(o.waits)
	}
	o.waits = alreadyClosed
}

// Done returns a channel that is closed when it has happened.
func (o *OneEvent) Done() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waits == nil {
		o.waits = make(chan struct{})
	}
	return o.waits
}
