package machines

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// jobElection is one instance that stands for a job's leadership. Its own node is
// the marker, which has a fixed name. So nothing is done to it by name alone: what guards a write, and what
// deletes the marker, names its version and the seal.
type jobElection struct {
	contender
	marker string // the marker's path

	sublatch // the latch
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

func newJobElection(open events.Event) (*jobElection, error) {
	job := open.Path
	open.Path = job + "/" + jobDir
	o := options{values: open.Options}
	return &jobElection{contender: newContender(open, &o), marker: JobMarker(job)}, o.err
}

// Watches says which node matters: the marker.
func (c *jobElection) Watches(path string) bool { return path == c.marker }

// look reads the marker, and asks for the seal before it where the marker may be
// ours and the seal is not known to stand. A write whose outcome is unknown shows
// for certain only after a sync.
func (c *jobElection) look(ev events.Event, out *engine.Outbox) {
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
func (c *jobElection) lookAfresh(ev events.Event, out *engine.Outbox) {
	c.sealed = false
	c.look(ev, out)
}

// inspect reads the marker under the latch, and then lists the seals: once no
// marker stands none can be added.
func (c *jobElection) inspect(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.release(out)
	out.Exists(c.marker, true)
	out.Children(c.home)
}

// release forgets a marker that is not ours, or not any more.
func (c *jobElection) release(out *engine.Outbox) {
	c.forgetOwn(out)
	c.sealed, c.version = false, 0
}

// breakSeal is release of a marker that somebody else has ended: its seal, which
// goes with the next marker or the session, is left to neither where that can be
// helped.
func (c *jobElection) breakSeal(out *engine.Outbox) {
	if c.sealed {
		out.Discard(c.sealPath())
	}
	c.release(out)
}

// doubtSeal has the seal looked for again: the marker was changed, or the heartbeat
// found that what guards the term is not what it was.
func (c *jobElection) doubtSeal(ev events.Event, out *engine.Outbox) { c.sealed = false }

// noteSeal looks for the own seal in a listing.
func (c *jobElection) noteSeal(ev events.Event, out *engine.Outbox) {
	c.sealed = slices.Contains(ev.Children, c.sealName)
}

func (c *jobElection) sealPath() string { return join(c.home, c.sealName) }

// newSeal makes one under a name that none had before.
func (c *jobElection) newSeal() events.Op {
	c.count++
	c.sealName, c.sealed = sealPrefix+guid(c.seed, c.count), false
	return events.Op{Verb: "create", Path: c.sealPath(), Mode: events.Ephemeral, Data: c.data}
}

// noteMarker takes a marker that is ours.
func (c *jobElection) noteMarker(ev events.Event, out *engine.Outbox) {
	c.own, c.unknown = base(c.marker), false
	c.owned, c.watched = true, true
	c.token, c.version = ev.Stat.Czxid, ev.Stat.Version
}

// govern takes office: at the marker's reply, or after a confirmation.
func (c *jobElection) govern(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	c.enter(c.pins(), out)
	c.leaveLatch(out)
	c.takeOffice(ev, out)
}

// enter has the heartbeat ask for what guards the term, for the marker's name
// while there is none.
func (c *jobElection) enter(guards []events.Op, out *engine.Outbox) {
	c.guards, c.near = guards, true
	out.Tell(events.SessionMachine, events.Event{Kind: events.OfficeNear, Name: c.id, Path: c.marker, Ops: guards})
}

// pins are the checks that hold only under this term.
func (c *jobElection) pins() []events.Op {
	return []events.Op{
		{Verb: "check", Path: c.marker, Version: c.version},
		{Verb: "check", Path: c.sealPath(), Version: -1},
	}
}

// seekWrite asks for a write through the quorum before taking office. Where
// somebody deleted the seal that makes another one.
func (c *jobElection) seekWrite(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.noteMarker(ev, out)
	c.enter(nil, out)
	c.reconfirm(ev, out)
}

// reconfirm asks for that write: now, or when it is worth it.
func (c *jobElection) reconfirm(ev events.Event, out *engine.Outbox) {
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
func (c *jobElection) sealAnew(out *engine.Outbox) {
	out.Multi(events.Op{Verb: "check", Path: c.marker, Version: c.version}, c.newSeal())
}

// queue stands in line for the latch.
func (c *jobElection) queue(ev events.Event, out *engine.Outbox) {
	c.breakSeal(out)
	c.standAt(join(c.home, jobLatch), &c.contender, map[string]string{}, out)
}

// passOn makes the latch's trouble one's own.
func (c *jobElection) passOn(ev events.Event, out *engine.Outbox) {
	c.announce(ev.Code, ev.Text, ev, out)
}

// follow leaves the job to another instance.
func (c *jobElection) follow(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.recover(out)
}

// obstructed is follow of a marker that no session owns, and says so.
func (c *jobElection) obstructed(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.obstruct(ev, out)
}

func (c *jobElection) settle(out *engine.Outbox) {
	out.Forget()
	c.breakSeal(out)
	c.leaveLatch(out)
}

// giveWay is complain without keeping others from the latch.
func (c *jobElection) giveWay(ev events.Event, out *engine.Outbox) {
	c.leaveLatch(out)
	ev.Path = cmp.Or(ev.Path, c.marker)
	c.complain(ev, out)
}

// mark writes the marker, if the latch's node still stands, and ends all seals
// but its own: with them goes what could pass for another's term.
func (c *jobElection) mark(ev events.Event, out *engine.Outbox) {
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
func (c *jobElection) claim(ev events.Event, out *engine.Outbox) {
	c.book(ev, out)
	c.leaveLatch(out)
	c.look(ev, out)
}

// book notes what a write came to.
func (c *jobElection) book(ev events.Event, out *engine.Outbox) {
	c.creating, c.unknown = 0, ev.Code.Unknown()
	if ev.Code == events.OK {
		c.own, c.token, c.version, c.sealed = base(c.marker), ev.Zxid, 1, true
		c.approach(out)
	}
}

// retreat is a write that came too late.
func (c *jobElection) retreat(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.look(ev, out)
}
