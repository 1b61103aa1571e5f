package why

import "github.com/incumbent-go/incumbent/events"

// blockSize is how many values a block has at most.
const blockSize = 1024

// blocks is a list of values that only grows. Nothing is copied when it does, so a list of a million has no second
// copy.
type blocks[T any] struct {
	all [][]T
	n   int
}

func (b *blocks[T]) len() int { return b.n }

func (b *blocks[T]) add(v T) {
	if b.n%blockSize == 0 {
		var block []T
		if b.n > 0 { // else there may be few of them
			block = make([]T, 0, blockSize)
		}
		b.all = append(b.all, block)
	}
	last := &b.all[len(b.all)-1]
	*last = append(*last, v)
	b.n++
}

// at returns the value with an index of less than len.
func (b *blocks[T]) at(i int) *T { return &b.all[i/blockSize][i%blockSize] }

// first returns the index of the first value of which is reports true, len if there is none. Behind such a value are
// only such values.
func (b *blocks[T]) first(is func(*T) bool) int {
	lo, hi := 0, b.n
	for lo < hi {
		if mid := (lo + hi) / 2; is(b.at(mid)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// brief is what is kept of every record.
type brief struct {
	seq, cause uint64
	at         int64
	machine    events.ID
	kind       events.Kind
	row        string
}

// packed is a brief with indexes in place of names, and without pointers.
type packed struct {
	seq, cause   uint64
	at           int64
	machine, row uint32
}

// taken is what many records have in common.
type taken struct {
	kind events.Kind
	row  string
}

// briefs are those of a log.
type briefs struct {
	blocks[packed]
	machines names[events.ID]
	rows     names[taken]
}

// names gives a number to each of some values.
type names[T comparable] struct {
	all     []T
	numbers map[T]uint32
}

func (n *names[T]) number(v T) uint32 {
	i, known := n.numbers[v]
	if !known {
		if n.numbers == nil {
			n.numbers = map[T]uint32{}
		}
		i = uint32(len(n.all))
		n.all, n.numbers[v] = append(n.all, v), i
	}
	return i
}

func (b *briefs) add(r brief) {
	b.blocks.add(packed{r.seq, r.cause, r.at, b.machines.number(r.machine), b.rows.number(taken{r.kind, r.row})})
}

func (b *briefs) at(i int) brief {
	p := b.blocks.at(i)
	took := b.rows.all[p.row]
	return brief{p.seq, p.cause, p.at, b.machines.all[p.machine], took.kind, took.row}
}

// numbered returns the brief of a record; its seq is 0 if there is none.
func (b *briefs) numbered(seq uint64) brief {
	i := b.first(func(p *packed) bool { return p.seq >= seq })
	if i == b.len() || b.blocks.at(i).seq != seq {
		return brief{}
	}
	return b.at(i)
}

// since returns the index of the first record at or after a reading of the log's clock.
func (b *briefs) since(at int64) int {
	return b.first(func(p *packed) bool { return p.at >= at })
}
