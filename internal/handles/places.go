package handles

import (
	"context"
	"sync"

	"github.com/incumbent-go/incumbent/internal/fault"
)

// Places are what a client can have only once, because the session is all that identifies it there.
type Places struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when the place is free
}

// Reserve reserves a place. It returns false if it is reserved already. Free undoes it.
func (p *Places) Reserve(place string) bool {
	_, ok := p.try(place)
	return ok
}

// try reserves a place, or returns what is closed when it is free.
func (p *Places) try(place string) (freed <-chan struct{}, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if freed, taken := p.taken[place]; taken {
		return freed, false
	}
	if p.taken == nil {
		p.taken = map[string]chan struct{}{}
	}
	p.taken[place] = make(chan struct{})
	return nil, true
}

// ReserveWhenFree waits until the place is free. It returns the context's cause, or ErrClosed.
func (p *Places) ReserveWhenFree(ctx context.Context, closed <-chan struct{}, place string) error {
	for {
		freed, ok := p.try(place)
		if ok {
			return nil
		}
		select {
		case <-freed:
		case <-closed:
			return fault.ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Free frees a place that was reserved.
func (p *Places) Free(place string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if freed, taken := p.taken[place]; taken {
		close(freed)
		delete(p.taken, place)
	}
}
