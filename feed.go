package incumbent

import (
	"container/list"
	"context"
	"iter"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// feed passes what is seen to one reader. Of each key it keeps only the newest value: a
// slow reader misses values in between, but always gets the last.
type feed[T any] struct {
	client  *Client
	ended   <-chan struct{} // closed when nothing more comes; nil if only the end of the client counts
	onClose []func()        // called when the loop over the feed ends

	// merge returns one value for two of one key, the first of which was not read, and the
	// place of the result. If merge is nil, the second replaces the first, at the end.
	merge func(unread, next T) (T, mergePlace)

	mu      sync.Mutex
	pending list.List // of feedItems, one for each key
	byKey   map[string]*list.Element
	wake    chan struct{}
}

type feedItem[T any] struct {
	key   string
	value T
	err   error
}

// mergePlace is the place of the merged value of two.
type mergePlace int

const (
	atEnd   mergePlace = iota // after all that waits
	inPlace                   // at the place of the first
	dropped                   // there is nothing to pass
)

// errorKey is the key of errors.
const errorKey = "error"

func newFeed[T any](c *Client) *feed[T] {
	return &feed[T]{client: c, byKey: map[string]*list.Element{}, wake: make(chan struct{}, 1)}
}

// stream returns a feed as an iterator. When a loop over it begins, look opens the machines
// for it. They are closed when the loop ends, or immediately if look fails.
func stream[T any](ctx context.Context, c *Client, look func(*feed[T]) error) iter.Seq2[T, error] {
	c.check(ctx)
	return func(yield func(T, error) bool) {
		f := newFeed[T](c)
		defer f.close()
		if err := look(f); err != nil {
			var none T
			yield(none, err)
			return
		}
		for {
			s, ok := f.next(ctx)
			if !ok || !yield(s.value, s.err) {
				return
			}
		}
	}
}

// watch opens a machine that watches, and starts it, without waiting for it. The machine's
// notices go to tell, on the loop's goroutine. The error is ErrClosed.
func (f *feed[T]) watch(recipe string, open events.Event, tell func(events.Notify, zkio.Kept)) error {
	o := &watchHandle{}
	o.onNotice = func(n events.Notify) {
		if n.What == events.Failed {
			f.put(feedItem[T]{key: errorKey, err: asError(n.Code, n.Text)})
			return
		}
		tell(n, o.takeKept(n.Work))
	}
	o.init(f.client, open.Path)
	_, err := f.client.register(recipe, func(id events.ID) receiver {
		o.id = id
		return o
	}, open)
	if err != nil {
		return asCallError("watch", open.Path, err)
	}
	f.onClose = append(f.onClose, func() { f.client.post(o.id, events.Event{Kind: events.CommandClose}) })
	f.client.post(o.id, events.Event{Kind: events.CommandStart})
	return nil
}

func (f *feed[T]) close() {
	for _, leave := range f.onClose {
		leave()
	}
}

// next waits for the next item; it returns false when the context or the client has ended.
func (f *feed[T]) next(ctx context.Context) (feedItem[T], bool) {
	for {
		f.mu.Lock()
		if first := f.pending.Front(); first != nil {
			s := f.pending.Remove(first).(feedItem[T])
			delete(f.byKey, s.key)
			f.mu.Unlock()
			return s, true
		}
		f.mu.Unlock()
		select {
		case <-f.wake:
		case <-f.ended:
			return feedItem[T]{}, false
		case <-f.client.closed:
			return feedItem[T]{}, false
		case <-ctx.Done():
			return feedItem[T]{}, false
		}
	}
}

// put never blocks, so that the loop can use it.
func (f *feed[T]) put(s feedItem[T]) {
	f.mu.Lock()
	f.add(s)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed[T]) add(s feedItem[T]) {
	to := atEnd
	if unread := f.byKey[s.key]; unread != nil {
		if f.merge != nil {
			s.value, to = f.merge(unread.Value.(feedItem[T]).value, s.value)
		}
		if to == inPlace {
			unread.Value = s
			return
		}
		f.pending.Remove(unread)
		delete(f.byKey, s.key)
	}
	if to == atEnd {
		f.byKey[s.key] = f.pending.PushBack(s)
	}
	f.client.invariants.feeds(len(f.byKey), f.pending.Len(), s.key)
}
