package agent

import (
	"sync"
	"time"
)

const (
	lookEvery  = 5 * time.Millisecond
	holdsEvery = 50 * time.Millisecond // a belief that goes on is written, in case the process is killed
)

// beliefs has what every handle believes, by its name.
type beliefs struct {
	say func(format string, args ...any)

	mu  sync.Mutex
	all map[string]*belief
}

// belief is one handle's.
type belief struct {
	believes      func() bool
	holds         bool // when it was asked last
	last, written int64
}

// keep has a handle asked from now on, and asks it.
func (b *beliefs) keep(name string, believes func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[name] == nil {
		b.all[name] = &belief{}
	}
	b.ask(name, b.all[name], 0) // what it was until now has ended
	b.all[name].believes = believes
	b.ask(name, b.all[name], 0)
}

// look asks one handle, if there is such a one: a term that is short may begin and end between two looks at all.
func (b *beliefs) look(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all[name] != nil {
		b.ask(name, b.all[name], 0)
	}
}

// watch asks every handle again and again.
func (b *beliefs) watch(over <-chan struct{}) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		b.mu.Lock()
		for name, one := range b.all {
			b.ask(name, one, holdsEvery)
		}
		b.mu.Unlock()
	}
}

// ask writes what is certain: "leads" is a time at which the handle believed already, "holds", at most once within a
// time, and "stops" are times at which it believed still.
func (b *beliefs) ask(name string, one *belief, within time.Duration) {
	before := Now()
	holds := one.believes != nil && one.believes()
	after := Now()
	switch {
	case holds && !one.holds:
		b.say("belief %s leads %d", name, after)
		one.last, one.written = after, after
	case holds:
		one.last = before
		if one.last-one.written > int64(within) {
			b.say("belief %s holds %d", name, one.last)
			one.written = one.last
		}
	case one.holds:
		b.say("belief %s stops %d", name, one.last)
	}
	one.holds = holds
}
