package discovery

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
)

// CacheOptions are the options of a cache. The zero value is good.
type CacheOptions struct {
	// MaxInstances is how many nodes the service may have. If there are more, the cache ends, with ErrTooMany.
	// Default: 100,000 less one.
	MaxInstances int
	// Retry sets the pauses between attempts after a failure. Attempts never end.
	Retry incumbent.RetryPolicy
}

// View is what is known of a service's instances. It is a view of the past: it proves nothing about the present.
type View struct {
	Service    string
	Instances  []Found            // the readable ones, in the order of their nodes' names
	Unreadable []*UnreadableError // nodes that are no instances, or that may not be read, in the same order
	// Stale says that there is no connection, or that not all has been read again since, or that the cache was closed.
	Stale bool
	// Age is for how long the view has been stale; 0 if it is not. The client notices the loss of a connection up to
	// two thirds of a session timeout late: the view may be older by that.
	Age time.Duration
}

// Cache keeps the instances of one service in memory: Curator's ServiceCache. It sets two watches for each instance
// and reads each change once. Without a connection it goes on answering with what it had, and says how old that is. It
// has one goroutine. All its methods are safe to call from any goroutine.
type Cache struct {
	d       *Discovery
	service string
	tree    *incumbent.TreeCache
	ended   chan struct{} // closed when no more changes come

	mu         sync.Mutex
	found      map[string]Found // by node, as unreadable
	unreadable map[string]*UnreadableError
	sorted     []Found // of found; nil: has to be made
	staleSince time.Time
	ready      chan struct{} // closed when all was read once
	version    int           // of the view
	failure    error         // why the cache has ended before it was closed
	refused    error         // what failed since all was read last
	readers    map[*reader]bool
}

// reader is a loop over Cache.Watch.
type reader struct {
	wake chan struct{} // has room for one
	err  error         // that was not yielded yet
}

// Cache returns a cache of a service that begins to read at once. WaitReady waits until it has read everything; the
// service need not have a directory. The error is ErrInstance, what is wrong with the options, or incumbent.ErrClosed.
func (d *Discovery) Cache(service string, options CacheOptions) (*Cache, error) {
	if err := checkName("service", service); err != nil {
		return nil, err
	}
	if options.MaxInstances < 0 {
		return nil, bad("MaxInstances %d: want at least 1, or 0 for the default", options.MaxInstances)
	}
	treeOptions := incumbent.TreeCacheOptions{Depth: 1, Retry: options.Retry}
	if options.MaxInstances > 0 {
		treeOptions.MaxNodes = options.MaxInstances + 1
	}
	c := &Cache{
		d: d, service: service, ended: make(chan struct{}), found: map[string]Found{},
		unreadable: map[string]*UnreadableError{},
		staleSince: time.Now(), ready: make(chan struct{}), readers: map[*reader]bool{},
	}
	err := d.add(c, func() (err error) {
		if c.tree, err = d.client.TreeCache(d.dir(service), treeOptions); err != nil {
			return err
		}
		return c.tree.Start()
	})
	if err != nil {
		return nil, err
	}
	go c.follow()
	return c, nil
}

// follow takes the tree's changes until the cache or the client is closed.
func (c *Cache) follow() {
	defer c.d.remove(c)
	defer close(c.ended)
	for change, err := range c.tree.Changes(context.Background()) {
		c.apply(change, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.becomeStale()
}

// becomeStale is called with the lock.
func (c *Cache) becomeStale() {
	if c.staleSince.IsZero() {
		c.staleSince = time.Now()
	}
	c.changed(nil)
}

// apply takes one change of the tree, or its failure.
func (c *Cache) apply(change incumbent.TreeChange, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, incumbent.ErrTreeTooLarge) {
		c.failure = errors.Join(ErrTooMany, err)
		c.becomeStale()
	}
	if err != nil {
		c.refused = err
		c.changed(err)
		return
	}
	switch change.Kind {
	case incumbent.TreeReady:
		c.staleSince, c.refused = time.Time{}, nil
		select {
		case <-c.ready:
		default:
			close(c.ready)
		}
	case incumbent.TreeStale:
		c.becomeStale()
		return
	default:
		if change.Path == c.tree.Path() {
			return // the directory: why it cannot be read is an error of the feed
		}
		c.set(change)
	}
	c.changed(nil)
}

// set takes a change of an instance's node; with the lock.
func (c *Cache) set(change incumbent.TreeChange) {
	node := change.Path[len(c.tree.Path())+1:]
	c.sorted = nil
	delete(c.found, node)
	delete(c.unreadable, node)
	if change.Kind == incumbent.NodeRemoved {
		return
	}
	found, err := read(node, change.Data, change.Stat.EphemeralOwner, change.Err)
	if err != nil {
		c.unreadable[node] = &UnreadableError{c.service, node, err}
		return
	}
	c.found[node] = found
}

// changed wakes the readers; with the lock.
func (c *Cache) changed(err error) {
	c.version++
	for r := range c.readers {
		if err != nil {
			r.err = err
		}
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// WaitReady returns when all instances were read once: there may be none. If the context ends first, the error says
// why not all was read.
//
// Errors: ErrTooMany, incumbent.ErrClosed, or the context's.
func (c *Cache) WaitReady(ctx context.Context) error {
	err := c.tree.WaitReady(ctx)
	if err == nil {
		select {
		case <-c.ready:
			return nil
		case <-c.ended:
			err = incumbent.ErrClosed
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if errors.Is(err, incumbent.ErrTreeTooLarge) {
		return errors.Join(ErrTooMany, err)
	}
	return err
}

// Err returns why the cache cannot read now; nil if nothing is wrong.
func (c *Cache) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.failure, c.tree.Err())
}

// View returns what is known now, without a request.
func (c *Cache) View() View {
	v, _ := c.view()
	return v
}

// view returns the view and its version.
func (c *Cache) view() (View, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, age, stale := c.sortedNow()
	v := View{Service: c.service, Instances: slices.Clone(found), Stale: stale, Age: age}
	for i := range v.Instances {
		v.Instances[i].Age = age
	}
	for _, node := range slices.Sorted(maps.Keys(c.unreadable)) {
		v.Unreadable = append(v.Unreadable, c.unreadable[node])
	}
	return v, c.version
}

// snapshot returns the readable instances, which must not be changed, and for how long they have been stale.
func (c *Cache) snapshot() (found []Found, age time.Duration, stale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sortedNow()
}

// sortedNow is snapshot, called with the lock.
func (c *Cache) sortedNow() (found []Found, age time.Duration, stale bool) {
	if c.sorted == nil {
		for _, node := range slices.Sorted(maps.Keys(c.found)) {
			c.sorted = append(c.sorted, c.found[node])
		}
	}
	if stale = !c.staleSince.IsZero(); stale {
		age = time.Since(c.staleSince)
	}
	return c.sorted, age, stale
}

// Watch returns a feed of the view: now, once everything was read, and whenever it changes or becomes stale, until the
// context ends, the cache is closed or the loop is left. A slow loop misses views in between and never the last. An
// error (no permission, say) is yielded too, and watching goes on; the ends of the context and of the cache are not
// yielded. The loop's body may call anything.
func (c *Cache) Watch(ctx context.Context) iter.Seq2[View, error] {
	return func(yield func(View, error) bool) {
		r := &reader{wake: make(chan struct{}, 1)}
		r.wake <- struct{}{}
		c.mu.Lock()
		r.err = cmp.Or(c.failure, c.refused)
		c.readers[r] = true
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.readers, r)
		}()
		for last := -1; ; {
			select {
			case <-r.wake:
			case <-c.ended:
				return
			case <-ctx.Done():
				return
			}
			if err := c.takeError(r); err != nil && !yield(View{Service: c.service}, err) {
				return
			}
			view, version := c.view()
			if version == last || !c.isReady() {
				continue
			}
			if last = version; !yield(view, nil) {
				return
			}
		}
	}
}

// takeError returns the error that a reader has not seen yet.
func (c *Cache) takeError(r *reader) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := r.err
	r.err = nil
	return err
}

func (c *Cache) isReady() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}

// Close ends the cache and the loops over Watch; what was read stays readable, and providers pick no more. Closing
// twice is no error; if the context ends first, Close returns its error.
func (c *Cache) Close(ctx context.Context) error {
	if err := c.tree.Close(ctx); err != nil {
		return err
	}
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Watch returns a feed of a service's instances from a cache that lives as long as the loop over it: see Cache.Watch.
// An error that keeps the cache from being opened ends the feed.
func (d *Discovery) Watch(ctx context.Context, service string) iter.Seq2[View, error] {
	return func(yield func(View, error) bool) {
		c, err := d.Cache(service, CacheOptions{})
		if err != nil {
			yield(View{Service: service}, err)
			return
		}
		defer func() { _ = c.Close(ctx) }() // an error is the context's: the close goes on
		for view, err := range c.Watch(ctx) {
			if !yield(view, err) {
				return
			}
		}
	}
}
