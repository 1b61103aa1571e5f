package machines

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// candidate is one instance that stands for a job's leadership. Its own node is
// the marker, which has a fixed name. So nothing is done to it by name alone: what guards a write, and what
// deletes the marker, names its version and the seal.
type candidate struct {
	contender
	marker string // the marker's path

	errand // the latch
	seal

	version int32 // the marker's, while it is ours
}

// seal is an ephemeral node beside the marker, made and deleted in one transaction
// with it. Its name is one term's alone. Whoever writes the next marker deletes
// every seal that a listing under the latch shows, in the same transaction: so a
// seal that stands says that no other of this library has led since. Elastic-Job
// does not know it, and writes markers of version 0; ours have 1.
type seal struct {
	sealName string
	sealed   bool // it stood when the directory was listed last, or was made by us since
}

func newCandidate(open events.Event) (*candidate, error) {
	job := open.Path
	open.Path = job + "/" + jobElection
	o := options{values: open.Options}
	return &candidate{contender: newContender(open, &o), marker: JobMarker(job)}, o.err
}

// Watches says which node matters: the marker.
func (c *candidate) Watches(path string) bool { return path == c.marker }

// look reads the marker, and asks for the seal before it where the marker may be
// ours and the seal is not known to stand. A write whose outcome is unknown shows
// for certain only after a sync.
func (c *candidate) look(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.unread(ev, out)
	if c.unknown {
		out.Flush(c.home)
	}
	if c.entangled(ev) && !c.sealed {
		out.Children(c.home)
	}
	out.Exists(c.marker, true)
}

// lookAfresh is look without taking the seal for known.
func (c *candidate) lookAfresh(ev events.Event, out *engine.Outbox) {
	c.sealed = false
	c.look(ev, out)
}

// inspect reads the marker under the latch, and then lists the seals: once no
// marker stands none can be added.
func (c *candidate) inspect(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.release(out)
	out.Exists(c.marker, true)
	out.Children(c.home)
}

// release forgets a marker that is not ours, or not any more.
func (c *candidate) release(out *engine.Outbox) {
	c.forgetOwn(out)
	c.sealed, c.version = false, 0
}

// breakSeal is release of a marker that somebody else has ended: its seal, which
// goes with the next marker or the session, is left to neither where that can be
// helped.
func (c *candidate) breakSeal(out *engine.Outbox) {
	if c.sealed {
		out.Discard(c.sealPath())
	}
	c.release(out)
}

// doubtSeal has the seal looked for again: the marker was changed, or the heartbeat
// found that what guards the term is not what it was.
func (c *candidate) doubtSeal(ev events.Event, out *engine.Outbox) { c.sealed = false }

// noteSeal looks for the own seal in a listing.
func (c *candidate) noteSeal(ev events.Event, out *engine.Outbox) {
	c.sealed = slices.Contains(ev.Children, c.sealName)
}

func (c *candidate) sealPath() string { return join(c.home, c.sealName) }

// newSeal makes one under a name that none had before.
func (c *candidate) newSeal() events.Op {
	c.count++
	c.sealName, c.sealed = sealPrefix+guid(c.seed, c.count), false
	return events.Op{Verb: "create", Path: c.sealPath(), Mode: events.Ephemeral, Data: c.data}
}

// noteMarker takes a marker that is ours.
func (c *candidate) noteMarker(ev events.Event, out *engine.Outbox) {
	c.own, c.unknown = base(c.marker), false
	c.owned, c.watched = true, true
	c.token, c.version = ev.Stat.Czxid, ev.Stat.Version
}

// govern takes office: at the marker's reply, or after a confirmation.
func (c *candidate) govern(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	c.enter(c.pins(), out)
	c.leaveLatch(out)
	c.takeOffice(ev, out)
}

// enter has the heartbeat ask for what guards the term, for the marker's name
// while there is none.
func (c *candidate) enter(guards []events.Op, out *engine.Outbox) {
	c.guards, c.near = guards, true
	out.Tell(events.SessionMachine, events.Event{Kind: events.OfficeNear, Name: c.id, Path: c.marker, Ops: guards})
}

// pins are the checks that hold only under this term.
func (c *candidate) pins() []events.Op {
	return []events.Op{
		{Verb: "check", Path: c.marker, Version: c.version},
		{Verb: "check", Path: c.sealPath(), Version: -1},
	}
}

// seekWrite asks for a write through the quorum before taking office. Where
// somebody deleted the seal that makes another one.
func (c *candidate) seekWrite(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.noteMarker(ev, out)
	c.enter(nil, out)
	c.reconfirm(ev, out)
}

// reconfirm asks for that write: now, or when it is worth it.
func (c *candidate) reconfirm(ev events.Event, out *engine.Outbox) {
	switch {
	case ev.AskAt > ev.At:
		out.Timer("confirm", time.Duration(ev.AskAt-ev.At))
	case c.sealed:
		out.Multi(c.pins()...)
	default:
		c.sealAnew(out)
	}
}

// sealAnew gives the marker that was read another seal. It may be another's by
// now: nothing rests on the seal before both were read again.
func (c *candidate) sealAnew(out *engine.Outbox) {
	out.Multi(events.Op{Verb: "check", Path: c.marker, Version: c.version}, c.newSeal())
}

// queue stands in line for the latch.
func (c *candidate) queue(ev events.Event, out *engine.Outbox) {
	c.breakSeal(out)
	c.standAt(join(c.home, jobLatch), &c.contender, map[string]string{}, out)
}

// passOn makes the latch's trouble one's own.
func (c *candidate) passOn(ev events.Event, out *engine.Outbox) {
	c.announce(ev.Code, ev.Text, ev, out)
}

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
	c.breakSeal(out)
	c.leaveLatch(out)
}

// giveWay is complain without keeping others from the latch.
func (c *candidate) giveWay(ev events.Event, out *engine.Outbox) {
	c.leaveLatch(out)
	ev.Path = cmp.Or(ev.Path, c.marker)
	c.complain(ev, out)
}

// mark writes the marker, if the latch's node still stands, and ends all seals
// but its own: with them goes what could pass for another's term.
func (c *candidate) mark(ev events.Event, out *engine.Outbox) {
	out.Forget()
	ops := []events.Op{
		{Verb: "check", Path: c.held, Version: -1},
		{Verb: "create", Path: c.marker, Mode: events.Ephemeral, Data: c.data},
		{Verb: "set", Path: c.marker, Data: c.data, Version: 0},
	}
	for _, old := range seals(ev.Children) {
		ops = append(ops, events.Op{Verb: "delete", Path: join(c.home, old), Version: -1})
	}
	c.creating = out.Multi(append(ops, c.newSeal())...)
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
	if ev.Code == events.OK {
		c.own, c.token, c.version, c.sealed = base(c.marker), ev.Zxid, 1, true
		c.approach(out)
	}
}

// retreat is a write that came too late.
func (c *candidate) retreat(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.look(ev, out)
}
