package machines

import (
	"cmp"
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// beginClaim takes the node that was read, asks for heartbeats as in a term, and reads who led last.
func (e *nodeElection) beginClaim(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Kind == events.ReplyStat {
		e.take(ev, out)
	}
	e.wantTermHeartbeats(e.termChecks(), out)
	if e.crumb == "" {
		e.writeClaim(ev, out)
		return
	}
	out.With(engine.Data).Get(e.crumb)
}

// noteCrumb notes the crumb that was read.
func (e *nodeElection) noteCrumb(ev events.Event, out *engine.Outbox) {
	e.crumbVersion, e.crumbSet = -1, 0
	if ev.Code == events.OK && ev.Stat != nil {
		e.crumbVersion, e.crumbSet = ev.Stat.Version, ev.Stat.Mzxid
	}
}

// fence has the handle fence the one that led last.
func (e *nodeElection) fence(ev events.Event, out *engine.Outbox) {
	e.works++
	out.Notify(events.Notify{What: events.Fencing, Session: ev.Session, Path: e.marker, Token: e.token, Data: ev.Data})
	out.Timer(fenceTimer, e.fenceTimeout)
}

// noteFenced notes that the one that led last is fenced.
func (e *nodeElection) noteFenced(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.works--
	e.fencedSet = e.crumbSet
}

// writeClaim writes the crumb, if it is as it was read, and the epoch.
func (e *nodeElection) writeClaim(ev events.Event, out *engine.Outbox) {
	ops := e.termChecks()
	switch {
	case e.crumb == "":
	case e.crumbVersion < 0:
		ops = append(ops, events.Op{Verb: "create", Path: e.crumb, Mode: events.Persistent, Data: e.data})
	default:
		ops = append(ops, events.Op{Verb: "set", Path: e.crumb, Data: e.data, Version: e.crumbVersion})
	}
	if e.epoch != "" && e.newEpoch {
		ops = append(ops, events.Op{Verb: "create", Path: e.epoch, Mode: events.Persistent})
	}
	if e.epoch != "" {
		ops = append(ops, events.Op{Verb: "set", Path: e.epoch, Version: -1})
	}
	out.Multi(ops...)
}

// noteEpoch notes whether the epoch has to be created.
func (e *nodeElection) noteEpoch(ev events.Event, out *engine.Outbox) {
	if ev.Path == e.epoch {
		e.newEpoch = ev.Code == events.NoNode
	}
}

// noteClaim notes what was written.
func (e *nodeElection) noteClaim(ev events.Event, out *engine.Outbox) {
	e.claimed, e.newEpoch = true, false
	e.noteWork(0, e.series().afterShortTerm)
	if e.crumb != "" {
		e.crumbVersion, e.hasCrumb = e.crumbVersion+1, true // one that was created has version 0
	}
	if e.epoch != "" && ev.Stat != nil {
		e.epochVersion = ev.Stat.Version
	}
}

// stopFencing gives the node up, because the fencing has failed or may not go on. The next attempt follows after a
// pause, unless something else follows.
func (e *nodeElection) stopFencing(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.forgetReads(ev, out)
	switch ev.Kind {
	case events.WorkReturned:
		e.works--
	case events.CommandClose:
		e.close(ev, out)
		e.tellUnfenced(ev, out)
	default:
		e.tellUnfenced(ev, out)
	}
	if e.nextIntent == keepPlace {
		e.setIntent(backOff)
	}
	if ev.Kind == events.WorkReturned || ev.Kind == events.TimerFired {
		e.noted().workFailed++
		text := cmp.Or(ev.Text, fmt.Sprintf("it has not returned within %s", e.fenceTimeout))
		e.announce(events.FenceFailed, text, ev, out)
	}
}

// tellUnfenced has the handle end the fencing.
func (e *nodeElection) tellUnfenced(ev events.Event, out *engine.Outbox) {
	n := events.Notify{What: events.Unfenced, Session: ev.Session, Path: e.marker, Token: e.token, Reason: reason(ev),
		Paused: ownPause(ev)}
	if ev.Kind == events.TimerFired {
		n.Code, n.Reason = events.FenceFailed, ""
	}
	out.Notify(n)
}

// leaveCrumb leaves a crumb that may not be deleted, or is not this participant's any more.
func (e *nodeElection) leaveCrumb(ev events.Event, out *engine.Outbox) {
	e.hasCrumb = e.hasCrumb && ev.Path != e.crumb
}

// forgetClaim forgets what was written for a node that is gone.
func (e *nodeElection) forgetClaim() { e.claimed, e.hasCrumb, e.workBroke = false, false, false }
