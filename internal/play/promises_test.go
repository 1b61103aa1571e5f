package play

import (
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
)

// seesNoPermits has clients see no permits but their own.
func seesNoPermits(_ *run, _ *world.Client, _ events.ID, ev *events.Event) {
	if ev.Path != path+"/leases" {
		return
	}
	ev.Children = nil
	if ev.Stat != nil {
		stat := *ev.Stat
		stat.NumChildren, ev.Stat = 0, &stat
	}
}

// opensAlone has clients see members in a barrier that are not there, and take a refusal to open it for a success.
func opensAlone(_ *run, c *world.Client, id events.ID, ev *events.Event) {
	switch {
	case id != c.Main():
	case ev.Kind == events.ReplyChildren:
		ev.Children = append(ev.Children, "one", "two", "three")
	case ev.Kind == events.ReplyMulti && c.Engine().State(id) == "opening":
		ev.Code = events.OK
	}
}

// TestEveryPromiseCanBeBroken: a bug in the way of each recipe breaks its promise, and without it the same world breaks
// none.
func TestEveryPromiseCanBeBroken(t *testing.T) {
	found := map[string]bool{}
	for _, c := range []struct {
		link, promise string
		bug           func(*run, *world.Client, events.ID, *events.Event)
	}{
		{"1;semaphore;usual;4;7@20", fewPermits, seesNoPermits},
		{"1;doublebarrier;usual;1+1;7@20", together, opensAlone},
		{"1;readwrite;usual;3;7@20", lockExcl, hideOthers},
		{"1;mutex;usual;3;7@20", oneLeader, hideOthers},
		{"1;mutex;usual;3;7@20", firstInLine, hideOthers},
		{"1;selector;usual;3;7;work=2@20", tokensGrow, hideOthers},
		{"1;latch;usual;3;7@20", halfTimeout, countFromReply},
		{"1;latch;usual;3;20~10:delete:alice~10.004:lose-reply:alice@20", onePlace, refuseLost},
		{"1;shards;usual;3+1;20;work=1~5:kill:alice~20:start:dave@30", oneOwner, ownsDeaf},
		{"1;shards;usual;3;20;work=1@30", workFirst, ownsAlways},
	} {
		found[c.promise] = true
		for _, bug := range []*Bug{nil, {posting: c.bug}} {
			s, err := ParseLink(c.link)
			if err != nil {
				t.Fatal(err)
			}
			r, err := newRun(s, s.Until)
			if err != nil {
				t.Fatal(err)
			}
			r.bug = bug
			if err := r.until(s, s.Until); err != nil {
				t.Fatal(err)
			}
			broken := false
			for _, v := range r.promises.broken {
				broken = broken || v.promise == c.promise
				if !slices.IsSorted(v.who) { // else a pair would be there twice
					t.Errorf("%s: %s", c.link, v.text)
				}
			}
			if broken != (bug != nil) || bug == nil && len(r.promises.broken) > 0 {
				t.Errorf("%s with a bug %t: %+v", c.link, bug != nil, r.promises.broken)
			}
		}
	}
	found[withNode] = true // TestBugsBreakTheirPromise has it
	for _, p := range promiseTexts {
		if !found[p.Name] {
			t.Errorf("nothing breaks %s", p.Name)
		}
	}
}

// TestEveryRecipeIsPlayed: in a world without deeds everybody gets what all want, if the programs release it.
func TestEveryRecipeIsPlayed(t *testing.T) {
	for _, recipe := range Recipes() {
		s := Script{Recipe: recipe, Scenario: "usual", Starting: 3, Seed: 7, Works: time.Second, Until: time.Minute}
		r, err := newRun(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		held := map[string]bool{}
		for at := time.Duration(0); at < s.Until; at += 100 * time.Millisecond {
			if err := r.until(s, at); err != nil {
				t.Fatal(err)
			}
			for _, p := range r.participants() {
				held[p.Name] = held[p.Name] || p.Holds
			}
		}
		if len(held) != 3 || !held["alice"] || !held["bob"] || !held["carol"] || len(r.promises.broken) > 0 {
			t.Errorf("%s: %v have held it, broken %+v", recipe, held, r.promises.broken)
		}
	}
}

// TestShortWorkBreaksNothing: programs whose work ends at once take turns by the thousand, and no promise is broken.
func TestShortWorkBreaksNothing(t *testing.T) {
	for _, recipe := range Recipes() {
		s := Script{Recipe: recipe, Scenario: "usual", Starting: 9, Seed: 7, RideOut: true, Works: time.Microsecond,
			Until: 5 * time.Second}
		r, err := newRun(s, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.until(s, s.Until); err != nil || len(r.promises.broken) > 0 {
			t.Errorf("%s: %v, broken %+v", recipe, err, r.promises.broken)
		}
	}
}
