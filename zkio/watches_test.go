package zkio

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// sound compares the two lists of waiters.
func (w *watches) sound() error {
	listed, count := 0, 0
	for id, first := range w.machines {
		if first == nil || first.before != nil {
			return fmt.Errorf("the list of %s begins with %+v", id, first)
		}
		for one := first; one != nil; one = one.nextOfID {
			if listed++; !w.listed(one) || one.id != id ||
				!w.waits(one.path, func(other *waiter) bool { return other == one }) {
				return fmt.Errorf("%s has %+v", id, one)
			}
		}
	}
	for path, first := range w.waiters {
		if first == nil {
			return fmt.Errorf("nobody waits for %s", path)
		}
		last := first
		for one := range first.all() {
			count++
			if one.order < last.order {
				return fmt.Errorf("%s has %d behind %d", path, one.order, last.order)
			}
			last = one
		}
	}
	if listed != count {
		return fmt.Errorf("%d are listed, and %d wait", listed, count)
	}
	return nil
}

// waits reports whether one of a path's waiters is such.
func (w *watches) waits(path string, such func(*waiter) bool) bool {
	for one := range w.waiters[path].all() {
		if such(one) {
			return true
		}
	}
	return false
}

// Machines set watches, get their events, fail or are forgotten in any order: both lists
// stay the same set, and a machine that is forgotten waits for nothing.
func TestWatchesAtRandom(t *testing.T) {
	dice := rand.New(rand.NewSource(1))
	var w watches
	var asked []*call
	for range 20_000 {
		id, path := events.ID(fmt.Sprint("m", dice.Intn(4))), fmt.Sprint("/", dice.Intn(6))
		switch dice.Intn(8) {
		case 0, 1, 2:
			c := &call{id: id, path: path, watch: []watchKind{dataWatch, existWatch, childWatch}[dice.Intn(3)]}
			w.subscribe(c)
			asked = append(asked, c)
		case 3, 4, 5:
			if len(asked) > 0 {
				w.settle(asked[0],
					[]events.Code{events.OK, events.OK, events.NoNode, events.ConnectionLoss}[dice.Intn(4)])
				asked = asked[1:]
			}
		case 6:
			kinds := []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren}
			w.fire(kinds[dice.Intn(4)], path)
		case 7:
			if dice.Intn(4) == 0 {
				w.forget(id)
				if w.machines[id] != nil || w.waits(path, func(one *waiter) bool { return one.id == id }) {
					t.Fatalf("%s was forgotten, and waits", id)
				}
			}
		}
		if err := w.sound(); err != nil {
			t.Fatal(err)
		}
	}
}

// The cost of a watch of a machine does not grow with the number of its watches: a tree
// cache may have 200,000.
func BenchmarkWatchesOfOneMachine(b *testing.B) {
	for _, many := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			var w watches
			arm := func(i int) {
				c := &call{id: "treecache", path: fmt.Sprint("/", i), watch: dataWatch}
				w.subscribe(c)
				w.settle(c, events.OK)
			}
			for i := range many {
				arm(i)
			}
			for i := 0; b.Loop(); i++ {
				w.fire(events.WatchChanged, fmt.Sprint("/", i%many))
				arm(i % many)
			}
		})
	}
}

func BenchmarkForgettingAMachine(b *testing.B) {
	for _, many := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				var w watches
				for i := range many {
					c := &call{id: "treecache", path: fmt.Sprint("/", i), watch: dataWatch}
					w.subscribe(c)
					w.settle(c, events.OK)
				}
				b.StartTimer()
				w.forget("treecache")
			}
		})
	}
}
