package async

import "sync"

// Listeners passes values to functions, to each at its own pace and in order. A function
// that is added later gets the present values first.
type Listeners[T any] struct {
	mu    sync.Mutex
	first *Listener[T] // in the order in which they were added; a process may have very many Listeners without any
}

// Listener is one of these functions.
type Listener[T any] struct {
	Mail  Mailbox[T]
	Check func(T) // checks the calls; nil: nothing does
	next  *Listener[T]
}

// Add calls the listener's function with the present values, and with all later ones. Present is called under the lock
// that Send takes, so that it gets each value once.
func (l *Listeners[T]) Add(one *Listener[T], present func() []T) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.at(nil) = one
	for _, v := range present() {
		one.put(v)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if at := l.at(one); *at != nil {
			*at = one.next
		}
	}
}

// at returns what points to a listener, or to the end of the list without it.
func (l *Listeners[T]) at(one *Listener[T]) **Listener[T] {
	at := &l.first
	for *at != nil && *at != one {
		at = &(*at).next
	}
	return at
}

// Send sets the new present value by calling set, and passes v to all functions.
func (l *Listeners[T]) Send(v T, set func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set()
	for one := l.first; one != nil; one = one.next {
		one.put(v)
	}
}

// Len returns how many functions there are.
func (l *Listeners[T]) Len() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := l.first; one != nil; one = one.next {
		n++
	}
	return n
}

func (one *Listener[T]) put(v T) {
	if one.Check != nil {
		one.Check(v)
	}
	one.Mail.Put(v)
}
