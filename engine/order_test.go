package engine

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
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

// Timers that are set and stopped at random fire in the order of their instants, and those that are stopped are
// removed before they are more than the others.
func TestTimersAtRandom(t *testing.T) {
	dice := rand.New(rand.NewSource(1))
	running := map[uint64]int64{}
	all := timers{cause: func(_ events.ID, number uint64) uint64 {
		if _, runs := running[number]; runs {
			return number + 1
		}
		return 0
	}}
	for number := range uint64(5000) {
		at := int64(dice.Intn(1000))
		running[number] = at
		all.set("m", number, 0, at)
		if stopped := uint64(dice.Intn(int(number) + 1)); dice.Intn(4) > 0 && all.cause("m", stopped) != 0 {
			delete(running, stopped)
			all.stop()
		}
		if len(all.heap) > 2*len(running)+minStopped {
			t.Fatalf("%d places for %d timers", len(all.heap), len(running))
		}
	}
	if saved := all.saved(); len(saved) != len(running) || slices.ContainsFunc(saved, all.isStopped) {
		t.Errorf("%d timers are saved, of %d", len(saved), len(running))
	}
	last := timer{at: -1}
	for range len(running) {
		if at, more := all.next(); !more || at != all.heap[0].at {
			t.Fatalf("the next is due at %d; there is one: %t", at, more)
		}
		one := all.take()
		if at, runs := running[one.number]; !runs || at != one.at || earlier(last, one) > 0 {
			t.Fatalf("timer %+v fired after %+v; it runs: %t", one, last, runs)
		}
		last = one
	}
	if _, more := all.next(); more || len(all.heap) > 0 || cap(all.heap) > minRoom {
		t.Errorf("%d timers are left, in room for %d", len(all.heap), cap(all.heap))
	}
}

// A machine that has closed leaves no timer to one of the same id, whose timers have the same numbers.
func TestAMachineThatIsOpenedAgainHasItsOwnTimers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		s.run()
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		virtual.Sleep(time.Second / 2)
		s.post("w", events.Event{Kind: events.CommandClose, Request: 3})
		s.post("w", events.Event{Kind: events.CommandOpen, Recipe: "worker"})
		s.post("w", events.Event{Kind: events.CommandStart, Request: 4})
		virtual.Sleep(time.Minute)
		s.end()
		want(t, "rows", s.rows("w"), "0s command.open\n0s command.start\n500ms command.close\n500ms command.open\n"+
			"500ms command.start\n1.5s timer.fired")
	})
}
