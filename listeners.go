package incumbent

import (
	"slices"
	"sync"
)

// listeners passes values to functions, to each at its own pace and in order. A function
// that is added later gets the present value first.
type listeners[T any] struct {
	panicked func(any)

	mu  sync.Mutex
	all []*listener[T]
}

type listener[T any] struct {
	mail mailbox
	f    func(T)
}

// add calls f with the present value, if there is one, and with all later values. Present
// is called under the lock that tell takes, so that f gets each value once.
func (l *listeners[T]) add(f func(T), present func() (T, bool)) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := &listener[T]{f: f, mail: mailbox{panicked: l.panicked}}
	l.all = append(l.all, one)
	if v, ok := present(); ok {
		one.mail.put(func() { f(v) })
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(l.all, func(other *listener[T]) bool { return other == one })
	}
}

// send sets the new present value by calling set, and passes v to all functions.
func (l *listeners[T]) send(v T, set func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set()
	for _, one := range l.all {
		one.mail.put(func() { one.f(v) })
	}
}
