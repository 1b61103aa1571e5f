package engine

import (
	"testing"
	"unsafe"

	"github.com/incumbent-go/incumbent/events"
)

// numbers returns the requests of the envelopes in the blocks.
func numbers(b *block) (all []uint64) {
	for ; b != nil; b = b.next {
		for _, env := range b.envelopes {
			all = append(all, env.Event.Request)
		}
	}
	return all
}

// However many are added, taken and withdrawn, in how many rounds, what is taken is what was added, in order.
func TestAnInboxKeepsItsOrder(t *testing.T) {
	var q inbox
	next := uint64(0)
	for _, n := range []int{1, 3, blockSize, blockSize + 1, 5 * blockSize, 2, 0, 3 * blockSize, 1} {
		var want []uint64
		for i := range n {
			q.add(events.Envelope{Event: events.Event{Request: next}})
			if i%7 != 3 {
				want = append(want, next)
			}
			next++
		}
		for i := next - uint64(n); i < next; i++ {
			is := func(env events.Envelope) bool { return env.Event.Request == i }
			if (i-(next-uint64(n)))%7 == 3 && !q.withdraw(is) {
				t.Fatalf("%d is not there", i)
			}
		}
		if q.count != len(want) || q.withdraw(func(events.Envelope) bool { return false }) {
			t.Fatalf("%d wait, want %d", q.count, len(want))
		}
		taken := q.take()
		got := numbers(taken)
		if len(got) != len(want) || q.count != 0 || q.take() != nil {
			t.Fatalf("took %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("took %v, want %v", got, want)
			}
		}
		taken.clear()
		q.give(taken)
	}
}

// What many events took is freed after the next turn with few, and an envelope is written once.
func TestWhatAnInboxHolds(t *testing.T) {
	var q inbox
	turn := func(n int) {
		for range n {
			q.add(events.Envelope{To: "latch"})
		}
		taken := q.take()
		taken.clear()
		q.give(taken)
	}
	free := func() (n int) {
		for b := q.free; b != nil; b = b.next {
			if n += cap(b.envelopes); b.envelopes[:1][0].To != "" {
				t.Fatal("an envelope is kept")
			}
		}
		return n
	}
	const many = 1000
	turn(many)
	if n := free(); n < many || n > many+2*blockSize {
		t.Errorf("room for %d after %d, want as much", n, many)
	}
	if n := testing.AllocsPerRun(10, func() { turn(many) }); n != 0 {
		t.Errorf("%v objects for a turn as long as the last one", n)
	}
	turn(1)
	if n := free(); n > 2*blockSize {
		t.Errorf("room for %d is kept after a turn of one", n)
	}
	meanwhile := func() {
		q.add(events.Envelope{})
		taken := q.take()
		q.add(events.Envelope{}) // while the loop steps what it has taken
		taken.clear()
		q.give(taken)
		turn(0)
		turn(1)
	}
	meanwhile()
	if n := testing.AllocsPerRun(10, meanwhile); n != 0 {
		t.Errorf("%v objects for turns, of which some have events added meanwhile", n)
	}
	if size := unsafe.Sizeof(events.Envelope{}) * blockSize; size > 16<<10 {
		t.Errorf("a block has %d bytes", size)
	}
}
