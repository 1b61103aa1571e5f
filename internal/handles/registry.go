package handles

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/incumbent-go/incumbent/events"
)

// Registry has the handle of each machine that a user, or the client itself, has opened. R is a handle.
type Registry[R any] struct {
	Closing atomic.Bool // no machine may be opened any longer

	mu     sync.Mutex
	all    map[events.ID]R
	opened map[string]int // how many of each recipe
}

// Of returns the machine's handle; false if it has none.
func (r *Registry[R]) Of(id events.ID) (handle R, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	handle, has = r.all[id]
	return handle, has
}

// Set sets the handle of a machine.
func (r *Registry[R]) Set(id events.ID, handle R) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(id, handle)
}

// set does what Set does. r.mu is held.
func (r *Registry[R]) set(id events.ID, handle R) {
	if r.all == nil {
		r.all = map[events.ID]R{}
	}
	r.all[id] = handle
}

// next names the next machine of this recipe. r.mu is held.
func (r *Registry[R]) next(recipe string) events.ID {
	if r.opened == nil {
		r.opened = map[string]int{}
	}
	r.opened[recipe]++
	return events.ID(recipe + "-" + strconv.Itoa(r.opened[recipe]))
}

// Recipe returns the name of the recipe of a machine.
func Recipe(id events.ID) string {
	recipe, _, _ := strings.Cut(string(id), "-")
	return recipe
}

// Open names a machine of this recipe, sets the handle that is made for it, and calls open. While Closing is set, it
// does nothing and returns false.
func (r *Registry[R]) Open(recipe string, made func(events.ID) R, open func(events.ID)) (id events.ID, opened bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Closing.Load() {
		return "", false
	}
	id = r.next(recipe)
	r.set(id, made(id))
	open(id)
	return id, true
}

// Add names a machine and sets the handle that is made for it, also while Closing is set.
func (r *Registry[R]) Add(recipe string, made func(events.ID) R) events.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.next(recipe)
	r.set(id, made(id))
	return id
}

// Remove removes the handle of a machine.
func (r *Registry[R]) Remove(id events.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, id)
}

// All returns all handles.
func (r *Registry[R]) All() map[events.ID]R {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.all)
}

// Close lets no machine be opened any longer, and returns all handles.
func (r *Registry[R]) Close() map[events.ID]R {
	r.Closing.Store(true)
	return r.All()
}
