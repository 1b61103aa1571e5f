package engine

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// Machines that close leave gaps in the order of creation. All others keep their order, and the
// gaps are closed before they are more than the machines.
func TestTheOrderOfMachinesHasFewGaps(t *testing.T) {
	dice := rand.New(rand.NewSource(1))
	s := newScene()
	var alive []events.ID
	for i := range 3000 {
		if dice.Intn(3) > 0 == (i < 1500) || len(alive) == 0 {
			id := events.ID(fmt.Sprint("m", i))
			s.feed(id, events.Event{Kind: events.CommandOpen, Recipe: "worker"})
			alive = append(alive, id)
		} else {
			gone := dice.Intn(len(alive))
			s.forget(alive[gone])
			alive = slices.Delete(alive, gone, gone+1)
		}
		isSession := func(id events.ID) bool { return id == events.SessionMachine }
		if got := slices.DeleteFunc(s.Machines(), isSession); !slices.Equal(got, alive) {
			t.Fatalf("the machines are %v, want %v", got, alive)
		}
		if len(s.order) > 2*len(s.machines)+minGaps {
			t.Fatalf("%d places for %d machines", len(s.order), len(s.machines))
		}
	}
}

// Timers that are set and stopped at random fire in the order of their instants.
func TestTimersAtRandom(t *testing.T) {
	dice := rand.New(rand.NewSource(1))
	var all timers
	running := map[uint64]int64{}
	for number := range uint64(5000) {
		at := int64(dice.Intn(1000))
		all.set("m", number, 0, at)
		running[number] = at
		if dice.Intn(2) == 0 {
			stopped := uint64(dice.Intn(int(number) + 1))
			all.stop("m", stopped)
			delete(running, stopped)
		}
	}
	last := timer{at: -1}
	for range len(running) {
		one := all.take()
		if at, runs := running[one.number]; !runs || at != one.at || earlier(last, one) > 0 {
			t.Fatalf("timer %+v fired after %+v; it runs: %t", one, last, runs)
		}
		last = one
	}
	if _, more := all.next(); more || len(all.heap.where) > 0 {
		t.Errorf("%d timers are left", len(all.heap.where))
	}
}
