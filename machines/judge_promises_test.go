package machines

import (
	"strconv"

	"github.com/incumbent-go/incumbent/events"
)

// facts is what the judge knows of a machine without asking it.
type facts struct {
	floor  int64            // the least token that it accepts
	listed []string         // the last listing that it got
	made   map[string]int64 // the ephemeral nodes that it knows to have made, and not to be gone
	enrolled
}

// note notes what a record says about a machine, and checks what it says about the session.
func (j *judge) note(r events.Record) {
	f := j.facts[r.Machine]
	if f == nil {
		f = &facts{made: map[string]int64{}}
		j.facts[r.Machine] = f
	}
	switch r.Event.Kind {
	case events.CommandOpen:
		floor, _ := strconv.ParseInt(r.Event.Options["tokenFloor"], 10, 64)
		*f = facts{floor: floor, made: map[string]int64{}}
	case events.ConnectionAttached:
		if r.Machine == events.SessionMachine && r.To == string(connected) {
			j.attachedAt = r.Event.At
			j.connections++
		}
	case events.ReplyChildren:
		if r.Row != events.RowLate && r.Event.Code == events.OK {
			f.listed = r.Event.Children
		}
	}
	j.noteOwn(r)
	j.begins(r)
	j.checkRules(r)
}

// floor checks that no term begins under a token that the machine refuses.
func (j *judge) floor(id events.ID, n events.Notify) {
	if n.What == events.Elected && n.Token < j.facts[id].floor {
		j.wrong("%s: elected with token %d, below its floor %d", id, n.Token, j.facts[id].floor)
	}
}

// watch checks the request for a watch of a place in a line: it watches no other node than its own,
// its predecessor, and the directory in place of a predecessor that it may not read.
func (j *judge) watch(id events.ID, r events.Request) {
	p := j.places[id]
	if p == nil {
		return
	}
	path, watch := "", false
	switch r := r.(type) {
	case events.Get:
		path, watch = r.Path, r.Watch
	case events.Exists:
		path, watch = r.Path, r.Watch
	case events.Children:
		path, watch = r.Path, r.Watch && !p.hidden
	}
	if !watch || path == p.path() {
		return
	}
	j.armsOwnFirst(id, p, path)
	if !j.isAhead(id, p, path) {
		j.wrong("%s: watches %s, which is not its predecessor in %v", id, path, j.facts[id].listed)
	}
}

// isAhead reports whether a path is the nearest place that a place waits for, by the last listing. Of
// places with the same number either may be ahead.
func (j *judge) isAhead(id events.ID, p *place, path string) bool {
	own, nearest := int64(0), Place{Sequence: -1}
	for other := range places(j.facts[id].listed, p.lineLabels()...) {
		if other.Name == p.own() {
			own = other.Sequence
		}
	}
	for other := range places(j.facts[id].listed, p.lineLabels()...) {
		switch {
		case other.Name == p.own() || p.shared && other.Label == p.label:
		case other.Sequence == own && path == join(p.ownDir, other.Name):
			return true
		case other.Sequence < own && inOrder(other, nearest) > 0:
			nearest = other
		}
	}
	return path == join(p.ownDir, nearest.Name)
}

// confirmation checks that the deadline moves on by an answer to a request of this connection only.
func (j *judge) confirmation(e events.Deadline, cause events.Event) {
	if e.Until != 0 && cause.SentAt < j.attachedAt {
		j.wrong("session: a request that was sent at %d moves the deadline to %d, and this connection began at %d",
			cause.SentAt, e.Until, j.attachedAt)
	}
}

// exclusive checks that no reader holds while a writer does. A machine that does not know yet that
// its node is gone does not count.
func (j *judge) exclusive(gone func(id events.ID) bool) {
	var writer events.ID
	readers := 0
	for id, p := range j.places {
		if j.engine.State(id) != leading || len(p.lineLabels()) < 2 || gone(id) {
			continue
		}
		if p.shared {
			readers++
			continue
		}
		if writer != "" {
			j.wrong("%s and %s write at once", writer, id)
		}
		writer = id
	}
	if writer != "" && readers > 0 {
		j.wrong("%s writes, and %d read", writer, readers)
	}
}
