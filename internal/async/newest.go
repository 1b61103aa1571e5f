package async

import (
	"container/list"
	"context"
	"sync"
)

// Newest passes values to one reader. Of each key it keeps only the newest: a slow reader misses values in between, but
// always gets the last.
type Newest[T any] struct {
	Ended, Closed <-chan struct{} // when one is closed, nothing more comes; nil: it never is

	// Merge returns one value for two of one key, the first of which was not read, and the place of the result. If it
	// is nil, the second replaces the first, at the end.
	Merge func(unread, next T) (T, MergePlace)
	// Check gets how many keys and how many values wait, after the value of a key was put; nil: nobody does.
	Check func(keys, values int, key string)

	mu      sync.Mutex
	pending list.List // of Items, one for each key
	byKey   map[string]*list.Element
	wake    chan struct{}
}

// Item is a value of a key, or an error.
type Item[T any] struct {
	Key   string
	Value T
	Err   error
}

// MergePlace is the place of the merged value of two.
type MergePlace int

const (
	AtEnd   MergePlace = iota // after all that waits
	InPlace                   // at the place of the first
	Dropped                   // there is nothing to pass
)

// NewNewest returns one without values.
func NewNewest[T any]() Newest[T] {
	return Newest[T]{byKey: map[string]*list.Element{}, wake: make(chan struct{}, 1)}
}

// Next waits for the next item; it returns false when the context, or what Ended and Closed stand for, has ended.
func (n *Newest[T]) Next(ctx context.Context) (Item[T], bool) {
	for {
		n.mu.Lock()
		if first := n.pending.Front(); first != nil {
			s := n.pending.Remove(first).(Item[T])
			delete(n.byKey, s.Key)
			n.mu.Unlock()
			return s, true
		}
		n.mu.Unlock()
		select {
		case <-n.wake:
		case <-n.Ended:
			return Item[T]{}, false
		case <-n.Closed:
			return Item[T]{}, false
		case <-ctx.Done():
			return Item[T]{}, false
		}
	}
}

// Put never blocks.
func (n *Newest[T]) Put(s Item[T]) {
	n.mu.Lock()
	n.add(s)
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *Newest[T]) add(s Item[T]) {
	to := AtEnd
	if unread := n.byKey[s.Key]; unread != nil {
		if n.Merge != nil {
			s.Value, to = n.Merge(unread.Value.(Item[T]).Value, s.Value)
		}
		if to == InPlace {
			unread.Value = s
			return
		}
		n.pending.Remove(unread)
		delete(n.byKey, s.Key)
	}
	if to == AtEnd {
		n.byKey[s.Key] = n.pending.PushBack(s)
	}
	if n.Check != nil {
		n.Check(len(n.byKey), n.pending.Len(), s.Key)
	}
}
