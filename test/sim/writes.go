package sim

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// judge is what a role says of calls that write: which of the requests that leave
// is the write itself, and what must be so when it is carried out, and told.
type writeChecks struct {
	isWrite   func(d *writeCall, r events.Request) bool
	committed func(k *checks, d *writeCall, p *world.Proposal) // may be nil
	answered  func(k *checks, d *writeCall, a events.Answer)
	undoes    func(d *writeCall) bool // it takes back what it has done, where nobody wants it; may be nil
}

// doer is a machine of one process.
type machineKey struct {
	client int
	id     events.ID
}

// deed is one call that writes, or may: what was sent for it, what of it was carried
// out, and what its program was told.
type writeCall struct {
	u        *user
	id       events.ID
	call     call
	ops      []events.Op
	path     string
	command  uint64 // the start
	at       int64  // when the machine began, by the world's clock
	life     int    // the ensemble's, then
	session  int64  // ZooKeeper's id of the session that was there then; 0: none
	lastZxid int64  // the last zxid that the process knew of

	sent      bool              // as far as the machine knows
	committed []*world.Proposal // what was carried out of it
	refused   []events.Code     // what the quorum refused
	answered  bool
	code      events.Code // if told

	target   int64        // deletion: the czxid of the node that it saw first
	lastLook int64        // and the zxid of its last look
	value    *numberValue // number: what it told
}

func (d *writeCall) String() string { return fmt.Sprintf("%d/%s on %s", d.u.c.ID(), d.id, d.path) }

func (d *writeCall) undoes() bool {
	checks := d.u.role.writes
	return checks.undoes != nil && checks.undoes(d)
}

// undertakes takes down the beginning of a call.
func (k *checks) writeCallBegun(u *user, r events.Record) {
	if u.role.writes == nil || r.From != "latent" || r.Event.Kind != events.CommandStart {
		return
	}
	d := &writeCall{u: u, id: r.Machine, call: u.call, ops: u.ops, path: u.path, command: r.Event.Request,
		at: k.w.Now(), life: k.w.ens.Generation(), lastZxid: u.c.LastZxid()}
	if r.Event.Session != 0 { // else the one before is over
		d.session = r.Event.SessionID
	}
	k.writeCalls[machineKey{u.c.ID(), r.Machine}] = d
	k.writeCallList = append(k.writeCallList, d)
}

// deed is that of a machine, nil for none, and for one of a history that was undone.
func (k *checks) writeCallOf(c *client, id events.ID) *writeCall {
	if d := k.writeCalls[machineKey{c.ID(), id}]; d != nil && d.life == k.w.ens.Generation() {
		return d
	}
	return nil
}

// sends takes down a request that the machine sends, as far as it knows.
func (k *checks) writeSent(c *client, a engine.Addressed) {
	r, request := a.Effect.(events.Request)
	if d := k.writeCallOf(c, a.From); request && d != nil && d.u.role.writes.isWrite(d, r) {
		d.sent = true
	}
}

// carries looks at what the quorum answers to a call: its write is carried out once
// at most, and not at all where it was answered that it was not.
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
	if len(d.committed) > 1 && !(d.undoes() && k.goneSince(d.committed[0], p)) {
		k.fail("carried out once at most", "%s was carried out as %x, and again as %x", d, d.committed[0].Txn.Zxid, p.Txn.Zxid)
	}
	if d.answered {
		k.checkNotDone(d)
	}
	if d.u.role.writes.committed != nil {
		d.u.role.writes.committed(k, d, p)
	}
}

// goneSince reports whether others have deleted a node before another was made.
func (k *checks) goneSince(one, other *world.Proposal) bool {
	return one.Txn.Path == other.Txn.Path || !k.w.ens.Committed().Exists(one.Txn.Path)
}

// denies: what was answered as not done is not done, then or ever.
func (k *checks) checkNotDone(d *writeCall) {
	if d.code != events.OK && d.code != events.OutcomeUnknown && len(d.committed) > 0 && !d.undoes() {
		k.fail("what was answered as not done is not done", "%s was answered %q, and was carried out as %x", d, d.code, d.committed[0].Txn.Zxid)
	}
}

// answers holds what a program is told of its call against what was carried out.
func (k *checks) writeAnswered(u *user, a events.Answer) {
	d := k.writeCallOf(u.c, u.id)
	if d == nil || a.Command != d.command {
		return
	}
	d.answered, d.code = true, a.Code
	if a.Code == events.OutcomeUnknown && !d.sent {
		k.fail("a doubt is of what was sent", "%s was answered %q, and nothing was sent", d, a.Code)
	}
	k.checkNotDone(d)
	d.u.role.writes.answered(k, d, a)
}

// quorate are refusals that only the quorum can have said of a write.
var quorumCodes = []events.Code{events.NoNode, events.NodeExists, events.BadVersion, events.NotEmpty, events.NoAuth, events.NoChildrenOfEphemerals}

// refuses: a refusal that is told is the ensemble's.
func (k *checks) checkRefusal(d *writeCall, code events.Code) {
	if slices.Contains(quorumCodes, code) && !slices.Contains(d.refused, code) {
		k.fail("a refusal is the ensemble's", "%s was answered %q, and the ensemble has said %q", d, code, d.refused)
	}
}

// bySync plants a sync in the place of each check that goes before a read.
func syncForCheck(recipe, home string) Plant {
	return Plant{Name: recipe + ": a sync is enough before it looks", Stepped: effectsOf(recipe, checkAsSync),
		Shape: func(p *Plan) { inDir(home)(p); p.often(8, "leader deposed", "cut") }}
}

// unclaimed: of what somebody was told not to have, nothing stands in the end.
func (k *checks) noOrphansAtAll() {
	for _, d := range k.writeCallList {
		k.noOrphans(d)
	}
}

// forsaken: of what nobody was told of, nothing stands once the machine is over, if
// its session goes on.
func (k *checks) noOrphans(d *writeCall) {
	if !d.answered || d.code == events.OK || d.code == events.OutcomeUnknown || d.life != k.w.ens.Generation() || d.u.c.leaving || d.u.c.Dead() {
		return
	}
	for _, p := range d.committed {
		_, stat, err := k.w.ens.Committed().Get(p.Txn.Path)
		goes := stat.EphemeralOwner != 0 && (stat.EphemeralOwner != d.u.c.SessionID() || d.u.c.Over() || d.u.c.sessionEnds)
		if err == nil && stat.Czxid == p.Txn.Zxid && d.undoes() && !goes {
			k.fail("nothing is left", "%s was answered %q, and %s is there", d, d.code, p.Txn.Path)
		}
	}
}
