package sim

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// guardedDir has the nodes that programs write under their leadership, one for each
// line. A write replaces the token in the node, as Leadership.Write would.
const guardedDir = "/ledger"

// guardedNode returns the node of a line.
func (w *harness) guardedNode(u *user) string {
	for i, dir := range w.lines() {
		if dir == u.dir {
			return fmt.Sprintf("%s/%s-%d", guardedDir, u.role.recipe, i)
		}
	}
	return guardedDir
}

// createGuardedNodes has an operator create those that are missing.
func (w *harness) createGuardedNodes() {
	make := func(path string) {
		if !w.ens.Committed().Exists(path) {
			w.ens.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: path, ACL: zkmem.OpenACL()})
		}
	}
	make(guardedDir)
	for _, c := range w.clients {
		for _, u := range c.users {
			if u.queues() || u.role.line.fixedName {
				make(w.guardedNode(u))
			}
		}
	}
}

// guardedWrite is one write under a leadership.
type guardedWrite struct {
	number int64
	u      *user
	term   *belief
}

// write does what Leadership.Write does: it looks at the clock, then sends one multi
// that begins with a check of the own node, on the term's own session, without a machine.
// It is never sent twice. Readers do not write: their tokens are in no order.
func (u *user) write() bool {
	if u.role.line.noGUID || u.term == nil || !u.leads || !u.c.believes(u.term) || isReader(u.term.path) {
		return false
	}
	k := u.c.w.checks
	k.writes++
	g := &guardedWrite{number: k.writes, u: u, term: u.term}
	guards := u.term.guards
	if guards == nil {
		guards = []events.Op{{Verb: "check", Path: u.term.path, Version: -1}}
	}
	ops := append(slices.Clone(guards),
		events.Op{Verb: "set", Path: u.c.w.guardedNode(u), Data: fmt.Append(nil, u.term.token), Version: -1})
	u.c.commit(g, ops)
	return true
}

// commit sends a guarded write as one multi.
func (c *client) commit(g *guardedWrite, ops []events.Op) {
	if p := c.w.plant; p != nil && p.Committed != nil {
		ops = p.Committed(c, g, ops)
	}
	c.sendGuarded(g, events.Multi{Call: events.Call{Session: g.term.session}, Ops: ops})
}

// sendGuarded sends a guarded write. Its outcome changes nothing but that it may confirm the
// session: what may have been written is not written again.
func (c *client) sendGuarded(g *guardedWrite, r events.Request) {
	c.Send(&world.Packet{Request: r, Note: g, Done: func(a *world.Packet) {
		c.noteConfirmed(a)
		if p := c.w.plant; p != nil && p.Wrote != nil {
			p.Wrote(c, a)
		}
		if a.Code == events.ConnectionLoss && c.w.planted(func(p *Plant) bool { return p.RepeatsWrites }) {
			c.RunAfter(c.w.Tick, func() { c.sendGuarded(g, r) })
		}
	}})
}

// guardedWriteOf returns the guarded write that a proposal comes from, nil for none.
func guardedWriteOf(p *world.Proposal) *guardedWrite {
	if p.Origin == nil {
		return nil
	}
	g, _ := p.Origin.Note.(*guardedWrite)
	return g
}

// guardedCommitted checks a guarded write that was committed.
func (k *checks) guardedCommitted(g *guardedWrite, p *world.Proposal) {
	if p.Result.Err != zkmem.OK || g.u.role.recipe == nodeElection && k.epochGone {
		return
	}
	k.w.cover.Writes++
	if k.written[g.number]++; k.written[g.number] > 1 {
		k.fail("a guarded write is never sent twice", "write %d of %s was committed again", g.number, g.u.name())
	}
	_, stat, err := k.w.ens.Committed().Get(g.term.path)
	if err != nil || stat.Czxid != g.term.token {
		k.fail("a guarded write needs the own node", "write %d of %s was committed after %s (token %x) was gone",
			g.number, g.u.name(), g.term.path, g.term.token)
	}
	if last := k.writtenTokens[g.u.line]; g.term.token < last && !k.revived[g.term.path] && !g.u.role.line.together {
		k.fail("guarded writes follow the tokens", "%s wrote with token %x after %x", g.u.name(), g.term.token, last)
	}
	k.writtenTokens[g.u.line] = max(k.writtenTokens[g.u.line], g.term.token)
}

// noteConfirmed notes that a write of no machine may have confirmed the session.
func (c *client) noteConfirmed(a *world.Packet) {
	if a.Code == events.OK && a.Conn == c.Conn() {
		c.confirmed = max(c.confirmed, a.SentAt)
	}
}
