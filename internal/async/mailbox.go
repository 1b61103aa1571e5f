package async

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/incumbent-go/incumbent/internal/usercode"
)

// MaxUncalled is how many values wait for one listener, hook or logger at most.
const MaxUncalled = 1024

// Mailbox calls a function with one value after another, on a goroutine of its own, which exists
// only while there are values. Put never blocks, so that the loop can use it. A slow or panicking
// function delays no other mailbox.
type Mailbox[T any] struct {
	Func     func(T)
	Panicked func(*usercode.Error)
	Max      int            // how many values wait; 0: however many are put
	Dropped  *atomic.Uint64 // counts those that were not passed on; nil: nobody asks
	// Squeeze returns what waits when v comes and there is no room. nil: v is dropped.
	Squeeze func(waiting []T, v T) []T
	// Missing returns a value that says how many were dropped before it. nil: none says so.
	Missing func(n uint64) T

	mu     sync.Mutex
	queue  []T
	busy   bool
	missed uint64 // dropped since the last value that had room
}

// Calls is a mailbox of functions.
type Calls = Mailbox[func()]

// NewCalls returns a mailbox that calls the functions. Panicked, if it is not nil, gets what did not return.
func NewCalls(panicked func(*usercode.Error)) *Calls {
	return &Calls{Func: func(f func()) { f() }, Panicked: panicked}
}

// Put has v passed on. If there is no room, v or what Squeeze leaves out is dropped and counted.
func (m *Mailbox[T]) Put(v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Max > 0 && len(m.queue) >= m.Max {
		m.full(v)
		return
	}
	m.add(v)
}

// PutLast is Put, also if there is no room.
func (m *Mailbox[T]) PutLast(v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(v)
}

// add has a value wait, behind what says how many were dropped. The caller holds the lock.
func (m *Mailbox[T]) add(v T) {
	if gap, missed := m.gap(); missed {
		m.queue = append(m.queue, gap)
	}
	m.queue = append(m.queue, v)
	if !m.busy {
		m.busy = true
		go m.run()
	}
}

// full makes do without room. The caller holds the lock, and the goroutine runs.
func (m *Mailbox[T]) full(v T) {
	if m.Squeeze == nil {
		m.missed++
		m.count(1)
		return
	}
	before := len(m.queue) + 1
	m.queue = m.Squeeze(m.queue, v)
	m.count(before - len(m.queue))
}

// Waiting returns how many values wait, and the one that says how many were dropped, if it does.
func (m *Mailbox[T]) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}

func (m *Mailbox[T]) count(n int) {
	if m.Dropped != nil {
		m.Dropped.Add(uint64(n))
	}
}

// gap returns the value that says how many were dropped, if any were. The caller holds the lock.
func (m *Mailbox[T]) gap() (v T, missed bool) {
	if m.missed == 0 || m.Missing == nil {
		return v, false
	}
	v, m.missed = m.Missing(m.missed), 0
	return v, true
}

func (m *Mailbox[T]) run() {
	for {
		m.mu.Lock()
		v, more := m.next()
		if !more {
			m.busy, m.queue = false, nil
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		m.Call(v, m.run)
	}
}

// next takes the value that is passed on next. The caller holds the lock.
func (m *Mailbox[T]) next() (v T, more bool) {
	if len(m.queue) == 0 {
		return m.gap()
	}
	v, m.queue = m.queue[0], m.queue[1:]
	return v, true
}

// Call passes one value on. If the function ends the goroutine, the rest runs in another.
func (m *Mailbox[T]) Call(v T, rest func()) {
	usercode.Run(func() error { m.Func(v); return nil }, func(err error) {
		var failed *usercode.Error
		if !errors.As(err, &failed) {
			return
		}
		if m.Panicked != nil {
			m.Panicked(failed)
		}
		if failed.Panic == nil {
			go rest()
		}
	})
}
