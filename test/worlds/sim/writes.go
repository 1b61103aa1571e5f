package sim

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// writeChecks are a role's checks of calls that write.
type writeChecks struct {
	isWrite   func(d *writeCall, r events.Request) bool
	committed func(k *checks, d *writeCall, p *world.Proposal) // may be nil
	answered  func(k *checks, d *writeCall, a events.Answer)
	undoes    func(d *writeCall) bool // it deletes what it created if nobody wants it; may be nil
	several   func(d *writeCall) bool // it writes more than once; may be nil
}

// machineKey is a machine of one process.
type machineKey struct {
	client int
	id     events.ID
}

// writeCall is one call that may write: what was sent for it, what of that was carried
// out, and what its program was told.
type writeCall struct {
	u          *user
	id         events.ID
	call       call
	ops        []events.Op
	path       string
	command    uint64 // the start
	at         int64  // when the machine began, by the world's clock
	generation int    // the ensemble's generation then
	session    int64  // ZooKeeper's id of the session then; 0 is none
	lastZxid   int64  // the last zxid that the process knew of then

	sent      bool              // as far as the machine knows
	committed []*world.Proposal // what was carried out
	refused   []events.Code     // what the quorum refused
	answered  bool
	code      events.Code // if it was answered

	target   int64        // of a deletion: the czxid of the node that it saw first
	lastLook int64        // and the zxid of its last read
	value    *numberValue // of a number: what it told; of a removal: its count
}

func (d *writeCall) String() string { return fmt.Sprintf("%d/%s on %s", d.u.c.ID(), d.id, d.path) }

func (d *writeCall) undoes() bool {
	checks := d.u.role.writes
	return checks.undoes != nil && checks.undoes(d)
}

func (d *writeCall) several() bool {
	checks := d.u.role.writes
	return checks.several != nil && checks.several(d)
}

// writeCallBegun notes the beginning of a call.
func (k *checks) writeCallBegun(u *user, r events.Record) {
	if u.role.writes == nil || r.Event.Kind != events.CommandStart || u.classOf(r.From) != events.ClassLatent {
		return
	}
	d := &writeCall{u: u, id: r.Machine, call: u.call, ops: u.ops, path: u.path, command: r.Event.Request,
		at: k.w.Now(), generation: k.w.ens.Generation(), lastZxid: u.c.LastZxid()}
	if r.Event.Session != 0 { // else the session before has ended
		d.session = r.Event.SessionID
	}
	k.writeCalls[machineKey{u.c.ID(), r.Machine}] = d
	k.writeCallList = append(k.writeCallList, d)
}

// writeCallOf returns the call of a machine, nil for none and for one of replaced data.
func (k *checks) writeCallOf(c *client, id events.ID) *writeCall {
	if d := k.writeCalls[machineKey{c.ID(), id}]; d != nil && d.generation == k.w.ens.Generation() {
		return d
	}
	return nil
}

// writeSent notes that a machine sends the write, as far as it knows.
func (k *checks) writeSent(c *client, a engine.Addressed) {
	r, request := a.Effect.(events.Request)
	if d := k.writeCallOf(c, a.From); request && d != nil && d.u.role.writes.isWrite(d, r) {
		d.sent = true
	}
}

// writeCommitted checks what the quorum answers: a write is carried out at most once, and
// not at all if its call was answered so.
func (k *checks) writeCommitted(p *world.Proposal) {
	if p.Origin == nil || p.Origin.Done != nil {
		return
	}
	d := k.writeCallOf(k.w.program(p.Origin.Conn.Client()), p.Origin.ID)
	switch {
	case d == nil:
		return
	case p.Result.Err != zkmem.OK:
		d.refused = append(d.refused, p.Code())
		return
	case !d.u.role.writes.isWrite(d, p.Origin.Request):
		return
	}
	d.committed = append(d.committed, p)
	if len(d.committed) > 1 && !d.several() && !(d.undoes() && k.goneSince(d.committed[0], p)) {
		k.fail("carried out at most once", "%s was carried out as %x, and again as %x", d,
			d.committed[0].Txn.Zxid, p.Txn.Zxid)
	}
	if d.answered {
		k.checkNotDone(d)
	}
	if d.u.role.writes.committed != nil {
		d.u.role.writes.committed(k, d, p)
	}
}

// goneSince reports whether others have deleted a node before another was created.
func (k *checks) goneSince(one, other *world.Proposal) bool {
	return one.Txn.Path == other.Txn.Path || !k.w.ens.Committed().Exists(one.Txn.Path)
}

// checkNotDone checks that a call that was answered as not done is never done.
func (k *checks) checkNotDone(d *writeCall) {
	if d.code != events.OK && d.code != events.OutcomeUnknown && len(d.committed) > 0 && !d.undoes() && !d.several() {
		k.fail("a call answered as not done is not done", "%s was answered %q, and was carried out as %x", d, d.code,
			d.committed[0].Txn.Zxid)
	}
}

// writeAnswered checks the answer of a call against what was carried out.
func (k *checks) writeAnswered(u *user, a events.Answer) {
	d := k.writeCallOf(u.c, u.id)
	if d == nil || a.Command != d.command {
		return
	}
	d.answered, d.code = true, a.Code
	if a.Code == events.OutcomeUnknown && !d.sent {
		k.fail("an unknown outcome is of a sent write", "%s was answered %q, and nothing was sent", d, a.Code)
	}
	k.checkNotDone(d)
	d.u.role.writes.answered(k, d, a)
}

// quorumCodes are refusals that only the quorum can have said of a write.
var quorumCodes = []events.Code{events.NoNode, events.NodeExists, events.BadVersion, events.NotEmpty, events.NoAuth,
	events.NoChildrenOfEphemerals}

// checkRefusal checks that the ensemble said what a refused call is told.
func (k *checks) checkRefusal(d *writeCall, code events.Code) {
	if slices.Contains(quorumCodes, code) && !slices.Contains(d.refused, code) {
		k.fail("a refusal is the ensemble's", "%s was answered %q, and the ensemble has said %q", d, code, d.refused)
	}
}

// syncForCheck plants a sync in the place of each check before a read.
func syncForCheck(recipe, dir string) Plant {
	return Plant{Name: recipe + ": a sync is enough before it looks", Stepped: effectsOf(recipe, checkAsSync),
		Shape: func(p *Plan) { inDir(dir)(p); p.often(8, "leader deposed", "cut") }}
}

// noOrphansAtAll checks at the end that no node is left of calls whose callers were told
// that they have none.
func (k *checks) noOrphansAtAll() {
	for _, d := range k.writeCallList {
		k.noOrphans(d)
	}
}

// noOrphans checks that no node is left of such a call once its machine has ended, if
// its session goes on.
func (k *checks) noOrphans(d *writeCall) {
	if !d.answered || d.code == events.OK || d.code == events.OutcomeUnknown || d.generation != k.w.ens.Generation() ||
		d.u.c.leaving || d.u.c.Dead() {
		return
	}
	for _, p := range d.committed {
		_, stat, err := k.w.ens.Committed().Get(p.Txn.Path)
		goes := stat.EphemeralOwner != 0 &&
			(stat.EphemeralOwner != d.u.c.SessionID() || d.u.c.Over() || d.u.c.sessionEnds)
		if err == nil && stat.Czxid == p.Txn.Zxid && d.undoes() && !goes {
			k.fail("nothing is left", "%s was answered %q, and %s is there", d, d.code, p.Txn.Path)
		}
	}
}
