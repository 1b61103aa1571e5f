package world

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// A program that works for a while releases what it holds by itself, so that others get it.
func TestAProgramReleasesByItself(t *testing.T) {
	for _, recipe := range Playable() {
		s := three(recipe)
		for i := range s.Clients {
			s.Clients[i].Works = 2 * time.Second
		}
		w, err := New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		holders := map[int]bool{}
		for w.Now() < at(time.Minute) {
			w.Until(w.Now() + at(100*time.Millisecond))
			for _, c := range w.Clients() {
				holders[c.ID()] = holders[c.ID()] || c.Holds()
			}
		}
		for i := range s.Clients {
			if !holders[i] {
				t.Errorf("%s: client %d has held nothing in a minute", recipe, i)
			}
		}
	}
}

// A program asks for nothing while it holds what it has asked for, however short its work is: nobody would release
// that.
func TestAProgramHoldsOneThing(t *testing.T) {
	for _, recipe := range Playable() {
		for _, works := range []time.Duration{time.Microsecond, 20 * time.Millisecond} {
			s := three(recipe)
			for i := range s.Clients {
				s.Clients[i].Works = works
				if recipe == "semaphore" {
					s.Clients[i].Options = map[string]string{"limit": "3"}
				}
			}
			w, err := New(s, nil)
			if err != nil {
				t.Fatal(err)
			}
			for w.Now() < at(20*time.Second) {
				w.Until(w.Now() + at(time.Millisecond))
				for _, c := range w.Clients() {
					if held := leading(c, recipe); len(held) > 1 {
						t.Fatalf("%s, work of %s: client %d holds %v", recipe, works, c.ID(), held)
					}
				}
			}
		}
	}
}

// leading returns the machines of a recipe that lead.
func leading(c *Client, recipe string) (all []events.ID) {
	for _, id := range c.Engine().Machines() {
		if strings.HasPrefix(string(id), recipe) && c.Engine().State(id) == "leading" {
			all = append(all, id)
		}
	}
	return all
}

// A program that forgets what it has lost does not lead again, and one that does not forget does.
func TestAProgramForgetsWhatItHasLost(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		s := three("latch", Action{At: at(10 * time.Second), Do: Expire},
			Action{At: at(20 * time.Second), Do: Kill, Who: 1}, Action{At: at(20 * time.Second), Do: Kill, Who: 2})
		s.Clients[0].Forgets = forgets
		for i := 1; i < len(s.Clients); i++ {
			s.Clients[i].Waits = true
			s.Actions = append(s.Actions, Action{At: at(5 * time.Second), Do: Start, Who: i})
		}
		w, err := New(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Until(at(9 * time.Second))
		c := w.Clients()[0]
		if !c.Holds() || !c.Begun() || c.Left() || c.Main() != "latch-1" {
			t.Fatalf("the first client leads: %t", c.Holds())
		}
		w.Until(at(40 * time.Second))
		if state := c.Engine().State(c.Main()); c.Holds() == forgets || (state == "draining") != forgets {
			t.Errorf("forgets %t: leads %t, %s", forgets, c.Holds(), state)
		}
	}
}

// All clients may have one clock, and a program may have a name, which stands in its nodes.
func TestOneClockAndNames(t *testing.T) {
	s := three("latch")
	s.OneClock = true
	s.Clients[0].Name = "alice"
	w, err := New(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Until(at(10 * time.Second))
	named := 0
	for _, c := range w.Clients() {
		if c.Clock() != int64(Epoch)+w.Now() {
			t.Errorf("client %d's clock shows %d", c.ID(), c.Clock())
		}
	}
	for _, name := range w.Ensemble().Children("/jobs") {
		if data, _, err := w.Ensemble().Committed().Get("/jobs/" + name); err == nil && string(data) == "alice" {
			named++
		}
	}
	if named != 1 {
		t.Errorf("%d nodes say alice", named)
	}
}

// Of a node that nobody may read, no server tells.
func TestAHiddenNodeEndsUnheard(t *testing.T) {
	for _, hide := range []bool{false, true} {
		s := three("latch", Action{At: at(11 * time.Second), Do: Delete})
		for i := 1; i < len(s.Clients); i++ {
			s.Clients[i].Waits = true
		}
		if hide {
			s.Actions = append([]Action{{At: at(10 * time.Second), Do: Hide}}, s.Actions...)
		}
		heard := false
		for _, l := range play(t, s, 11500*time.Millisecond).logs[0] {
			heard = heard || l.at > at(11*time.Second) && l.kind == events.WatchDeleted && !l.inner
		}
		if heard == hide {
			t.Errorf("hidden %t: the owner heard of the end: %t", hide, heard)
		}
	}
}
