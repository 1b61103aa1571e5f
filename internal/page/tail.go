package page

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
)

// Budget is how many records several logs may have together, so that the rows of all are kept: with more of them, those
// of the last time are, by the clocks of their hosts when the logs began. It is safe for concurrent use.
type Budget struct {
	Most  int
	read  atomic.Int64
	floor atomic.Int64 // rows of before are not kept

	mu   sync.Mutex
	logs []*Rows
	full int // rows in full blocks
}

// blockRows is how many rows come and go at once.
const blockRows = 256

// Spent reports whether the logs have more records than that.
func (b *Budget) Spent() bool { return b != nil && b.read.Load() > int64(b.Most) }

// Within has not many more rows kept than the budget allows. It returns k.
func (k *Rows) Within(b *Budget) *Rows {
	if t, err := time.Parse(time.RFC3339Nano, k.header.Start); err == nil {
		k.wall = t.UnixNano()
	}
	k.budget = b
	b.mu.Lock()
	defer b.mu.Unlock()
	b.logs = append(b.logs, k)
	return k
}

// takes reports whether the row of a record that was read is to be kept.
func (b *Budget) takes(k *Rows, at int64) bool {
	b.read.Add(1)
	if k.wallOf((at-k.header.StartAt)/1000) < b.floor.Load() {
		if !k.below { // what is kept is of before, too
			b.drop(k)
			k.below = true
		}
		return false
	}
	k.below = false
	if b.Spent() && !k.spent {
		k.strings, k.spent = map[string]string{}, true // most of them have gone
	}
	if len(k.rows) == blockRows {
		b.add(k)
	}
	return true
}

// wallOf returns the time of a row by its host's clock, nanoseconds since 1970. At is the row's.
func (k *Rows) wallOf(at int64) int64 { return k.wall + 1000*at }

// drop drops all rows of a log.
func (b *Budget) drop(k *Rows) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full -= blockRows * len(k.full)
	k.full, k.rows, k.dropped = nil, nil, true
}

// add makes the rows of a log a full block, and drops the oldest blocks that are too many.
func (b *Budget) add(k *Rows) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k.full, k.rows = append(k.full, k.rows), make([]row, 0, blockRows)
	most := b.Most + b.Most/8 + blockRows*len(b.logs) // a block of each may be of before in part
	for b.full += blockRows; b.full > most; b.full -= blockRows {
		var oldest *Rows
		end := int64(0) // of the oldest block
		for _, l := range b.logs {
			if len(l.full) == 0 {
				continue
			}
			if at := l.wallOf(l.full[0][blockRows-1].at); oldest == nil || at < end {
				oldest, end = l, at
			}
		}
		oldest.full[0] = nil
		oldest.full, oldest.dropped = oldest.full[1:], true
		b.floor.Store(max(b.floor.Load(), end))
	}
}

// each returns all rows that are kept.
func (k *Rows) each() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, block := range append(k.full[:len(k.full):len(k.full)], k.rows) {
			for i := range block {
				if !yield(&block[i]) {
					return
				}
			}
		}
	}
}

// Only leaves the rows of a part of the log, and reports whether all of those are kept. It is called when the log was
// read.
func (k *Rows) Only(part why.Part) bool {
	var some []row
	first := uint64(0)
	for r := range k.each() {
		seq := uint64(r.seq)
		if first == 0 {
			first = seq
		}
		if seq >= part.From && seq <= part.To {
			some = append(some, *r)
		}
	}
	if part.From <= part.To && k.dropped && (first == 0 || first > part.From) {
		return false
	}
	k.full, k.rows, k.strings, k.r = nil, some, map[string]string{}, why.NoRecords{}
	return true
}
