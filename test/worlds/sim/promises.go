package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// beganConfirmed checks that a term begins only while belief holds, by the deadline that
// was published and the clock of that moment.
func (k *checks) beganConfirmed(b *belief) {
	if !b.u.c.Interrupted() && !b.u.c.believes(b) {
		k.fail("a term begins under a confirmation", "%s was elected %s after its deadline", b.u.name(),
			time.Duration(b.u.c.Clock()-b.u.c.Deadline().Until))
	}
}

// ownEndFirst checks that the event that made a machine leader did not come after the
// own node's end: a watch on the own node would have told first, on the same connection.
func (k *checks) ownEndFirst(b *belief) {
	end, over := k.ended[b.path]
	if news := b.u.c.electedBy[b.u.id]; over && news.Zxid >= end && !k.unreadable[b.path] {
		k.fail("the own node's end is told first", "%s was made leader by %s of transaction %x; %s ended with %x",
			b.u.name(), news.Kind, news.Zxid, b.path, end)
	}
}

// sessionExpired is called when the ensemble ended a session, and with it a node by which somebody led. It checks
// every AloneUntil that was published for the session, whether or not the term has ended since: nobody else can have
// led before.
func (k *checks) sessionExpired(path string) {
	b := k.hasLed[path]
	if b == nil || b.isReplaced(k) {
		return
	}
	c := b.u.c
	alone := c.alone[b.session]
	if k.w.planted(func(p *Plant) bool { return p.IgnoresPauses }) {
		life := k.w.Timeout - k.w.Timeout/3 - k.w.Tick/2 - k.w.Timeout/40
		alone = max(alone, c.Believed().Until+int64(life-k.w.Timeout/2))
	}
	if left := time.Duration(alone - c.Clock()); left > 0 && !c.shortenedUnheard() {
		k.fail("AloneUntil", "%s was promised to be alone for %s more, and %s is gone with its session",
			b.u.name(), left, path)
	}
}

// placeKept checks that nobody gives up a place by which it has not led, except to
// close, because it is unhealthy, or because of an error that says so.
func (k *checks) placeKept(path string, p *world.Proposal) {
	if p.Operator || k.overtaken(path, p) || k.othersChanged || p.Txn.Code != zkmem.OpDelete || k.hasLed[path] != nil {
		return
	}
	for _, c := range k.w.clients {
		if p.Txn.Session != c.SessionID() {
			continue
		}
		u := c.user(c.created[path])
		if u == nil || u.closing || c.leaving || u.hasTokenFloor || u.oneTerm || u.givesUp || u.call.refused ||
			k.w.has("policy ends") {
			continue
		}
		k.fail("a place is kept", "%s deleted %s, which had not led", u.name(), path)
	}
}

// transitioned is called when a machine has made a transition.
func (c *client) transitioned(r events.Record) {
	if r.To == "leading" && r.From != "leading" {
		c.electedBy[r.Machine] = r.Event
	}
	if u := c.user(r.Machine); u != nil && r.To != r.From {
		c.w.checks.tryWaits(u, r.To)
		c.w.checks.tryFinds(u, r)
		c.w.checks.writeCallBegun(u, r)
		c.w.checks.deletionLooked(u, r)
		switch r.To {
		case "closed":
			c.w.checks.machineClosed(u)
		case "outside":
			c.w.checks.nothingLeftOf(u)
		}
	}
}

// isReplaced reports whether the node of this name is not the one that belief rests on.
// A name with a GUID does not come again.
func (b *belief) isReplaced(k *checks) bool {
	again := b.u.role.line.fixedName || b.u.role.line.noGUID
	return again && k.createdAt[b.path] != 0 && k.createdAt[b.path] != b.token
}

// nodeCreated notes that a node exists, although one of its name was deleted before.
func (k *checks) nodeCreated(path string, t zkmem.Txn) {
	k.createdAt[path] = t.Zxid
	delete(k.ended, path)
	delete(k.hasLed, path)
	delete(k.unreadable, path)
	delete(k.owners, path)
	if _, stat, err := k.w.ens.Committed().Get(path); err == nil && stat.EphemeralOwner == t.Session && !public(path) {
		k.owners[path] = t.Session
	}
}

// public reports whether every process may delete a node.
func public(path string) bool {
	return slices.ContainsFunc(roles, func(r *role) bool {
		return r.dirs.public && strings.HasPrefix(path, r.dirs.own+"/")
	})
}

// deletedByOwner checks that nobody deletes another process's node, except by writing
// a job's marker, which ends what guarded the terms before.
func (k *checks) deletedByOwner(path string, p *world.Proposal) {
	for _, job := range []string{jobPath, dealtJob, workedJob} {
		if path != machines.JobMarker(job) && slices.Contains(creations(p.Txn), machines.JobMarker(job)) {
			return
		}
	}
	if k.w.queue != nil && k.w.queue.brokenLocks[path] {
		return
	}
	if isPlainName(path) {
		k.plain.ends[plainNode{path, k.owners[path]}] = p.Txn.Zxid
	}
	owner, by := k.w.clientOf(k.owners[path]), k.w.clientOf(p.Txn.Session)
	if !p.Operator && owner != nil && by != owner && !k.overtaken(path, p) && k.w.ens.Generation() == 0 {
		k.fail("a node is deleted by its own process", "session %x deleted %s of session %x", p.Txn.Session,
			path, k.owners[path])
	}
}

// creations returns the nodes that a transaction created.
func creations(t zkmem.Txn) (made []string) {
	if t.Code == zkmem.OpCreate {
		return []string{t.Path}
	}
	for _, sub := range t.Ops {
		made = append(made, creations(sub)...)
	}
	return made
}
