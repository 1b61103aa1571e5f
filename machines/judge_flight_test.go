package machines

import (
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// enrolled is what the judge knows of the own node of a place: which requests were sent on which
// connection, and what they showed.
type enrolled struct {
	create     uint64 // the number of the last create
	sentOn     int    // the connection on which it was sent
	made       string // the node that it made
	madeOn     int
	read       string // the node that was read back, with this session as its owner
	readOn     int
	aboveFloor bool // its token is not below the floor
}

// noteRequest notes the create of an own node.
func (f *enrolled) noteRequest(r events.Request, connection int) {
	if c, creates := r.(events.Create); creates && c.Mode == events.EphemeralSequential {
		f.create, f.sentOn = c.Request, connection
	}
}

// noteAnswer notes what an answer shows of the own node.
func (f *enrolled) noteAnswer(ev events.Event, own string, connection int, owner, floor int64) {
	switch {
	case ev.Code != events.OK:
	case ev.Kind == events.ReplyCreate && ev.Request == f.create:
		f.made, f.madeOn, f.aboveFloor = ev.Path, f.sentOn, ev.Zxid >= floor
	case ev.Kind == events.ReplyStat && ev.Path == own && ev.Stat != nil && ev.Stat.EphemeralOwner == owner:
		f.read, f.readOn = ev.Path, connection
	}
}

// proven reports whether a term may begin under a node by this event: the node was read back on this
// connection, or the event is the listing that was sent right behind its create there.
func (f *enrolled) proven(path string, ev events.Event, connection int) bool {
	if f.read == path && f.readOn == connection {
		return true
	}
	behind := ev.Kind == events.ReplyChildren && ev.Request == f.create+1
	return behind && f.made == path && f.madeOn == connection && f.aboveFloor
}

// begins checks that no term of a place begins under a node that was neither read back nor just made.
func (j *judge) begins(r events.Record) {
	f, p := &j.facts[r.Machine].enrolled, j.places[r.Machine]
	if p == nil || p.read == notRead || r.Row == events.RowLate || j.session == nil {
		return
	}
	f.noteAnswer(r.Event, p.path(), j.connections, j.session.id, j.facts[r.Machine].floor)
	for _, e := range r.Effects.Strings() {
		if rest, ok := strings.CutPrefix(e, "notify elected "); ok {
			path, _, _ := strings.Cut(rest, " ")
			if !f.proven(path, r.Event, j.connections) {
				j.wrong("%s: elected by %s with %s, which was neither read back nor just made", r.Machine,
					r.Event.Kind, path)
			}
		}
	}
}

// armsOwnFirst checks that a place watches its predecessor only behind its own node: a takeover without
// a request rests on that.
func (j *judge) armsOwnFirst(id events.ID, p *place, path string) {
	if p.read == notRead || j.armed[id][p.path()] || j.engine.State(id) != waiting {
		return
	}
	awaited := map[uint64]bool{}
	for _, a := range j.engine.Awaits(id) {
		awaited[a.Request] = true
	}
	for number, r := range j.asked[id] {
		if get, reads := r.(events.Get); reads && get.Watch && get.Path == p.path() && awaited[number] {
			return
		}
	}
	j.wrong("%s: watches %s before its own node", id, path)
}

// watchesSoon reports whether a leader whose own node was not read back yet has a timer that ends that in time.
func (j *judge) watchesSoon(id events.ID, p *contender) bool {
	for _, a := range j.engine.Awaits(id) {
		if a.Name == ownWatchTimer {
			return j.due[id][a.Request] <= p.since+int64(min(ownWatchDelay, p.timeout/40))
		}
	}
	return false
}
