package async

import (
	"slices"
	"sync"
)

// Listeners passes values to functions, to each at its own pace and in order. A function
// that is added later gets the present values first.
type Listeners[T any] struct {
	mu  sync.Mutex
	all []*Listener[T]
}

// Listener is one of these functions.
type Listener[T any] struct {
	Mail  Mailbox[T]
	Check func(T) // checks the calls; nil: nothing does
}

// Add calls the listener's function with the present values, and with all later ones. Present is called under the lock
// that Send takes, so that it gets each value once.
func (l *Listeners[T]) Add(one *Listener[T], present func() []T) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, one)
	for _, v := range present() {
		one.put(v)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(l.all, func(other *Listener[T]) bool { return other == one })
	}
}

// Send sets the new present value by calling set, and passes v to all functions.
func (l *Listeners[T]) Send(v T, set func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set()
	for _, one := range l.all {
		one.put(v)
	}
}

// Len returns how many functions there are.
func (l *Listeners[T]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

func (one *Listener[T]) put(v T) {
	if one.Check != nil {
		one.Check(v)
	}
	one.Mail.Put(v)
}
