package engine

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// await is one answer that a machine is owed.
type await struct {
	number uint64
	kind   events.Kind
	name   string // a timer's name
	cause  uint64 // seq of the record that asked
	owed   bool   // a create that may make an own node: awaited in every state until it is answered
}

// desk is what one machine has asked for and not yet been answered.
type desk struct {
	last uint64 // highest number given out
	open []await
}

func (d *desk) mark() uint64 { return d.last }

func (d *desk) find(number uint64) (await, bool) {
	for _, a := range d.open {
		if a.number == number {
			return a, true
		}
	}
	return await{}, false
}

func (d *desk) done(number uint64) {
	for i, a := range d.open {
		if a.number == number {
			d.open = append(d.open[:i], d.open[i+1:]...)
			return
		}
	}
}

// sweep drops the entries up to a mark that are not kept: their answers will be
// late. Timers among them are stopped. What is owed always stays.
func (d *desk) sweep(upTo uint64, out *Outbox, keep func(events.Kind) bool) {
	kept := d.open[:0]
	for _, a := range d.open {
		if a.number > upTo || a.owed || a.kind != events.ReplyCreate && keep(a.kind) {
			kept = append(kept, a)
			continue
		}
		if a.kind == events.TimerFired {
			out.add(events.StopTimer{Request: a.number})
		}
	}
	d.open = kept
}

// Outbox takes the effects of one action. It numbers requests and timers from 1
// for each machine, and remembers what is awaited.
type Outbox struct {
	session int64
	seq     uint64
	desk    *desk
	effects []events.Effect
}

func (o *Outbox) add(e events.Effect) { o.effects = append(o.effects, e) }

func (o *Outbox) expect(kind events.Kind, name string) uint64 {
	o.desk.last++
	o.desk.open = append(o.desk.open, await{number: o.desk.last, kind: kind, name: name, cause: o.seq})
	return o.desk.last
}

func (o *Outbox) call(kind events.Kind) events.Call {
	return events.Call{Request: o.expect(kind, ""), Session: o.session}
}

func (o *Outbox) urgent(kind events.Kind) events.Call {
	c := o.call(kind)
	c.Urgent = true
	return c
}

// Create asks for a node and returns the request's number, which reply.create
// will carry. The answer to the create of an ephemeral node is awaited in every
// state, because the node may have been made.
func (o *Outbox) Create(path string, mode events.Mode, data []byte) uint64 {
	c := o.call(events.ReplyCreate)
	o.desk.open[len(o.desk.open)-1].owed = mode == events.Ephemeral || mode == events.EphemeralSequential
	o.add(events.Create{Call: c, Path: path, Mode: mode, Data: data})
	return c.Request
}

// CreateWith is Create with a payload of the user's, by its number.
func (o *Outbox) CreateWith(path string, mode events.Mode, payload uint64) uint64 {
	n := o.Create(path, mode, nil)
	create := o.effects[len(o.effects)-1].(events.Create)
	create.Payload = payload
	o.effects[len(o.effects)-1] = create
	return n
}

// CreateAs is CreateWith as a user's operation says.
func (o *Outbox) CreateAs(path string, op events.Op) uint64 {
	n := o.CreateWith(path, op.Mode, op.Payload)
	create := o.effects[len(o.effects)-1].(events.Create)
	create.TTL = op.TTL
	o.effects[len(o.effects)-1] = create
	return n
}

// Delete asks for the removal of a node, ahead of everything that waits.
func (o *Outbox) Delete(path string) uint64 {
	c := o.urgent(events.ReplyDelete)
	o.add(events.Delete{Call: c, Path: path})
	return c.Request
}

// Discard asks for the removal of a node and does not await the answer: for
// nodes that are deleted again whenever they are seen.
func (o *Outbox) Discard(path string) {
	o.desk.last++
	o.add(events.Delete{Call: events.Call{Request: o.desk.last, Session: o.session, Urgent: true}, Path: path})
}

// Get asks for a node's stat, and leaves a watch on it if it exists.
func (o *Outbox) Get(path string, watch bool) uint64 {
	c := o.call(events.ReplyStat)
	o.add(events.Get{Call: c, Path: path, Watch: watch})
	return c.Request
}

// Read is Get with the node's data, for what recipes themselves write.
func (o *Outbox) Read(path string, watch bool) uint64 {
	c := o.call(events.ReplyStat)
	o.add(events.Get{Call: c, Path: path, Watch: watch, Data: true})
	return c.Request
}

// Exists asks whether a node is there, and leaves a watch either way.
func (o *Outbox) Exists(path string, watch bool) uint64 {
	c := o.call(events.ReplyStat)
	o.add(events.Exists{Call: c, Path: path, Watch: watch})
	return c.Request
}

// Children asks for a listing.
func (o *Outbox) Children(path string) uint64 { return o.children(path, false) }

// WatchChildren asks for a listing, and leaves a watch on it if the node exists.
func (o *Outbox) WatchChildren(path string) uint64 { return o.children(path, true) }

func (o *Outbox) children(path string, watch bool) uint64 {
	c := o.call(events.ReplyChildren)
	o.add(events.Children{Call: c, Path: path, Watch: watch})
	return c.Request
}

// Fetch is Get with the node's data for the user alone: they never reach a machine.
func (o *Outbox) Fetch(path string, watch bool) uint64 {
	c := o.kept(events.ReplyStat)
	o.add(events.Get{Call: c, Path: path, Watch: watch, Data: true})
	return c.Request
}

// Survey is Children with all that the answer holds for the user.
func (o *Outbox) Survey(path string, watch bool) uint64 {
	c := o.kept(events.ReplyChildren)
	o.add(events.Children{Call: c, Path: path, Watch: watch})
	return c.Request
}

// Inspect is Exists without a watch, the whole stat for the user.
func (o *Outbox) Inspect(path string) uint64 {
	c := o.kept(events.ReplyStat)
	o.add(events.Exists{Call: c, Path: path})
	return c.Request
}

// Commit is Multi with the results for the user.
func (o *Outbox) Commit(ops ...events.Op) uint64 {
	c := o.kept(events.ReplyMulti)
	o.add(events.Multi{Call: c, Ops: ops})
	return c.Request
}

func (o *Outbox) kept(kind events.Kind) events.Call {
	c := o.call(kind)
	c.Keep = true
	return c
}

// Check asks for a multi that only checks that a node exists: a confirmation of
// quorum strength.
func (o *Outbox) Check(path string) uint64 {
	return o.Multi(events.Op{Verb: "check", Path: path, Version: -1})
}

// Affirm is Multi ahead of everything that waits: for the heartbeat.
func (o *Outbox) Affirm(checks ...events.Op) uint64 {
	c := o.urgent(events.ReplyMulti)
	o.add(events.Multi{Call: c, Ops: checks})
	return c.Request
}

// Verify is Exists without a watch ahead of everything that waits: for the heartbeat.
func (o *Outbox) Verify(path string) uint64 {
	c := o.urgent(events.ReplyStat)
	o.add(events.Exists{Call: c, Path: path})
	return c.Request
}

// Multi asks for all of these operations or none. What an ephemeral create in it
// has made is not awaited in every state, as that of Create is: the chart decides.
func (o *Outbox) Multi(ops ...events.Op) uint64 {
	c := o.call(events.ReplyMulti)
	o.add(events.Multi{Call: c, Ops: ops})
	return c.Request
}

// Remove asks for the removal of all these nodes or none, ahead of everything that
// waits, as Delete does.
func (o *Outbox) Remove(paths ...string) uint64 {
	c := o.urgent(events.ReplyMulti)
	ops := make([]events.Op, len(paths))
	for i, path := range paths {
		ops[i] = events.Op{Verb: "delete", Path: path, Version: -1}
	}
	o.add(events.Multi{Call: c, Ops: ops})
	return c.Request
}

// Flush has the ensemble's leader bring this server up to date before the
// requests that follow. Nobody awaits the answer: theirs come after it.
func (o *Outbox) Flush(path string) {
	o.desk.last++
	o.add(events.Sync{Call: events.Call{Request: o.desk.last, Session: o.session}, Path: path})
}

// Sync asks the ensemble's leader to flush this server, and awaits the answer:
// a confirmation of leader strength.
func (o *Outbox) Sync(path string, urgent bool) uint64 {
	c := o.call(events.ReplySync)
	c.Urgent = urgent
	o.add(events.Sync{Call: c, Path: path})
	return c.Request
}

// Timer asks for one timer.fired after a time, and returns its number.
func (o *Outbox) Timer(name string, after time.Duration) uint64 {
	n := o.expect(events.TimerFired, name)
	o.add(events.SetTimer{Request: n, Name: name, After: after})
	return n
}

// StopTimer takes a timer back. A number that is not running is no harm.
func (o *Outbox) StopTimer(number uint64) {
	if _, running := o.desk.find(number); running {
		o.desk.done(number)
		o.add(events.StopTimer{Request: number})
	}
}

// Forget drops every reply that is still awaited, creates excepted, and stops
// every timer: used where the same state asks all over again.
func (o *Outbox) Forget() {
	o.desk.sweep(o.desk.last, o, func(events.Kind) bool { return false })
}

// Forfeit drops the creates that are still awaited: their session is over, and
// what they made goes with it.
func (o *Outbox) Forfeit() {
	o.desk.open = slices.DeleteFunc(o.desk.open, func(a await) bool { return a.owed })
}

// Tell hands an event to another machine of the same engine.
func (o *Outbox) Tell(to events.ID, ev events.Event) { o.add(events.Tell{To: to, Event: ev}) }

// Notify tells the handle.
func (o *Outbox) Notify(n events.Notify) { o.add(n) }

// Answer ends a command.
func (o *Outbox) Answer(command uint64, code events.Code, text string) {
	o.add(events.Answer{Command: command, Code: code, Text: text})
}

// Deadline publishes until when anything may be believed, and until when the
// session surely lives.
func (o *Outbox) Deadline(session, until, alone int64) {
	o.add(events.Deadline{Session: session, Until: until, Alone: alone})
}

// Effect appends any other effect.
func (o *Outbox) Effect(e events.Effect) { o.add(e) }
