package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

func (p *persistent) begin(ev events.Event, out *engine.Outbox) {
	p.owner = ev.SessionID
	p.accept(ev, out)
}

// create asks for the node with the user's last data.
func (p *persistent) create(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.resetParents()
	p.sendCreate(out)
}

// createWithParents asks for the missing parents, and for the node behind them.
func (p *persistent) createWithParents(ev events.Event, out *engine.Outbox) {
	p.makeParents(ev, out)
	p.sendCreate(out)
}

func (p *persistent) sendCreate(out *engine.Outbox) {
	p.made, p.unknown = 0, false
	p.asked = p.payload
	p.creating = out.Create(events.Op{Path: p.path, Mode: events.Ephemeral, Payload: p.payload})
}

// settle keeps in mind what a create came to.
func (p *persistent) settle(ev events.Event, out *engine.Outbox) {
	p.creating = 0
	switch {
	case ev.Code == events.OK:
		p.made, p.version, p.written = ev.Zxid, 0, p.asked
	case ev.Code.Unknown():
		p.unknown = true
	}
}

// look reads what stands at the path. After a create whose reply was lost, only a
// check through the quorum makes it certain that a read would show the node: a
// leader that was deposed answers a sync.
func (p *persistent) look(ev events.Event, out *engine.Outbox) {
	if p.creating != 0 && ev.Kind == events.ReplyCreate {
		p.settle(ev, out)
	}
	out.DropPending()
	if p.unknown {
		out.Multi(events.Check(p.path))
	}
	out.With(engine.Watch).Exists(p.path)
}

// note takes the own node's stat: no other can stand at the path.
func (p *persistent) note(ev events.Event) {
	if p.unknown {
		p.written = p.asked
	}
	p.made, p.version, p.unknown, p.oldNodes = ev.Stat.Czxid, ev.Stat.Version, false, nil
}

// tellPresent ends the waits.
func (p *persistent) tellPresent(ev events.Event, out *engine.Outbox) {
	p.note(ev)
	p.clearFailure(out)
	if !p.told {
		p.told = true
		out.Notify(events.Notify{What: events.Present, Session: ev.Session, Path: p.path, Token: p.made, Owner: p.owner})
	}
	for _, w := range p.awaits {
		out.Answer(w, events.OK, "")
	}
	p.awaits = nil
	p.answerSets(p.written, events.OK, "", out)
}

// tellAbsent tells that the node does not stand, or may not.
func (p *persistent) tellAbsent(ev events.Event, out *engine.Outbox) {
	if p.told {
		p.told = false
		out.Notify(events.Notify{What: events.Absent, Session: ev.Session, Path: p.path, Text: string(ev.Kind)})
	}
}

// answerSets tells those whose payloads are numbered up to this.
func (p *persistent) answerSets(upTo uint64, code events.Code, text string, out *engine.Outbox) {
	p.sets = slices.DeleteFunc(p.sets, func(a setCommand) bool {
		if a.payload <= upTo {
			out.Answer(a.command, code, text)
			return true
		}
		return false
	})
}

// set notes the user's data: they are written with the next create or after it.
func (p *persistent) set(ev events.Event, out *engine.Outbox) {
	p.payload = max(p.payload, ev.Work)
	p.sets = append(p.sets, setCommand{ev.Request, ev.Work})
}

func (p *persistent) noteAndWrite(ev events.Event, out *engine.Outbox) {
	p.note(ev)
	p.write(ev, out)
}

// write sets the data of the node as it was read last: not of one that another
// session has made in its place and changed.
func (p *persistent) write(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.asked = p.payload
	out.Multi(events.Op{Verb: "set", Path: p.path, Payload: p.payload, Version: p.version})
}

// noteWritten reads the node again: the write has spent the watch.
func (p *persistent) noteWritten(ev events.Event, out *engine.Outbox) {
	p.written = p.asked
	p.answerSets(p.written, events.OK, "", out)
	p.look(ev, out)
}

// giveUpWrite gives up data that the ensemble refuses (too large, no permission), and
// goes on with the node as it is.
func (p *persistent) giveUpWrite(ev events.Event, out *engine.Outbox) {
	p.answerSets(p.asked, ev.Code, p.failureText(ev), out)
	if p.payload == p.asked {
		p.payload = p.written
	}
	p.look(ev, out)
}

// noteOccupied is a node that is not ours: it is watched, and nothing else.
func (p *persistent) noteOccupied(ev events.Event, out *engine.Outbox) {
	p.made, p.unknown, p.otherNode = 0, false, ev.Stat.Czxid
	p.tellAbsent(ev, out)
	code := events.Occupied
	if !ev.Stat.Ephemeral() {
		code = events.PersistentNode
	}
	p.reportFailure(code, p.path, ev, out)
}

// clear deletes what an older session of ours left, if nobody changed it.
func (p *persistent) clear(ev events.Event, out *engine.Outbox) {
	out.Multi(events.Op{Verb: "delete", Path: p.path, Version: ev.Stat.Version})
}

// giveUp ends an attempt: the next one comes after a while.
func (p *persistent) giveUp(ev events.Event, out *engine.Outbox) {
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

// cancel takes an await back, or the wait for a set: its data stay wanted.
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

// suspend is the end of a connection: the node may be deleted meanwhile.
func (p *persistent) suspend(ev events.Event, out *engine.Outbox) { p.tellAbsent(ev, out) }

func (p *persistent) dropPending(ev events.Event, out *engine.Outbox) { out.DropPending() }

// lose is the end of the session: its node goes by itself, or is in the way of
// the next one for a while.
func (p *persistent) lose(ev events.Event, out *engine.Outbox) {
	p.suspend(ev, out)
	out.DropCreates()
	p.keepAsOld()
}

// keepAsOld turns what this session made into what an older one did.
func (p *persistent) keepAsOld() {
	if p.mayHaveNode(events.Event{}) {
		p.oldNodes = append(p.oldNodes, oldNode{p.owner, p.made})
	}
	p.made, p.unknown, p.creating = 0, false, 0
}

// attach takes the session that the new connection belongs to.
func (p *persistent) attach(ev events.Event, out *engine.Outbox) { p.owner = ev.SessionID }

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

// closeRemove deletes the node as it was read last.
func (p *persistent) closeRemove(ev events.Event, out *engine.Outbox) {
	p.close(ev, out)
	p.deleteVersion(p.version, out)
}

// findToDelete reads what stands at the path, as soon as there is a connection and no
// create under way, as look does: it is deleted if it is ours.
func (p *persistent) findToDelete(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Attached && p.creating == 0 {
		p.check = out.Multi(events.Check(p.path))
		out.Exists(p.path)
	}
}

// remove deletes the own node as it was just read.
func (p *persistent) remove(ev events.Event, out *engine.Outbox) {
	p.note(ev)
	p.deleteVersion(ev.Stat.Version, out)
}

func (p *persistent) deleteVersion(version int32, out *engine.Outbox) {
	out.Multi(events.Op{Verb: "delete", Path: p.path, Version: version})
}

// end tells all who asked for it.
func (p *persistent) end(ev events.Event, out *engine.Outbox) {
	for _, c := range p.closing {
		out.Answer(c, events.OK, "")
	}
	p.closing = nil
}
