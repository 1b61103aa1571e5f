package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// begin notes the session that exists at the start.
func (p *persistent) begin(ev events.Event, out *engine.Outbox) {
	p.attach(ev, out)
	p.accept(ev, out)
}

// create creates the node with the user's last data.
func (p *persistent) create(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.resetParents()
	p.sendCreate(ev, out)
}

// createWithParents creates the missing parents, and the node behind them.
func (p *persistent) createWithParents(ev events.Event, out *engine.Outbox) {
	p.makeParents(ev, out)
	p.sendCreate(ev, out)
}

// sendCreate sends the create of the node.
func (p *persistent) sendCreate(ev events.Event, out *engine.Outbox) {
	p.made, p.unknown, p.createdAt = 0, false, ev.At
	p.asked, p.before = p.payload, p.payload
	p.creating = out.Create(events.Op{Path: p.path, Mode: events.Ephemeral, Payload: p.payload})
}

// settle notes the outcome of a create.
func (p *persistent) settle(ev events.Event, out *engine.Outbox) {
	p.creating = 0
	p.noteCode(ev)
	switch {
	case ev.Code == events.OK:
		p.made, p.version, p.written, p.unanswered = ev.Zxid, 0, p.asked, false
		p.newest = max(p.newest, p.made)
	case ev.Code.Unknown():
		p.unknown = true
	}
}

// look reads the node at the path. After a create whose reply was lost, a read is certain to show the
// node only behind a check through the quorum: a deposed leader answers a sync.
func (p *persistent) look(ev events.Event, out *engine.Outbox) {
	if p.creating != 0 && ev.Kind == events.ReplyCreate {
		p.settle(ev, out)
	}
	out.DropPending()
	p.hidden = false
	if p.unknown {
		out.Multi(events.Check(p.path))
	}
	out.With(engine.Watch).Exists(p.path)
}

// note notes the own node's stat: no other node can be at the path.
func (p *persistent) note(ev events.Event, out *engine.Outbox) {
	if p.unknown || p.unanswered {
		tellKept(p.path, out)
	}
	if p.written = p.has(ev); p.written != 0 {
		p.before = p.written
	}
	p.made, p.version, p.unknown, p.unanswered, p.oldNodes = ev.Stat.Czxid, ev.Stat.Version, false, false, nil
	p.newest = max(p.newest, p.made)
}

// tellPresent notifies the handle that the node exists, and answers what waited for it.
func (p *persistent) tellPresent(ev events.Event, out *engine.Outbox) {
	p.note(ev, out)
	p.clearFailure(out)
	if !p.told {
		p.told = true
		out.Notify(events.Notify{What: events.Present, Session: ev.Session, Path: p.path, Token: p.made,
			Owner: p.owner})
	}
	for _, w := range p.awaits {
		out.Answer(w, events.OK, "")
	}
	p.awaits = nil
	p.answerSets(p.written, events.OK, "", out)
}

// askLater starts the timer of the next question whether the own node still exists. A server does not notify a
// client of the deletion of a node that the client may not read.
func (p *persistent) askLater(ev events.Event, out *engine.Outbox) {
	recheckForeign(p.timeout, &p.jitter, out)
}

// ask asks whether the own node still exists.
func (p *persistent) ask(ev events.Event, out *engine.Outbox) { out.Exists(p.path) }

// unchanged reports whether an answer says that the own node is as it was, or says nothing about that: it may not
// be read, but exists.
func (p *persistent) unchanged(ev events.Event) bool {
	return p.ours(ev) && ev.Stat.Version == p.version || ev.Code == events.NoAuth || p.transient(ev)
}

// tellAbsent notifies the handle that the node does not exist, or may not.
func (p *persistent) tellAbsent(ev events.Event, out *engine.Outbox) {
	if p.told {
		p.told = false
		out.Notify(events.Notify{What: events.Absent, Session: ev.Session, Path: p.path, Text: string(ev.Kind)})
	}
}

// answerSets answers the sets whose payloads are numbered up to upTo, and reports whether any waited.
func (p *persistent) answerSets(upTo uint64, code events.Code, text string, out *engine.Outbox) bool {
	before := len(p.sets)
	p.sets = slices.DeleteFunc(p.sets, func(a setCommand) bool {
		if a.payload <= upTo {
			out.Answer(a.command, code, text)
			return true
		}
		return false
	})
	return len(p.sets) < before
}

// set notes the user's data: the next create has them, or a write after it.
func (p *persistent) set(ev events.Event, out *engine.Outbox) {
	p.payload = max(p.payload, ev.Work)
	p.sets = append(p.sets, setCommand{ev.Request, ev.Work})
}

// noteAndWrite notes the own node's stat and writes its data.
func (p *persistent) noteAndWrite(ev events.Event, out *engine.Outbox) {
	p.note(ev, out)
	p.write(ev, out)
}

// write sets the data of the node in the version that was read last. So it does not write to a node
// that another session has created in its place and changed.
func (p *persistent) write(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.asked = p.payload
	out.Multi(InVersion(events.Op{Verb: "set", Path: p.path, Payload: p.payload, Version: p.version})...)
}

// noteWritten reads the node again, because the write has made the watch fire.
func (p *persistent) noteWritten(ev events.Event, out *engine.Outbox) {
	p.written, p.before = p.asked, p.asked
	if p.stray == versionAfter(p.version) {
		p.stray = 0 // this write took its place
	}
	p.answerSets(p.written, events.OK, "", out)
	p.look(ev, out)
}

// giveUpWrite gives up data that the ensemble refuses (too large, no permission). The node keeps what it
// has, or gets again what it had before. If no call waits for its answer any more, the handle reports it.
func (p *persistent) giveUpWrite(ev events.Event, out *engine.Outbox) {
	if !p.answerSets(p.asked, ev.Code, p.failureText(ev), out) {
		p.reportFailure(ev.Code, p.path, ev, out)
	}
	if p.payload == p.asked {
		p.payload = p.before
	}
	p.look(ev, out)
}

// loseOwn notes that no node is at the path any more. If the last one was the own one, its deletion is
// counted.
func (p *persistent) loseOwn(ev events.Event, out *engine.Outbox) {
	if p.made != 0 {
		p.noteLost(ev)
	}
	p.unanswered = p.unanswered || p.unknown
	p.made, p.unknown = 0, false
	p.tellAbsent(ev, out)
}

// noteOccupied notes another client's node. It is only watched.
func (p *persistent) noteOccupied(ev events.Event, out *engine.Outbox) {
	p.loseOwn(ev, out)
	p.otherNode = ev.Stat.Czxid
	code, text := events.Occupied, p.path
	switch {
	case !ev.Stat.Ephemeral():
		code = events.PersistentNode
	case ev.Stat.EphemeralOwner == p.owner:
		text += ": this client's session owns it, and this handle did not create it"
	}
	p.reportFailure(code, text, ev, out)
}

// readOccupied asks whether the other client's node may be read: else no event says that it is deleted.
func (p *persistent) readOccupied(ev events.Event, out *engine.Outbox) {
	out.Get(p.path)
	recheckForeign(p.timeout, &p.jitter, out)
}

// noteHidden notes another client's node that may not be read.
func (p *persistent) noteHidden(ev events.Event, out *engine.Outbox) {
	p.loseOwn(ev, out)
	p.otherNode = 0
	p.reportFailure(events.Occupied, p.path, ev, out)
}

// pauseOccupied reads the node again after a pause, because nothing can be watched that says when it is
// deleted.
func (p *persistent) pauseOccupied(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.reportFailure(events.Occupied, p.path, ev, out)
	out.Timer(backOffTimer, p.nextPause())
}

// clear deletes a node that an older session of this machine left, unless somebody has changed it.
func (p *persistent) clear(ev events.Event, out *engine.Outbox) {
	out.Multi(events.Op{Verb: "delete", Path: p.path, Version: ev.Stat.Version})
}

// giveUp ends an attempt. The next one follows after a pause.
func (p *persistent) giveUp(ev events.Event, out *engine.Outbox) {
	if p.creating != 0 && ev.Request == p.creating {
		p.settle(ev, out)
	}
	p.creating = 0
	ev = p.rootCause(ev)
	p.tellAbsent(ev, out)
	p.failAndBackOff(ev, out)
	if !ev.Code.Transient() {
		for _, w := range p.awaits {
			out.Answer(w, ev.Code, p.failureText(ev))
		}
		p.awaits = nil
		p.answerSets(p.payload, ev.Code, p.failureText(ev), out)
	}
}

func (p *persistent) await(ev events.Event, out *engine.Outbox) {
	p.awaits = append(p.awaits, ev.Request)
}

// cancel cancels an await, or the wait for a set: its data are still to be written.
func (p *persistent) cancel(ev events.Event, out *engine.Outbox) {
	if i := slices.Index(p.awaits, ev.Work); i >= 0 {
		p.awaits = slices.Delete(p.awaits, i, i+1)
		out.Answer(ev.Work, events.Cancelled, "")
	}
	p.sets = slices.DeleteFunc(p.sets, func(a setCommand) bool {
		if a.command == ev.Work {
			out.Answer(ev.Work, events.Cancelled, "")
		}
		return a.command == ev.Work
	})
}

func (p *persistent) refuseLatent(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotStarted, "")
}

func (p *persistent) refuseClosed(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.Closed, "")
}

// suspend handles the end of a connection: the node may be deleted meanwhile.
func (p *persistent) suspend(ev events.Event, out *engine.Outbox) { p.tellAbsent(ev, out) }

func (p *persistent) dropPending(ev events.Event, out *engine.Outbox) { out.DropPending() }

// lose handles the end of the session: the ensemble deletes the node, which may still be at the path
// for a while in the next one.
func (p *persistent) lose(ev events.Event, out *engine.Outbox) {
	p.suspend(ev, out)
	out.DropCreates()
	if p.made != 0 && p.asked != p.written {
		p.stray = versionAfter(p.version)
	}
	p.keepAsOld()
}

// keepAsOld makes the own node one of an older session's.
func (p *persistent) keepAsOld() {
	if p.mayGetNode(events.Event{}) {
		p.oldNodes = append(p.oldNodes, oldNode{p.owner, p.made})
	}
	p.made, p.unknown, p.unanswered, p.creating, p.mayFollow = 0, false, false, 0, false
}

// attach notes the session of the new connection.
func (p *persistent) attach(ev events.Event, out *engine.Outbox) {
	p.owner = ev.SessionID
	p.noteTimeout(ev)
}

func (p *persistent) close(ev events.Event, out *engine.Outbox) {
	p.closing = append(p.closing, ev.Request)
	for _, w := range p.awaits {
		out.Answer(w, events.Closed, "")
	}
	p.awaits = nil
	for _, a := range p.sets {
		out.Answer(a.command, events.Closed, "")
	}
	p.sets = nil
	p.tellAbsent(ev, out)
}

// closeRemove closes the machine and deletes the node in the version that was read last.
func (p *persistent) closeRemove(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.close(ev, out)
	p.deleteVersion(p.version, out)
}

// findToDelete reads the node at the path, as look does, as soon as there is a connection and no
// create is pending. If it is ours, it is deleted.
func (p *persistent) findToDelete(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Attached && p.creating == 0 {
		p.check = out.Multi(events.Check(p.path))
		out.Exists(p.path)
	}
}

// remove deletes the own node in the version that was just read.
func (p *persistent) remove(ev events.Event, out *engine.Outbox) {
	p.note(ev, out)
	p.deleteVersion(ev.Stat.Version, out)
}

// deleteVersion deletes the node in one version.
func (p *persistent) deleteVersion(version int32, out *engine.Outbox) {
	out.Multi(events.Op{Verb: "delete", Path: p.path, Version: version})
}

// end answers the commands that closed the machine. What the server may still create is searched for.
func (p *persistent) end(ev events.Event, out *engine.Outbox) {
	if ev.Kind != events.ConnectionLost {
		p.searchName(p.id, p.path, ev, out)
	}
	for _, c := range p.closing {
		out.Answer(c, events.OK, "")
	}
	p.closing = nil
}
