package incumbent

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/incumbent-go/incumbent/internal/usercode"
)

// maxUncalled is how many values wait for one listener, hook or logger at most.
const maxUncalled = 1024

// mailbox calls a function with one value after another, on a goroutine of its own, which exists
// only while there are values. put never blocks, so that the loop can use it. A slow or panicking
// function delays no other mailbox.
type mailbox[T any] struct {
	f        func(T)
	panicked func(*usercode.Error)
	most     int            // how many values wait; 0: however many are put
	dropped  *atomic.Uint64 // counts those that were not passed on; nil: nobody asks
	// squeeze returns what waits when v comes and there is no room. nil: v is dropped.
	squeeze func(waiting []T, v T) []T
	// missing returns a value that says how many were dropped before it. nil: none says so.
	missing func(n uint64) T

	mu     sync.Mutex
	queue  []T
	busy   bool
	missed uint64 // dropped since the last value that had room
}

// calls is a mailbox of functions.
type calls = mailbox[func()]

func newCalls(panicked func(*usercode.Error)) *calls {
	return &calls{f: func(f func()) { f() }, panicked: panicked}
}

func (m *mailbox[T]) put(v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.most > 0 && len(m.queue) >= m.most {
		m.full(v)
		return
	}
	m.add(v)
}

// putLast is put, also if there is no room.
func (m *mailbox[T]) putLast(v T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(v)
}

// add has a value wait, behind what says how many were dropped. The caller holds the lock.
func (m *mailbox[T]) add(v T) {
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
func (m *mailbox[T]) full(v T) {
	if m.squeeze == nil {
		m.missed++
		m.count(1)
		return
	}
	before := len(m.queue) + 1
	m.queue = m.squeeze(m.queue, v)
	m.count(before - len(m.queue))
}

func (m *mailbox[T]) count(n int) {
	if m.dropped != nil {
		m.dropped.Add(uint64(n))
	}
}

// gap returns the value that says how many were dropped, if any were. The caller holds the lock.
func (m *mailbox[T]) gap() (v T, missed bool) {
	if m.missed == 0 || m.missing == nil {
		return v, false
	}
	v, m.missed = m.missing(m.missed), 0
	return v, true
}

func (m *mailbox[T]) run() {
	for {
		m.mu.Lock()
		v, more := m.next()
		if !more {
			m.busy, m.queue = false, nil
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		m.call(v, m.run)
	}
}

// next takes the value that is passed on next. The caller holds the lock.
func (m *mailbox[T]) next() (v T, more bool) {
	if len(m.queue) == 0 {
		return m.gap()
	}
	v, m.queue = m.queue[0], m.queue[1:]
	return v, true
}

// call passes one value on. If the function ends the goroutine, the rest runs in another.
func (m *mailbox[T]) call(v T, rest func()) {
	usercode.Run(func() error { m.f(v); return nil }, func(err error) {
		var failed *usercode.Error
		if !errors.As(err, &failed) {
			return
		}
		if m.panicked != nil {
			m.panicked(failed)
		}
		if failed.Panic == nil {
			go rest()
		}
	})
}
