package engine

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// blockSize is how many envelopes a block of an inbox holds: a few kilobytes.
const blockSize = 16

// inbox is a queue of envelopes, in blocks: an envelope is large, so none is moved however many wait. Its user locks
// it.
type inbox struct {
	first, last *block
	free        *block // empty blocks, to be used again
	count       int
}

type block struct {
	envelopes []events.Envelope
	next      *block
}

func (q *inbox) add(env events.Envelope) {
	if q.last == nil || len(q.last.envelopes) == blockSize {
		b := q.block()
		if q.last == nil {
			q.first = b
		} else {
			q.last.next = b
		}
		q.last = b
	}
	q.last.envelopes = append(q.last.envelopes, env)
	q.count++
}

// block returns an empty block. The first one grows as it is filled: most inboxes never hold more than a few envelopes.
func (q *inbox) block() *block {
	b := q.free
	switch {
	case b != nil:
		q.free, b.next = b.next, nil
	case q.first == nil:
		b = &block{}
	default:
		b = &block{envelopes: make([]events.Envelope, 0, blockSize)}
	}
	return b
}

// take empties the inbox and returns its blocks.
func (q *inbox) take() *block {
	taken := q.first
	q.first, q.last, q.count = nil, nil, 0
	return taken
}

// give returns blocks that were taken and cleared, to be used again. Of the blocks that were not used since the last
// time one stays, for what is added while the others are taken. The rest is freed.
func (q *inbox) give(cleared *block) {
	if spare := q.free; spare != nil {
		spare.next, cleared = cleared, spare
	}
	q.free = cleared
}

// clear empties the blocks from this one on. It needs no lock.
func (b *block) clear() {
	for ; b != nil; b = b.next {
		clear(b.envelopes)
		b.envelopes = b.envelopes[:0]
	}
}

// withdraw deletes the first envelope of which match holds, and reports whether there was one.
func (q *inbox) withdraw(match func(events.Envelope) bool) bool {
	for b := q.first; b != nil; b = b.next {
		if n := slices.IndexFunc(b.envelopes, match); n >= 0 {
			b.envelopes = slices.Delete(b.envelopes, n, n+1)
			q.count--
			return true
		}
	}
	return false
}
