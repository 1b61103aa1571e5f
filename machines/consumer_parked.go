package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// maxParked bounds the failed items whose locks are kept for the next try. So a consumer whose items all fail leaves
// the rest to the others.
const maxParked = 16

// parkedItems are the items that a consumer tries again later: the parked ones, whose locks it keeps, and the deferred
// ones, which it cannot read and leaves to others.
type parkedItems struct {
	backoff     Policy // between tries
	parked      []holding
	deferred    map[string]deferral // items that cannot be read, by name
	lastRefusal failure             // why the last item was deferred
}

// deferPolicy sets the pauses between reads of an item that cannot be read: somebody has to change its
// access list first.
var deferPolicy = BoundedExponential(-1, 5*time.Second, 5*time.Minute)

// deferral is when an item that cannot be read is read again.
type deferral struct {
	due   int64
	times int
}

// isParked reports whether an item is parked here.
func (p *parkedItems) isParked(name string) bool {
	return slices.ContainsFunc(p.parked, func(h holding) bool { return h.Name == name })
}

// park keeps an item and its lock for the next try, which follows after so many tries. The chance, between 0 and 1,
// spreads the pause.
func (p *parkedItems) park(h holding, times int, at int64, chance float64) {
	wait, again := p.backoff.Next(times, 0, chance)
	if !again {
		wait = pauseAfterGiveUp
	}
	h.due = at + int64(wait)
	p.parked = append(p.parked, h)
}

// parkedDue reports whether a parked item is due.
func (p *parkedItems) parkedDue(ev events.Event) bool {
	i := p.earliest()
	return i >= 0 && p.parked[i].due <= ev.At
}

// earliest returns the index of the parked item that is due first; -1 if none is parked.
func (p *parkedItems) earliest() int {
	best := -1
	for i, h := range p.parked {
		if best < 0 || h.due < p.parked[best].due {
			best = i
		}
	}
	return best
}

// unparkAt removes the parked item with this index and returns it.
func (p *parkedItems) unparkAt(i int) *holding {
	h := p.parked[i]
	p.parked = slices.Delete(p.parked, i, i+1)
	return &h
}

// deferRead notes when an item is read again. The chance, between 0 and 1, spreads the pause.
func (p *parkedItems) deferRead(name string, at int64, chance float64) {
	one := p.deferred[name]
	wait, _ := deferPolicy.Next(one.times, 0, chance)
	p.deferred[name] = deferral{at + int64(wait), one.times + 1}
}

// isDeferred reports whether an item is not to be read yet.
func (p *parkedItems) isDeferred(name string, at int64) bool { return p.deferred[name].due > at }

// forgetGone forgets deferred items that do not exist any more.
func (p *parkedItems) forgetGone(listed []Item) {
	kept := map[string]deferral{}
	for _, i := range listed {
		if one, there := p.deferred[i.Name]; there {
			kept[i.Name] = one
		}
	}
	p.deferred = kept
}

// refusedCount returns how many items are deferred, or parked because their outcome was refused.
func (p *parkedItems) refusedCount() int {
	n := len(p.deferred)
	for _, h := range p.parked {
		if h.refusals > 0 {
			n++
		}
	}
	return n
}
