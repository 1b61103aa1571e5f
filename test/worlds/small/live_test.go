package small

import (
	"slices"
	"strings"
	"testing"
)

// TestLivenessPlants: the search finds each of these bugs, and no check of a single
// state does. The reported trace can be taken again.
func TestLivenessPlants(t *testing.T) {
	for _, p := range LivenessPlants {
		cfg := Config{Participants: 2, Faults: 1, Kinds: p.Kinds, Settled: true, Plant: &p}
		r := Search(cfg, nil)
		t.Logf("%s: %s\n", p.Name, r)
		if r.Broken == nil {
			t.Errorf("not found: %s", p.Name)
			continue
		}
		for _, wrong := range r.Broken {
			if !strings.HasPrefix(wrong, "progress: ") {
				t.Errorf("%s: found by a check of one state: %s", p.Name, wrong)
			}
		}
		mustComeRound(t, r)
		story, logs, _ := Replay(r)
		if !strings.Contains(strings.Join(story, "\n"), "ROUND: ") {
			t.Errorf("%s: the story does not say what is repeated:\n%s", p.Name, strings.Join(story, "\n"))
		}
		for _, log := range logs {
			mustReplay(t, log)
		}
	}
}

// TestANodeWithoutANameIsKept: the machine alone cannot delete a node that it may not find, and the search
// finds that nobody leads then. If the world holds, it belongs in everyTime.
func TestANodeWithoutANameIsKept(t *testing.T) {
	if !*full {
		return // make small
	}
	r := Search(refusing, nil)
	t.Log(r)
	if r.Broken == nil || !strings.HasPrefix(r.Broken[0], "progress: ") {
		t.Fatalf("%s: want a place that is kept without end, and nothing else", refusing)
	}
	mustComeRound(t, r)
}

// TestAble: what an operator refuses to one client leaves another one able to lead.
func TestAble(t *testing.T) {
	for i, kind := range Refusals[noList:once] {
		cfg := Config{Participants: 2, Faults: 2, Settled: true, Kinds: []string{kind}}
		w := newWorld(&cfg, false)
		if offered := w.refusals(nil); len(offered) != 2 {
			t.Errorf("%s: %v, want one for each client", kind, offered)
		}
		w = w.take(step{forbid, 0, uint8(noList) + uint8(i), true})
		if offered := w.refusals(nil); len(offered) != 0 || w.clients[0].able(w) || !w.clients[1].able(w) {
			t.Errorf("%s: %v is offered after A was refused; A is able: %t, B is able: %t",
				kind, offered, w.clients[0].able(w), w.clients[1].able(w))
		}
	}
}

// mustComeRound takes a result's trace again. Its round has no fault and no leader, is
// fair, and ends in the state in which it began.

func mustComeRound(t *testing.T, r Result) {
	t.Helper()
	if r.Round == 0 {
		t.Error("nothing is repeated")
		return
	}
	w := newWorld(&r.Config, false)
	var from digest
	possible, done := ^duties(0), duties(0) // by client
	for i, s := range r.Trace {
		if i == len(r.Trace)-r.Round {
			from = w.canon()
		}
		w = w.take(s)
		if i >= len(r.Trace)-r.Round && (s.fault || w.led() || !w.anyAble()) {
			t.Errorf("step %d, %s, has no place in the round", i, s)
		}
		if i >= len(r.Trace)-r.Round {
			w.seated = []int{0, 1} // as if each client had the seat of its number
			possible, done = possible&w.duties(), done|duty(s.act, int(s.who))
			w.seated = nil
		}
	}
	if possible&^done != 0 {
		t.Errorf("the round is not fair: %032b is possible in all its states and not done", possible&^done)
	}
	if w.canon() != from {
		t.Error("the round does not come back to where it began")
	}
}

// TestDuties: a fair run owes what ends a fault or a wait, and no fault and no expiry.
func TestDuties(t *testing.T) {
	for _, c := range []struct {
		act   act
		after func(*client, *world)
	}{
		{attach, func(c *client, _ *world) { c.attached = false }},
		{catchUp, func(c *client, w *world) { view := w.tree; c.view = &view }},
		{resume, func(c *client, _ *world) { c.paused = true }},
		{finish, func(c *client, _ *world) { c.works = 1 }},
		{deliver, func(*client, *world) {}},
		{serve, func(c *client, w *world) { c.do(w, step{act: deliver}) }},
		{ring, func(c *client, w *world) { c.timers = append(c.timers, timer{latch, 1, w.now, false}) }},
	} {
		w := newWorld(&Config{Participants: 2, Settled: true}, false)
		c.after(w.touch(0), w)
		w.canon()
		if owes := duty(c.act, slices.Index(w.seated, 0)); owes == 0 || w.duties()&owes == 0 {
			t.Errorf("%s is not owed: %032b in %032b", actNames[c.act], owes, w.duties())
		}
	}
	for _, a := range []act{cut, expire, grow, pause, lag, remove, set, kill, resign, forbid, refuse} {
		if duty(a, 0) != 0 {
			t.Errorf("%s is owed", actNames[a])
		}
	}
}
