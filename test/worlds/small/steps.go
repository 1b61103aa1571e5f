package small

import (
	"fmt"

	"github.com/incumbent-go/incumbent/events"
)

// act is what happens in a step.
type act uint8

const (
	deliver act = iota
	serve
	ring
	attach // arg: 1 watches backwards, 2 a server that lags, 3 planted: it fails
	catchUp
	cut // arg: messages kept, doubled; odd: the requests never left
	resume
	expire
	tick
	finish // a piece of work returns
	grow   // a link fails; arg says how
	pause
	lag
	remove // arg: which node
	set
	kill
	resign
	forbid // arg: what
	refuse // arg: which request
	misreport
)

var actNames = [...]string{"deliver", "serve", "ring", "attach", "catch up", "cut", "resume", "expire",
	"tick", "work returns",
	"link", "pause", "lag", "delete", "set", "kill", "resign", "forbid", "refuse", "answer by a code"}

var linkNames = [...]string{sound: "sound", deaf: "deaf", mute: "mute", cutOff: "cut off"}

// Faults are what can go wrong, by the names that Config.Kinds takes.
var Faults = []string{"cut", "deaf", "mute", "cut off", "pause", "lag", "delete", "set", "kill", "resign", unassign}

// unassign is a fault of worlds with shards only.
const unassign = "delete the assignment"

// step is one arrow between two worlds.
type step struct {
	act   act
	who   uint8
	arg   uint8
	fault bool
}

// String says what happens, for people.
func (s step) String() string {
	who := string(rune('A' + s.who))
	switch s.act {
	case tick:
		return "the clock moves on"
	case grow:
		return fmt.Sprintf("FAULT %s: %s", who, linkNames[s.arg])
	case remove, set:
		return fmt.Sprintf("FAULT an operator: %s node %d", actNames[s.act], s.arg)
	case forbid:
		return fmt.Sprintf("FAULT an operator: %s for %s from now on", Refusals[s.arg], who)
	case cut:
		text := fmt.Sprintf("%s: cut, %d messages were read", who, s.arg/2)
		if s.arg%2 == 1 {
			text += ", the requests never left"
		}
		if s.fault {
			text = "FAULT " + text
		}
		return text
	}
	if s.fault {
		return fmt.Sprintf("FAULT %s: %s", who, actNames[s.act])
	}
	return fmt.Sprintf("%s: %s", who, actNames[s.act])
}

// steps lists all that can happen next. Where one step comes to the same before
// and after all that others can do, it is taken first (see the package
// documentation): then only what could have prevented it is listed besides.
func (w *world) steps(into []step) []step {
	if !w.Every {
		if i, s, found := w.eager(); found {
			into = append(into, s)
			if w.left > 0 && s.act != ring {
				into = w.linkFaults(into, i, s.act == deliver)
				if s.act == serve {
					into = w.refusals(w.operatorFaults(into))
				}
			}
			return into
		}
	}
	for i := range w.clients {
		into = w.free(into, i)
	}
	if w.quiet() {
		into = append(into, step{act: tick})
	}
	if w.left > 0 {
		for i := range w.clients {
			into = w.linkFaults(into, i, false)
		}
		into = w.refusals(w.operatorFaults(into))
	}
	return into
}

// eager returns the step that is taken first: the loop takes a message out; a timer
// rings while nothing else is on its way to the same client; a heartbeat is
// answered. Of several clients the first one is meant, by an order that does not
// depend on what they are called.
func (w *world) eager() (int, step, bool) {
	if w.seated == nil {
		w.canon()
	}
	for _, i := range w.seated {
		if w.clients[i].deliverable() {
			return i, step{act: deliver, who: uint8(i)}, true
		}
	}
	for _, i := range w.seated {
		if c := w.clients[i]; !c.paused && c.due(w.now) >= 0 && len(c.inbox) == 0 && len(c.pending) == 0 {
			return i, step{act: ring, who: uint8(i)}, true
		}
	}
	for _, i := range w.seated {
		if c := w.clients[i]; len(c.pending) == 1 && c.link == sound && !c.paused && c.mayServe(w, 0) &&
			c.pending[0].from == events.SessionMachine {
			return i, step{act: serve, who: uint8(i)}, true
		}
	}
	return 0, step{}, false
}

// free lists what a client can do without a fault.
func (w *world) free(into []step, i int) []step {
	c, who := w.clients[i], uint8(i)
	add := func(a act, arg int) { into = append(into, step{act: a, who: who, arg: uint8(arg)}) }
	if c.deliverable() {
		add(deliver, 0)
	}
	for r := range c.pending {
		if c.mayServe(w, r) {
			add(serve, r)
		}
	}
	if !c.paused && c.due(w.now) >= 0 {
		add(ring, 0)
	}
	if !c.attached && !c.paused && c.number != 0 && !c.over {
		add(attach, 0)
		if c.alive && len(c.armed) > 1 {
			add(attach, 1)
		}
		if c.alive && c.spare != nil && c.spare.zxid >= c.seen {
			add(attach, 2)
		}
		if w.Plant != nil && w.Plant.Busy {
			add(attach, 3)
		}
	}
	if c.attached && c.view != nil && c.link != cutOff {
		add(catchUp, 0)
	}
	if c.paused || c.link != sound {
		add(resume, 0)
	}
	if c.attached && !c.paused && c.link != sound {
		into = w.cuts(into, i, false)
	}
	if c.alive && w.age(c.heard) >= expiry {
		add(expire, 0)
	}
	if (c.works > 0 && !c.leads || c.ending() >= 0) && !c.paused && !w.Hung {
		add(finish, 0)
	}
	return into
}

// linkFaults lists what can befall a connection. Reading: only what comes to
// something else if it happens before the next message is read.
func (w *world) linkFaults(into []step, i int, reading bool) []step {
	c := w.clients[i]
	if c.paused || c.link != sound {
		return into
	}
	add := func(name string, a act, arg int) {
		if w.has(name) {
			into = append(into, step{a, uint8(i), uint8(arg), true})
		}
	}
	add("pause", pause, 0)
	if !c.attached {
		if c.spare == nil && c.alive {
			add("lag", lag, 0)
		}
		return into
	}
	if w.has("cut") {
		into = w.cuts(into, i, true)
	}
	add("deaf", grow, int(deaf))
	if reading {
		return into
	}
	add("mute", grow, int(mute))
	if c.view == nil {
		add("cut off", grow, int(cutOff))
	}
	if c.spare == nil {
		add("lag", lag, 0)
	}
	if c.alive {
		add("kill", kill, 0)
	}
	if c.leads {
		add("resign", resign, 0)
	}
	return into
}

// cuts lists the ways in which a connection can end.
func (w *world) cuts(into []step, i int, fault bool) []step {
	c := w.clients[i]
	most := len(c.inbox)
	if c.link == deaf {
		most = c.firm()
	}
	creates := false
	for _, r := range c.pending {
		_, create := r.effect.(events.Create)
		creates = creates || create
	}
	for keep := c.firm(); keep <= most; keep++ {
		into = append(into, step{cut, uint8(i), uint8(2 * keep), fault})
		if creates {
			into = append(into, step{cut, uint8(i), uint8(2*keep + 1), fault})
		}
	}
	return into
}

func (w *world) operatorFaults(into []step) []step {
	for i := range w.tree.targets() {
		if w.has("delete") && i < len(w.tree.nodes) || w.has(unassign) && i == len(w.tree.nodes) {
			into = append(into, step{act: remove, arg: uint8(i), fault: true})
		}
		if w.has("set") {
			into = append(into, step{act: set, arg: uint8(i), fault: true})
		}
	}
	return into
}

// take makes the world that a step leads to.
func (w *world) take(s step) *world {
	n := w.next()
	if n.record {
		n.tell("-- %d: %s", w.now/int64(unit), s)
	}
	if s.fault {
		n.left--
	}
	n.do(s)
	n.check()
	if w.Shards > 0 {
		n.claimed(w)
	}
	return n
}

func (w *world) do(s step) {
	i := int(s.who)
	switch s.act {
	case tick:
		w.tick()
	case serve, refuse:
		w.serve(i, int(s.arg), s.act == refuse)
	case misreport:
		w.serve(i, int(s.arg), false)
		c := w.touch(i)
		answer := &c.inbox[len(c.inbox)-1].event
		answer.Code, answer.Path, answer.Zxid = events.OperationTimeout, "", 0
	case attach:
		if s.arg != 3 {
			w.attach(i, s.arg == 1, s.arg == 2)
		}
	case expire:
		w.end(i)
	case kill:
		w.rob(w.owned(w.clients[i].zkid)...)
		w.end(i)
	case remove:
		if int(s.arg) < len(w.tree.nodes) {
			w.rob(w.tree.nodes[s.arg])
		}
		w.fire(w.tree.remove(int(s.arg)))
	case set:
		w.fire(w.tree.set(int(s.arg)))
	default:
		w.touch(i).do(w, s)
	}
}

func (w *world) owned(by int64) (all []node) {
	for _, n := range w.tree.nodes {
		if n.owner == by {
			all = append(all, n)
		}
	}
	return all
}

// do is a step of one client.
func (c *client) do(w *world, s step) {
	switch s.act {
	case deliver:
		m := c.inbox[0]
		c.inbox = c.inbox[1:]
		if !m.local {
			c.read(m)
		}
		c.feed(w, m.to, m.event)
	case ring:
		i := c.due(w.now)
		t := c.timers[i]
		c.timers = append(c.timers[:i], c.timers[i+1:]...)
		c.feed(w, t.machine, events.Event{Kind: events.TimerFired, Request: t.number})
	case catchUp:
		c.catchUp(w)
	case cut:
		c.cut(w, int(s.arg/2), s.arg%2 == 1)
	case resume:
		c.resume(w)
	case finish:
		if w.Shards > 0 {
			c.endWork(w)
			return
		}
		c.works--
		c.feed(w, latch, events.Event{Kind: events.WorkReturned})
		c.await(w)
	case grow:
		c.link, c.since = link(s.arg), w.now
		if c.link == cutOff {
			view := w.tree
			c.view = &view
		}
	case pause:
		c.paused, c.since = true, w.now
	case lag:
		view := w.tree
		c.spare = &view
	case forbid:
		c.refused = refusal(s.arg)
	case resign:
		c.ask(w, latch, events.CommandResign)
	}
}

// resume ends what a fault began.
func (c *client) resume(w *world) {
	if c.paused {
		c.paused = false
		return
	}
	c.link = sound
	if !c.alive { // the server learns that the session is over
		c.cut(w, len(c.inbox), false)
		return
	}
	c.heard = w.now
}
