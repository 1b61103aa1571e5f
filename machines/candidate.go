package machines

import (
	"cmp"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// candidate is one instance that stands for a job's leadership. Belief, work and
// troubles are a participant's; its "own node" is the marker, which has a fixed
// name. So nothing is done to it by name alone: what guards a write, and what
// deletes the marker, names its version and the fence's.
type candidate struct {
	participant
	marker string // the marker's path
	fence  fence

	errand // the latch

	version int32 // the marker's, while it is ours
}

// fence is a persistent node beside the marker whose version counts the terms of
// this library's candidates: it is set in the same transaction that writes a
// marker. Elastic-Job does not know it, and writes markers of version 0; ours have
// 1. Both together single out one term.
type fence struct {
	path    string
	there   bool // it was read, or set by us, since we may have a marker
	version int32
}

func newCandidate(open events.Event) (*candidate, error) {
	job := open.Path
	open.Path = job + "/" + jobElection
	p, err := newParticipant(open, LatchLabel)
	if err != nil {
		return nil, err
	}
	return &candidate{participant: *p, marker: JobMarker(job), fence: fence{path: join(p.dir, jobFence)}}, nil
}

// Watches says which node matters: the marker.
func (c *candidate) Watches(path string) bool { return path == c.marker }

// look reads the marker, and the fence before it where the marker may be ours
// and the fence is not known: no other can have come between the two reads if it
// is. A write whose outcome is unknown shows for certain only after a sync.
func (c *candidate) look(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.unread(ev, out)
	if c.unknown {
		out.Flush(c.dir)
	}
	if c.entangled(ev) && !c.fence.there {
		out.Exists(c.fence.path, false)
	}
	out.Exists(c.marker, true)
}

// lookAfresh is look without taking the fence for known.
func (c *candidate) lookAfresh(ev events.Event, out *engine.Outbox) {
	c.fence.there = false
	c.look(ev, out)
}

// inspect reads the fence and the marker under the latch.
func (c *candidate) inspect(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.release(out)
	out.Exists(c.fence.path, false)
	out.Exists(c.marker, true)
}

// release forgets a marker that is not ours, or not any more.
func (c *candidate) release(out *engine.Outbox) {
	c.forgetOwn(out)
	c.fence.there, c.fence.version, c.version = false, 0, 0
}

// noteFence takes the fence's version; one that does not exist will be made.
func (c *candidate) noteFence(ev events.Event, out *engine.Outbox) {
	c.fence.there = ev.Code == events.OK
	if ev.Stat != nil {
		c.fence.version = ev.Stat.Version
	}
}

// noteMarker takes a marker that is ours.
func (c *candidate) noteMarker(ev events.Event, out *engine.Outbox) {
	c.own, c.unknown = base(c.marker), false
	c.owned, c.watched = true, true
	c.token, c.version = ev.Stat.Czxid, ev.Stat.Version
	c.approach(out)
}

// govern takes office: at the marker's reply, or after a confirmation.
func (c *candidate) govern(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	c.guards = c.pins()
	c.leaveLatch(out)
	c.takeOffice(ev, out)
}

// pins are the checks that hold only under this term.
func (c *candidate) pins() []events.Op {
	return []events.Op{
		{Verb: "check", Path: c.marker, Version: c.version},
		{Verb: "check", Path: c.fence.path, Version: c.fence.version},
	}
}

// seekWrite asks for a write through the quorum before taking office.
func (c *candidate) seekWrite(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.noteMarker(ev, out)
	out.Multi(c.pins()...)
}

// queue stands in line for the latch.
func (c *candidate) queue(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.standAt(join(c.dir, jobLatch), &c.participant, map[string]string{}, out)
}

// passOn makes the latch's trouble one's own.
func (c *candidate) passOn(ev events.Event, out *engine.Outbox) { c.fail(ev.Code, ev.Text, ev, out) }

// follow leaves the job to another instance.
func (c *candidate) follow(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.recover(out)
}

// obstructed is follow of a marker that no session owns, and says so.
func (c *candidate) obstructed(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.obstruct(ev, out)
}

func (c *candidate) settle(out *engine.Outbox) {
	out.Forget()
	c.release(out)
	c.leaveLatch(out)
}

// giveWay is complain without keeping others from the latch.
func (c *candidate) giveWay(ev events.Event, out *engine.Outbox) {
	c.leaveLatch(out)
	ev.Path = cmp.Or(ev.Path, c.marker)
	c.complain(ev, out)
}

// mark writes the marker, if the latch's node still stands and no other of this
// library has taken office since the fence was read. The marker's version and
// the fence's become what no other term has.
func (c *candidate) mark(ev events.Event, out *engine.Outbox) {
	out.Forget()
	set := events.Op{Verb: "set", Path: c.fence.path, Data: c.data, Version: c.fence.version}
	if !c.fence.there {
		set = events.Op{Verb: "create", Path: c.fence.path, Mode: events.Persistent, Data: c.data}
	}
	c.creating = out.Multi(
		events.Op{Verb: "check", Path: c.held, Version: -1},
		events.Op{Verb: "create", Path: c.marker, Mode: events.Ephemeral, Data: c.data},
		events.Op{Verb: "set", Path: c.marker, Data: c.data, Version: 0},
		set,
	)
}

// claim is the marker, written: the latch is for the next, and the marker is
// read back.
func (c *candidate) claim(ev events.Event, out *engine.Outbox) {
	c.book(ev, out)
	c.leaveLatch(out)
	c.look(ev, out)
}

// book notes what a write came to.
func (c *candidate) book(ev events.Event, out *engine.Outbox) {
	c.creating, c.unknown = 0, ev.Code.Unknown()
	if ev.Code != events.OK {
		c.fence.there = false
		return
	}
	c.own, c.token, c.version = base(c.marker), ev.Zxid, 1
	if c.fence.there {
		c.fence.version++
	}
	c.fence.there = true
	c.approach(out)
}

// retreat is a write that came too late.
func (c *candidate) retreat(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.look(ev, out)
}
