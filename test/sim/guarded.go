package sim

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ledger is where programs write under their leadership, one node a line: each
// write replaces the token that stands there, as Leadership.Write would.
const ledger = "/ledger"

// ledgerOf is a line's node.
func (w *world) ledgerOf(u *user) string {
	for i, dir := range w.lines() {
		if dir == u.dir {
			return fmt.Sprintf("%s/%s-%d", ledger, u.role.recipe, i)
		}
	}
	return ledger
}

// openLedgers makes what is missing of them; an operator does it.
func (w *world) openLedgers() {
	make := func(path string) {
		if !w.ens.truth.Exists(path) {
			w.ens.operate(zkmem.Op{Code: zkmem.OpCreate, Path: path, ACL: zkmem.OpenACL()})
		}
	}
	make(ledger)
	for _, c := range w.clients {
		for _, u := range c.users {
			if u.queues() || u.role.named {
				make(w.ledgerOf(u))
			}
		}
	}
}

// guard is one guarded write: what it was written under.
type guard struct {
	number int64
	u      *user
	term   *belief
}

// write is what the door does for Leadership.Write: it looks at the clock, then
// sends one multi that begins with a check of the own node, on the term's own
// session, past the machines. What becomes of it is the program's affair; it is
// never sent twice. Readers do not write: their tokens are in no order.
func (u *user) write() bool {
	if u.role.plain || u.term == nil || !u.leads || !u.c.believes(u.term) || reads(u.term.path) {
		return false
	}
	k := u.c.w.checks
	k.writes++
	g := &guard{number: k.writes, u: u, term: u.term}
	guards := u.term.guards
	if guards == nil {
		guards = []events.Op{{Verb: "check", Path: u.term.path, Version: -1}}
	}
	ops := append(slices.Clone(guards), events.Op{Verb: "set", Path: u.c.w.ledgerOf(u), Data: fmt.Append(nil, u.term.token), Version: -1})
	u.c.x.commit(g, ops)
	return true
}

// commit is zkio's: a multi of one session, answered to whoever called.
func (x *executor) commit(g *guard, ops []events.Op) {
	if p := x.w.plant; p != nil && p.Committed != nil {
		ops = p.Committed(x.c, g, ops)
	}
	a := &asked{req: events.Multi{Call: events.Call{Session: g.term.session}, Ops: ops}, guard: g, wire: x.wire}
	x.accept(a)
}

// returned is the end of a guarded write. Nothing comes of it: what may have been
// written is not written again.
func (x *executor) returned(a *asked) {
	if a.code == events.ConnectionLoss && x.w.planted(func(p *Plant) bool { return p.Repeats }) {
		x.c.later(x.w.Tick, func() { x.accept(&asked{req: a.req, guard: a.guard, wire: x.wire}) })
	}
}

// wrote looks at a guarded write that was committed.
func (k *checks) wrote(g *guard, p *proposal) {
	if p.result.Err != zkmem.OK {
		return
	}
	k.w.cover.Writes++
	if k.written[g.number]++; k.written[g.number] > 1 {
		k.fail("a guarded write is never sent twice", "write %d of %s was committed again", g.number, g.u.name())
	}
	_, stat, err := k.w.ens.truth.Get(g.term.path)
	if err != nil || stat.Czxid != g.term.token {
		k.fail("a guarded write needs the own node", "write %d of %s was committed after %s (token %x) was gone", g.number, g.u.name(), g.term.path, g.term.token)
	}
	if last := k.ledgers[g.u.line]; g.term.token < last && !k.revived[g.term.path] && !g.u.role.beside {
		k.fail("guarded writes follow the tokens", "%s wrote with token %x after %x", g.u.name(), g.term.token, last)
	}
	k.ledgers[g.u.line] = max(k.ledgers[g.u.line], g.term.token)
}
