package incumbent

import "sync"

// mailbox calls functions one after another on a goroutine of its own, which exists only
// while there are functions to call. put never blocks, so that the loop can use it. A slow
// or panicking function delays no other mailbox.
type mailbox struct {
	panicked func(any)
	broken   func(at, format string, args ...any) // reports a broken invariant; nil: they are not checked

	mu    sync.Mutex
	queue []func()
	busy  bool
}

func (m *mailbox) put(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, f)
	if m.broken != nil && len(m.queue) > maxUncalled {
		m.broken("a call of a user's function", "%d calls wait, of at most %d", len(m.queue), maxUncalled)
	}
	if !m.busy {
		m.busy = true
		go m.run()
	}
}

func (m *mailbox) run() {
	idle := false
	defer func() {
		if !idle { // a function ended the goroutine: the rest runs in another
			go m.run()
		}
	}()
	for {
		m.mu.Lock()
		if len(m.queue) == 0 {
			m.busy, m.queue, idle = false, nil, true
			m.mu.Unlock()
			return
		}
		f := m.queue[0]
		m.queue = m.queue[1:]
		m.mu.Unlock()
		m.call(f)
	}
}

func (m *mailbox) call(f func()) {
	defer func() {
		if p := recover(); p != nil && m.panicked != nil {
			m.panicked(p)
		}
	}()
	f()
}
