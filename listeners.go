package incumbent

import (
	"slices"
	"sync"
)

// listeners passes values to functions, to each at its own pace and in order. A function
// that is added later gets the present value first.
type listeners[T any] struct {
	mu  sync.Mutex
	all []*listener[T]
}

// listener is one of these functions.
type listener[T any] struct {
	mail  mailbox[T]
	check func(T) // checks the calls; nil: nothing does
}

// add calls the listener's function with the present value, if there is one, and with all later values. Present
// is called under the lock that tell takes, so that it gets each value once.
func (l *listeners[T]) add(one *listener[T], present func() (T, bool)) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, one)
	if v, ok := present(); ok {
		one.put(v)
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
		one.put(v)
	}
}

func (one *listener[T]) put(v T) {
	if one.check != nil {
		one.check(v)
	}
	one.mail.put(v)
}
