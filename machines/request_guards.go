package machines

import "github.com/incumbent-go/incumbent/events"

// reads reports whether the request changes nothing, and can be sent again.
func (r *request) reads(events.Event) bool {
	switch r.ops[0].Verb {
	case "get", "exists", "children", "sync":
		return true
	}
	return false
}

// unsent reports whether the connection ended before the request was sent.
func (r *request) unsent(ev events.Event) bool {
	return ev.Code == events.NotSent && !ev.Attached
}

// unknown reports whether the request was sent, and no answer says whether it was carried out.
func (r *request) unknown(ev events.Event) bool { return ev.Code.Unknown() }

// readUnanswered reports whether a read got no answer.
func (r *request) readUnanswered(ev events.Event) bool {
	return r.unsent(ev) || r.unknown(ev) && !ev.Attached || ev.Code == events.SessionExpired
}

// isProtected reports whether the request is a protected create.
func (r *request) isProtected(events.Event) bool { return r.protected }

// protectedUnanswered reports whether the connection ended before a protected create was answered.
func (r *request) protectedUnanswered(ev events.Event) bool {
	return r.protectedUnknown(ev) && !ev.Attached
}

// protectedUnknown reports whether the request is a protected create whose outcome is unknown.
func (r *request) protectedUnknown(ev events.Event) bool { return r.protected && r.unknown(ev) }

// wantsParents reports whether the create found no parent, and the parents are to be created. If one
// existed, none was refused, and they are gone, they are created again immediately, because a request
// has no back-off: so this has an end.
func (r *request) wantsParents(ev events.Event) bool {
	gone := ev.Code == events.NoNode && r.last().existed && r.last().failure == nil
	return r.parents && r.rounds <= maxShortLived && (r.parentMissing(ev) || gone)
}

// protectedWantsParents reports whether wantsParents holds for a protected create, which is sent right
// behind its parents. If a server that knows no containers ends the connection after the first of
// them, the node is looked for. An unprotected create would then be answered with "outcome unknown",
// so it waits until its parents exist.
func (r *request) protectedWantsParents(ev events.Event) bool {
	return r.protected && r.wantsParents(ev)
}

// parentsUnknown reports whether the answers do not say whether the parents exist. Nothing was created that the
// caller asked for.
func (r *request) parentsUnknown(ev events.Event) bool {
	return (ev.Request == r.last().lowestCreate || ev.Code == events.NoNode) && r.rootCause(ev).Code.Unknown()
}

// parentsMade reports whether the lowest parent exists now.
func (r *request) parentsMade(ev events.Event) bool {
	return ev.Request == r.last().lowestCreate && createdOrThere(ev)
}

// parentsGone reports whether the lowest parent could not be created because one above it, which was
// there a moment ago, is gone again, and may be created once more.
func (r *request) parentsGone(ev events.Event) bool {
	return ev.Request == r.last().lowestCreate && r.wantsParents(ev)
}

// parentsRefused reports whether the lowest parent cannot be created, not even as a persistent node.
func (r *request) parentsRefused(ev events.Event) bool {
	return ev.Request == r.last().lowestCreate && !(ev.Code == events.Unimplemented && r.last().containers)
}

// nodeListed reports whether a listing shows the protected node.
func (r *request) nodeListed(ev events.Event) bool { return withGUID(ev.Children, r.guid) != "" }

// node returns the path of the protected node in a listing.
func (r *request) node(ev events.Event) string {
	return join(parent(r.path), withGUID(ev.Children, r.guid))
}

// denied reports whether the ensemble refuses a listing or a delete.
func (r *request) denied(ev events.Event) bool {
	return ev.Code != events.OK && ev.Code != events.NoNode
}

// otherSession reports whether this is another session than the one to which the create belongs.
func (r *request) otherSession(ev events.Event) bool { return ev.Session != r.session }

// outlivesSession reports whether the node is protected and outlives its session.
func (r *request) outlivesSession(events.Event) bool {
	return r.protected && r.ops[0].Mode != events.Ephemeral && r.ops[0].Mode != events.EphemeralSequential
}

// survivesSession reports whether the request goes on after the end of a session, while the client has
// another.
func (r *request) survivesSession(ev events.Event) bool {
	return ev.Code != events.Closed &&
		(r.session == 0 || r.reads(ev) || r.ofNoSession() || r.mayExist && r.outlivesSession(ev))
}

// mustTrace reports whether a protected create's outcome is unknown, so that its node is looked for.
func (r *request) mustTrace(events.Event) bool { return r.mayExist }

// isAbandoned reports whether the protected node is to be deleted as soon as it is found.
func (r *request) isAbandoned(events.Event) bool { return r.abandoned }
