package machines

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// place is one place in one line: what every recipe shares whose members queue by
// sequential ephemeral nodes.
type place struct {
	label  string   // what stands before the number
	kin    []string // the labels of all who stand in the line, its own among them
	shared string   // the label of those whom it holds beside, and does not wait for

	contender
	founder // of the line's directory
	inquiry
	line
}

// line is what the last listing on this connection showed.
type line struct {
	predecessor string
	hidden      bool     // the predecessor may not be read: the directory is watched instead
	next        bool     // the predecessor is the only place before us, and was watched after the own node
	behind      []string // equal numbers that turned out to be made later
	purged      bool     // further nodes of our own GUID were deleted
}

func newPlace(open events.Event, o *options, label string) place {
	return place{label: label, kin: []string{label}, contender: newContender(open, o), founder: newFounder(open.Path)}
}

// inLine is the place of whichever recipe has one, for the tables about it.
func (p *place) inLine() *place { return p }

// Watches says which nodes matter: the own one and the predecessor, or the
// directory in its place.
func (p *place) Watches(path string) bool {
	return p.mine(path) || p.ahead(path) || p.hidden && path == p.dir
}

func (n *node) path() string { return join(n.home, n.own) }

// mine reports whether a path is the own node's.
func (n *node) mine(path string) bool { return n.own != "" && path == n.path() }

func (p *place) ahead(path string) bool {
	return p.predecessor != "" && path == join(p.dir, p.predecessor)
}

// confirmed is promise 2 at this very moment.
func confirmed(ev events.Event) bool { return ev.Attached && ev.At < ev.ValidUntil }

// enrol begins a new enrolment: a new GUID, and one create under it.
func (p *place) enrol(ev events.Event, out *engine.Outbox) {
	p.forgetOwn(out)
	p.line = line{}
	p.count++
	p.guid = p.naming.fresh(p.seed, p.count)
	p.then = stay
	p.moved(out)
	p.create(ev, out)
}

// create asks for the own node under the enrolment's GUID.
func (p *place) create(ev events.Event, out *engine.Outbox) {
	p.afresh()
	p.ask(out)
}

// found asks for the missing parents, and for the own node behind them.
func (p *place) found(ev events.Event, out *engine.Outbox) {
	p.makeParents(ev, out)
	p.ask(out)
}

func (p *place) ask(out *engine.Outbox) {
	p.unknown = false
	p.creating = out.Create(join(p.dir, ownPrefix(p.guid, p.label)), events.EphemeralSequential, p.data)
}

// forgetOwn is the end of an enrolment whose node is gone.
func (p *contender) forgetOwn(out *engine.Outbox) {
	p.far(out)
	p.own, p.token, p.sequence, p.owned, p.watched, p.sure, p.revoked = "", 0, 0, false, false, false, false
	p.creating, p.unknown, p.first = 0, false, false
}

// register takes the node that a create made.
func (p *place) register(ev events.Event, out *engine.Outbox) {
	p.creating, p.unknown, p.hungUp = 0, false, false
	p.own, p.token, p.sure = base(ev.Path), ev.Zxid, true
	place, _ := ParsePlace(p.own, p.label)
	p.sequence = place.Sequence
}

// survey reads the own node back, unless that was done on this connection, and
// lists the line.
func (p *place) survey(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.line, p.first = line{behind: p.behind, purged: p.purged}, false
	if !p.assured() {
		p.owned, p.watched = false, false
		p.readOwn(out)
	}
	out.Children(p.dir)
}

// assured is an own node that was read back on this connection, owned by this
// session and watched; or one on which nothing rests but its patron's transaction,
// if its czxid is known.
func (n *node) assured() bool { return n.read == forNothing && n.token != 0 || n.owned && n.watched }

// lookUp finds the node of a create whose reply was lost: only after a sync is
// it certain that a listing would show it.
func (n *node) lookUp(ev events.Event, out *engine.Outbox) {
	out.Forget()
	n.creating, n.unknown = 0, true
	out.Flush(n.home)
	out.Children(n.home)
}

// adopt takes the lowest of the own GUID's nodes and removes the others.
func (p *place) adopt(ev events.Event, out *engine.Outbox) {
	twins := p.twins(ev.Children)
	p.discard(twins[1:], out)
	p.creating, p.unknown = 0, false
	if p.own != twins[0].Name {
		p.far(out) // the heartbeat shall not go on checking a node that is deleted
		p.own, p.token, p.sequence, p.owned, p.watched = twins[0].Name, 0, twins[0].Sequence, false, false
	}
	p.survey(ev, out)
}

// discard removes nodes of the own GUID besides the lowest.
func (p *place) discard(twins []Place, out *engine.Outbox) {
	for _, t := range twins {
		out.Discard(join(p.dir, t.Name))
	}
	p.purged = true
}

// twins are the places that carry the enrolment's GUID, lowest first; of a name
// without one, all others without.
func (p *place) twins(children []string) []Place {
	return ofGUID(children, p.guid, p.kin...)
}

// noteOwn takes the own node's stat: the owner was checked by the guard.
func (p *contender) noteOwn(ev events.Event, out *engine.Outbox) {
	p.owned, p.watched, p.sure = true, true, true
	p.token = cmp.Or(p.inherited, ev.Stat.Czxid)
	p.noteRevoke(ev, out)
}

// reread arms the own watch again after somebody set the node's data.
func (n *node) reread(ev events.Event, out *engine.Outbox) {
	n.watched = false
	n.readOwn(out)
}

// rewatchOwn is reread by whoever was to inherit: it has to list the line first.
func (p *place) rewatchOwn(ev events.Event, out *engine.Outbox) {
	p.next = false
	p.reread(ev, out)
}

// before lists the places ahead of the own one that are waited for, in no order.
func (p *place) before(children []string) (ahead []Place, listed bool) {
	for place := range places(children, p.kin...) {
		switch {
		case place.Name == p.own:
			listed = true
		case !p.minds(place):
		case place.Sequence < p.sequence, place.Sequence == p.sequence && !p.isBehind(place.Name):
			ahead = append(ahead, place)
		}
	}
	return ahead, listed
}

// minds reports whether a place is one to wait for: a reader has no eyes for
// other readers.
func (p *place) minds(other Place) bool { return p.shared == "" || other.Label != p.shared }

func (p *place) isBehind(name string) bool {
	for _, b := range p.behind {
		if b == name {
			return true
		}
	}
	return false
}

// queueUp takes a place behind somebody: one watch, on the predecessor only.
func (p *place) queueUp(ev events.Event, out *engine.Outbox) {
	ahead, _ := p.before(ev.Children)
	p.predecessor = slices.MaxFunc(ahead, inOrder).Name
	second := len(ahead) == 1 && ahead[0].Sequence != p.sequence
	p.next = second && p.assured() && len(p.behind) == 0
	p.recover(out)
	p.tellWaits(out)
	if second {
		p.approach(out)
	} else {
		p.far(out)
	}
	p.watchPredecessor(ev, out)
}

// watchPredecessor leaves a data watch, which leaves nothing behind on a node
// that is already gone.
func (p *place) watchPredecessor(ev events.Event, out *engine.Outbox) {
	out.Get(join(p.dir, p.predecessor), true)
}

// watchUnread is watchPredecessor where it may not be read: servers since 3.8.4
// (and Debian's) spend a watch on such a node without telling. So the directory,
// which was listed and may be read, is watched in its place, and the predecessor
// is asked for after that: what the listing says does not matter.
func (p *place) watchUnread(ev events.Event, out *engine.Outbox) {
	p.hidden = true
	out.WatchChildren(p.dir)
	out.Exists(join(p.dir, p.predecessor), false)
}

// yield puts a node of the same number behind us, because it was made later,
// and looks at the line again.
func (p *place) yield(ev events.Event, out *engine.Outbox) {
	p.behind = append(p.behind, base(ev.Path))
	p.survey(ev, out)
}

// approach and far tell the session machine whether the heartbeat is needed.
func (p *contender) approach(out *engine.Outbox) {
	if !p.near {
		p.near = true
		owner := p.owner
		if p.naming.sure() {
			owner = 0
		}
		out.Tell(events.SessionMachine, events.Event{Kind: events.OfficeNear, Name: p.id, Path: p.path(), SessionID: owner})
	}
}

func (p *contender) far(out *engine.Outbox) {
	if p.near {
		p.near = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.OfficeFar, Name: p.id})
	}
}

// seekConfirmation asks for a write through the quorum before taking office: now,
// or when it is worth it.
func (p *contender) seekConfirmation(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.first = true
	if ev.AskAt > ev.At {
		out.Timer("confirm", time.Duration(ev.AskAt-ev.At))
		return
	}
	out.Check(p.path())
}

// reconfirm asks for the confirmation once more; where what was seen of the line
// is not known to be so any longer, it looks at that first.
func (p *place) reconfirm(ev events.Event, out *engine.Outbox) {
	if p.first && p.assured() {
		p.seekConfirmation(ev, out)
		return
	}
	p.survey(ev, out)
}
