package sim

import (
	"slices"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// These checks are about belief: when it begins, while it lasts, and when it ends.

// belief is one term of one participant.
type belief struct {
	u          *user
	guards     []events.Op // the first operations of a guarded write; nil is a check of the node
	path       string
	token      int64
	session    int64
	deletedAt  int64 // when others deleted the node; 0 while it exists
	excused    bool
	ended      bool // it ended, and the node or the session is known to be gone
	unreadable bool // nobody could read the node when it was deleted: servers do not tell of that
}

// elected checks the beginning of belief.
func (k *checks) elected(u *user, n events.Notify) {
	b := &belief{u: u, guards: n.Guards, path: n.Path, token: n.Token, session: n.Session}
	// the term comes from data that were replaced since
	b.excused = u.c.dataReplacedAt != 0 && u.c.confirmed < u.c.dataReplacedAt
	u.term = b
	k.w.Log("%s ELECTED %s token %x", u.name(), n.Path, n.Token)
	if u.leads {
		k.fail("started and stopped alternate", "%s was elected twice", u.name())
	}
	if n := len(u.works); n != 0 {
		k.fail("no new term while work runs", "%s was elected while %d pieces of work run", u.name(), n)
	}
	if now := u.c.Clock(); !u.c.writeConfirmed && u.c.connected && now < u.c.Deadline().Until {
		k.fail("a confirmation before every term",
			"%s was elected, and no write was acknowledged on this connection", u.name())
	}
	k.w.vacancies.believed(u)
	k.hasLed[b.path] = b
	if floor, _ := strconv.ParseInt(u.options["tokenFloor"], 10, 64); b.token < floor {
		k.fail("no token below the floor", "%s was elected with token %x, and its floor is %x",
			u.name(), b.token, floor)
	}
	k.beganConfirmed(b)
	k.ownEndFirst(b)
	k.ownNodeKnown(b)
	k.crumbNamesLeader(b)
	if u.role.line.readers != "" {
		k.holdsWithReaders(b)
	} else {
		k.ownNodeFirst(b)
		k.tokensGrow(b)
	}
	k.beliefs = append(k.beliefs, b)
	k.oneBeliever(b)
}

// ownNodeFirst checks that the leader's node exists, belongs to its session, and is first in line.
func (k *checks) ownNodeFirst(b *belief) {
	_, stat, err := k.w.ens.Committed().Get(b.path)
	if err != nil || stat.Czxid != b.token {
		// unless nobody changed nodes of others
		b.deletedAt, b.excused, b.unreadable = k.w.Now(), true, k.unreadable[b.path]
		if !k.othersChanged && b.u.c.believes(b) {
			k.fail("belief within the life of the own node", "%s begins to lead %s (token %x), which is not there",
				b.u.name(), b.path, b.token)
		}
		return
	}
	if stat.EphemeralOwner != b.u.c.SessionID() && b.u.c.believes(b) {
		k.fail("the owner is this session", "%s leads %s, which session %x owns; its own is %x", b.u.name(), b.path,
			stat.EphemeralOwner, b.u.c.SessionID())
	}
	if before := k.nodeBefore(b); before != "" && b.u.c.believes(b) && !k.revived[before] {
		k.fail("the leader is first in line", "%s leads %s, and %s is before it", b.u.name(), b.path, before)
	}
}

// nodeBefore returns a node that stands before a leader's in the line, "" for none.
func (k *checks) nodeBefore(b *belief) string {
	dir, name := split(b.path)
	line, _ := machines.Line(k.w.ens.Children(dir), b.u.role.line.label)
	for _, p := range line {
		if p.Name == name {
			return ""
		}
		if _, other, _ := k.w.ens.Committed().Get(dir + "/" + p.Name); other.Czxid < b.token {
			return dir + "/" + p.Name
		}
	}
	return ""
}

// tokensGrow checks that tokens grow from node to node within one history.
func (k *checks) tokensGrow(b *belief) {
	if b.u.role.line.together {
		return
	}
	last := k.tokens[b.u.line]
	if b.excused || k.revived[b.path] {
		return
	}
	if b.token < last.value || b.token == last.value && b.path != last.path {
		if b.u.c.believes(b) {
			k.fail("tokens grow", "%s leads with token %x after %x", b.u.name(), b.token, last.value)
		}
		return
	}
	k.tokens[b.u.line] = token{b.token, b.path}
}

// oneBeliever checks that at most one believes at any moment. A term is excused if
// others deleted its node, since its machine cannot know yet.
func (k *checks) oneBeliever(b *belief) {
	if b.u.role.line.together || !b.u.c.believes(b) {
		return
	}
	for _, o := range k.beliefs {
		if o != b && o.u.line == b.u.line && !(isReader(o.path) && isReader(b.path)) && o.u.c.believes(o) &&
			!o.excused && !b.excused {
			k.fail("one believer", "%s and %s believe at once, in %s and %s", o.u.name(), b.u.name(), o.path, b.path)
		}
	}
}

// stopped checks the end of belief.
func (k *checks) stopped(u *user, n events.Notify) {
	k.w.Log("%s STOPPED %s: %s", u.name(), n.Path, n.Reason)
	i := slices.IndexFunc(k.beliefs, func(b *belief) bool { return b.u == u })
	if i < 0 || !u.leads {
		k.fail("started and stopped alternate", "%s was stopped without a start", u.name())
		return
	}
	k.w.vacancies.believed(u)
	k.beliefs[i].ended = n.Reason.Successible()
	k.beliefAfterDeletion(k.beliefs[i])
	k.beliefs = slices.Delete(k.beliefs, i, i+1)
}

// beliefAfterDeletion measures belief after a deletion by others, up to now or the deadline.
func (k *checks) beliefAfterDeletion(b *belief) {
	if !b.excused || b.deletedAt == 0 {
		return
	}
	left := min(0, b.u.c.Deadline().Until-b.u.c.Clock())
	if b.session != b.u.c.Deadline().Session {
		return
	}
	over, bound := time.Duration(k.w.Now()-b.deletedAt+left), k.w.Timeout
	if b.unreadable { // the heartbeat checks the nodes of all handles in turn
		k.w.cover.UnreadableLeaders++
		bound = k.w.Timeout / 2 * time.Duration(len(b.u.c.users)+1)
	} else {
		k.worstBelief = max(k.worstBelief, over)
	}
	if bound += k.w.Timeout / 20; over > bound {
		k.fail("belief after a deletion by others", "%s believed for %s after %s was deleted; at most %s", b.u.name(),
			over, b.path, bound)
	}
}

// deadline checks that belief lasts at most half a timeout from a request that was
// confirmed on this connection, and never comes back within a term.
func (k *checks) deadline(c *client, old events.Deadline) {
	d := c.Deadline()
	c.alone[d.Session] = max(c.alone[d.Session], d.Alone)
	if d.Until == 0 {
		return
	}
	if most := c.confirmed + int64(k.w.Timeout)/2; d.Until > most {
		k.fail("the deadline", "client %d believes until %s after its last confirmed request left: at most half of %s",
			c.ID(),
			time.Duration(d.Until-c.confirmed), k.w.Timeout)
	}
	for _, b := range k.beliefs {
		if b.u.c == c {
			if old.Until != 0 && c.Clock() >= old.Until || old.Session != d.Session {
				k.fail("belief does not come back within a term", "%s: the deadline passed and moved on", b.u.name())
			}
			k.oneBeliever(b)
		}
	}
}

// fed notes what a connection has confirmed, as far as the loop knows.
func (c *client) fed(ev events.Event) {
	switch ev.Kind {
	case events.ConnectionAttached:
		c.connected, c.writeConfirmed, c.sessionSeen = true, false, ev.SessionID
		c.connections++
	case events.ConnectionSuspended:
		c.connected = false
	case events.ReplyCreate, events.ReplyDelete, events.ReplyMulti:
		c.writeConfirmed = c.writeConfirmed || ev.Code == events.OK && ev.SentAt != 0
	case events.ConnectionConfirmed:
		c.writeConfirmed = c.writeConfirmed || ev.SentAt >= c.heartbeats.attachedAt
	}
}

// replied notes when the request of the last confirmation left.
func (k *checks) replied(c *client, a *world.Packet, ev events.Event) {
	if u := c.user(a.ID); u != nil && ev.Kind == events.ReplyChildren {
		k.tryListed(u, ev)
	}
	k.noSpinning(c, a, ev.Code)
	k.nodeMissing(c, a)
	k.treeAnswered(c, a)
	k.answersListing(c, a)
	if a.SentAt == 0 || ev.Code != events.OK || a.Conn != c.Conn() {
		return
	}
	if _, sync := a.Request.(events.Sync); sync || world.Writes(a.Request) {
		c.confirmed = max(c.confirmed, a.SentAt)
	}
}
