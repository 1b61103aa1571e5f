package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// await is one reply or timer that a machine awaits.
type await struct {
	number    uint64
	what      string // the kind of the reply, or the timer's name: many machines await one timer each
	cause     uint64 // seq of the record with the request
	timer     bool
	mayCreate bool // a create that may create an own node: awaited in every state until the reply
}

// kind returns the kind of the event that is awaited.
func (a await) kind() events.Kind {
	if a.timer {
		return events.TimerFired
	}
	return events.Kind(a.what)
}

// name returns a timer's name.
func (a await) name() string {
	if a.timer {
		return a.what
	}
	return ""
}

// pending has the requests and timers of one machine that are not yet answered.
type pending struct {
	last uint64 // highest number in use
	open []await
}

// awaitLists are lists that no machine uses now. Most machines await nothing or one timer while
// they have nothing to do, and some replies for a moment: they share the lists.
type awaitLists struct{ short, long [][]await }

const (
	shortList = 1  // entries of a list
	longList  = 8  // of a longer one; what is longer still is not shared
	mostLists = 64 // of a length, that are kept
)

// grow returns the list with room for one more entry.
func (l *awaitLists) grow(list []await) []await {
	switch {
	case l == nil || len(list) < cap(list) || len(list) >= longList:
		return list
	case len(list) < shortList:
		return l.take(&l.short, shortList)
	}
	longer := append(l.take(&l.long, longList), list...)
	l.put(list)
	return longer
}

func (l *awaitLists) take(from *[][]await, length int) []await {
	last := len(*from) - 1
	if last < 0 {
		return make([]await, 0, length)
	}
	list := (*from)[last]
	*from = (*from)[:last]
	return list
}

// put takes a list back.
func (l *awaitLists) put(list []await) {
	all := &l.short
	switch cap(list) {
	case shortList:
	case longList:
		all = &l.long
	default:
		return
	}
	if len(*all) < mostLists {
		clear(list[:cap(list)])
		*all = append(*all, list[:0])
	}
}

// fit gives a list that is longer than needed back after a step.
func (d *pending) fit(l *awaitLists) {
	if l == nil || len(d.open) > shortList || cap(d.open) == len(d.open) {
		return
	}
	longer := d.open
	if d.open = nil; len(longer) > 0 {
		d.open = append(l.take(&l.short, shortList), longer...)
	}
	l.put(longer)
}

// mark returns the highest number in use, up to which drop may drop later.
func (d *pending) mark() uint64 { return d.last }

// find returns the entry with a number, if it is still awaited.
func (d *pending) find(number uint64) (await, bool) {
	for _, a := range d.open {
		if a.number == number {
			return a, true
		}
	}
	return await{}, false
}

// done removes the entry with a number.
func (d *pending) done(number uint64) {
	for i, a := range d.open {
		if a.number == number {
			d.open = append(d.open[:i], d.open[i+1:]...)
			return
		}
	}
}

// drop drops the entries up to a mark for which keep does not hold: their replies will
// be late. Timers among them are stopped. A create that may create an own node stays.
func (d *pending) drop(upTo uint64, out *Outbox, keep func(events.Kind) bool) {
	kept := d.open[:0]
	for _, a := range d.open {
		if a.number > upTo || a.mayCreate || a.kind() != events.ReplyCreate && keep(a.kind()) {
			kept = append(kept, a)
			continue
		}
		if a.timer {
			out.add(events.StopTimer{Request: a.number})
		}
	}
	d.open = kept
}

// Outbox collects the effects of one step. It numbers each machine's requests and
// timers from 1, and keeps a list of those that are awaited.
type Outbox struct {
	session int64
	seq     uint64
	pending *pending
	lists   *awaitLists // nil: none are shared
	recipes learner     // of the engine; nil: it learns none
	how     Modifier    // of the next request
	effects []events.Effect
}

// learner takes the recipe of a machine that another one opens: see Open.
type learner interface{ learn(recipe named) }

type named interface{ Name() string }

func (o *Outbox) add(e events.Effect) { o.effects = append(o.effects, e) }

// expect adds what is awaited, and returns its number.
func (o *Outbox) expect(what string, timer bool) uint64 {
	o.pending.last++
	o.pending.open = append(o.lists.grow(o.pending.open),
		await{number: o.pending.last, what: what, timer: timer, cause: o.seq})
	return o.pending.last
}

// Create creates a node with the operation's path, mode, data or payload, and TTL. It
// returns the request's number, which is in reply.create. Every state awaits the reply
// to the create of an ephemeral node, because the node may exist.
func (o *Outbox) Create(op events.Op) uint64 {
	c := o.call(events.ReplyCreate, 0)
	o.pending.open[len(o.pending.open)-1].mayCreate = op.Mode == events.Ephemeral ||
		op.Mode == events.EphemeralSequential
	o.add(events.Create{Call: c, Path: op.Path, Mode: op.Mode, TTL: op.TTL, Data: op.Data, Payload: op.Payload})
	return c.Request
}

// CreateWith is Create of two nodes in one transaction: other first, both or none. The reply is that of the second;
// a refusal has the path of the one that was refused.
func (o *Outbox) CreateWith(other, op events.Op) uint64 {
	number := o.Create(op)
	last := len(o.effects) - 1
	c := o.effects[last].(events.Create)
	c.With = other
	c.With.Verb = "create"
	o.effects[last] = c
	return number
}

// Delete deletes a node. It is sent before all other requests that wait, except urgent
// ones. Modifiers: Unawaited.
func (o *Outbox) Delete(path string) uint64 {
	c := o.call(events.ReplyDelete, Unawaited)
	c.Urgent = true
	o.add(events.Delete{Call: c, Path: path})
	return c.Request
}

// Get reads a node's stat. Modifiers: Watch (left if the node exists), Data, ForUser.
func (o *Outbox) Get(path string) uint64 {
	how := o.how
	c := o.call(events.ReplyStat, Watch|Data|ForUser)
	o.add(events.Get{Call: c, Path: path, Watch: how&Watch != 0, Data: how&Data != 0})
	return c.Request
}

// Exists asks whether a node exists. Modifiers: Watch (left either way), ForUser,
// Urgent.
func (o *Outbox) Exists(path string) uint64 {
	how := o.how
	c := o.call(events.ReplyStat, Watch|ForUser|Urgent)
	o.add(events.Exists{Call: c, Path: path, Watch: how&Watch != 0})
	return c.Request
}

// Children lists a node's children. Modifiers: Watch (left if the node exists), ForUser.
func (o *Outbox) Children(path string) uint64 {
	how := o.how
	c := o.call(events.ReplyChildren, Watch|ForUser)
	o.add(events.Children{Call: c, Path: path, Watch: how&Watch != 0})
	return c.Request
}

// AddWatch sets a recursive watch on a node, which need not exist, and on all below it.
func (o *Outbox) AddWatch(path string) uint64 {
	c := o.call(events.ReplyWatch, 0)
	o.add(events.AddWatch{Call: c, Path: path})
	return c.Request
}

// Multi commits all of these operations or none. Unlike Create's, its reply is not
// awaited in every state, even if it creates an ephemeral node: the chart decides. One
// of checks alone is a confirmation by the quorum. Modifiers: ForUser, Urgent.
func (o *Outbox) Multi(ops ...events.Op) uint64 {
	c := o.call(events.ReplyMulti, ForUser|Urgent)
	o.add(events.Multi{Call: c, Ops: ops})
	return c.Request
}

// Sync has the ensemble's leader bring this server up to date before the requests that
// follow: a confirmation by the leader. It can be Unawaited if the replies to the
// following requests are enough. Modifiers: Urgent, Unawaited.
func (o *Outbox) Sync(path string) uint64 {
	c := o.call(events.ReplySync, Urgent|Unawaited)
	o.add(events.Sync{Call: c, Path: path})
	return c.Request
}

// call numbers a request, and applies the modifiers that With set for it.
func (o *Outbox) call(kind events.Kind, takes Modifier) events.Call {
	how := o.how
	o.how = 0
	if wrong := how &^ takes; wrong != 0 {
		panic(fmt.Sprintf("engine: a request that is answered by %s does not take the modifier %s: see Modifier",
			kind, wrong))
	}
	c := events.Call{Session: o.session, Urgent: how&Urgent != 0, Keep: how&ForUser != 0}
	if how&Unawaited == 0 {
		c.Request = o.expect(string(kind), false)
	} else {
		o.pending.last++
		c.Request = o.pending.last
	}
	return c
}

// Timer sets a timer, which sends one timer.fired, and returns its number.
func (o *Outbox) Timer(name string, after time.Duration) uint64 {
	n := o.expect(name, true)
	o.add(events.SetTimer{Request: n, Name: name, After: after})
	return n
}

// StopTimer stops a timer. It ignores the number of a timer that is not running.
func (o *Outbox) StopTimer(number uint64) {
	if _, running := o.pending.find(number); running {
		o.pending.done(number)
		o.add(events.StopTimer{Request: number})
	}
}

// DropPending stops every timer, and drops every reply that is awaited, except to
// creates that may create an own node. It is for a state that sends its requests again.
func (o *Outbox) DropPending() {
	o.pending.drop(o.pending.last, o, func(events.Kind) bool { return false })
}

// DropCreates drops the creates that may create an own node: their session is over, and
// its end deletes their nodes.
func (o *Outbox) DropCreates() {
	o.pending.open = slices.DeleteFunc(o.pending.open, func(a await) bool { return a.mayCreate })
}

// Tell sends an event to another machine of the same engine.
func (o *Outbox) Tell(to events.ID, ev events.Event) { o.add(events.Tell{To: to, Event: ev}) }

// Notify sends a notice to the handle.
func (o *Outbox) Notify(n events.Notify) { o.add(n) }

// Answer ends a command.
func (o *Outbox) Answer(command uint64, code events.Code, text string) {
	o.add(events.Answer{Command: command, Code: code, Text: text})
}

// Deadline publishes until when a term may be believed in, and until when the session
// surely goes on.
func (o *Outbox) Deadline(session, until, alone int64) {
	o.add(events.Deadline{Session: session, Until: until, Alone: alone})
}

// Effect appends any other effect.
func (o *Outbox) Effect(e events.Effect) { o.add(e) }
