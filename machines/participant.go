package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// intent is what a participant does once its node is gone or its work is done.
type intent int

const (
	stay    intent = iota // keep or win back the place
	requeue               // queue again at the tail
	rest                  // wait out a back-off, then queue again
	idle                  // stay out of the line until asked
	leave                 // close
)

// participant is one place in one line: what a latch and a selector share, and
// every later recipe whose members queue by sequential ephemeral nodes.
type participant struct {
	id      string   // the machine's own
	label   string   // what stands before the number
	kin     []string // the labels of all who stand in the line, its own among them
	plain   bool     // and nothing before that: a name without a GUID
	data    []byte   // what Curator shows as the participant's id
	seed    string
	dice    dice
	rideOut bool
	patron  events.ID // the machine that opened this one, and hears of it; "" where a handle did
	lean    bool      // the own node is not read back: the patron's transaction names it, and fails without it
	floor   int64     // a token below it is refused
	retry   Policy

	owner int64 // ZooKeeper's id of the session that must own the node

	founder // of the line's directory
	enrolment
	inquiry
	line
	term
	outlook
	selection
	custody
}

// enrolment is the own node, or the attempt to make it.
type enrolment struct {
	count    uint64 // enrolments begun; with the seed it gives the GUID
	guid     string
	creating uint64 // the create that is not answered yet
	unknown  bool   // its outcome: it may or may not have made a node
	own      string // the node's name; "" while there is none or it is not known
	token    int64  // its czxid
	sequence int64
	owned    bool // it was read back in this session, owned by it, on this connection
	watched  bool // and a watch on it is armed
	sure     bool // the name was told to be this session's on this connection, by the create or by a read
}

// inquiry is the search for nodes whose names carry no GUID, by their owner.
type inquiry struct {
	asked   int     // reads that are not answered
	claimed []Place // those that this session owns
}

// line is what the last listing on this connection showed.
type line struct {
	first       bool
	predecessor string
	hidden      bool     // the predecessor may not be read: the directory is watched instead
	next        bool     // the predecessor is the only place before us, and was watched after the own node
	behind      []string // equal numbers that turned out to be made later
	purged      bool     // further nodes of our own GUID were deleted
}

// term is belief, and the work done under it.
type term struct {
	leads   bool
	guards  []events.Op // what guarded writes begin with, where the own node's name is not its alone
	near    bool        // the session machine was told that we lead or are next in line
	works   int         // pieces of work that have not returned
	waiters []uint64
	since   int64 // when the term began
}

// outlook is what was asked of the participant, and what stands in its way.
type outlook struct {
	then    intent
	silent  bool // Curator's CloseMode.SILENT
	closing []uint64
	moving  uint64 // the resign or requeue to be answered when the node is gone

	trouble  events.Code
	words    string
	failures int
	failedAt int64
	spent    bool // the retry policy gave up
}

// selection is what only a selector has.
type selection struct {
	runs  bool // a term is one call of the user's function
	auto  bool // queue again after every term
	quick int  // terms in a row whose work failed or returned at once
	end   events.Code
	why   string
}

// patience is the retry policy of whoever sets none.
var patience = BoundedExponential(-1, 250*time.Millisecond, 30*time.Second)

func newParticipant(open events.Event, label string) (*participant, error) {
	o := options{values: open.Options}
	p := &participant{
		id: open.Name, founder: newFounder(open.Path), label: label, kin: []string{label}, data: open.Data, seed: open.Seed, dice: newDice(open.Seed),
		rideOut: o.flag("rideOut"),
		patron:  events.ID(o.text("patron", "")),
		lean:    o.flag("lean"),
		floor:   o.number("tokenFloor"),
		retry:   o.policy("retry", patience),
	}
	return p, o.err
}

// Watches says which nodes matter: the own one and the predecessor, or the
// directory in its place.
func (p *participant) Watches(path string) bool {
	return p.mine(path) || p.ahead(path) || p.hidden && path == p.dir
}

func (p *participant) path() string { return join(p.dir, p.own) }

// mine reports whether a path is the own node's.
func (p *participant) mine(path string) bool { return p.own != "" && path == p.path() }

func (p *participant) ahead(path string) bool {
	return p.predecessor != "" && path == join(p.dir, p.predecessor)
}

// confirmed is promise 2 at this very moment.
func confirmed(ev events.Event) bool { return ev.Attached && ev.At < ev.ValidUntil }

// enrol begins a new enrolment: a new GUID, and one create under it.
func (p *participant) enrol(ev events.Event, out *engine.Outbox) {
	p.forgetOwn(out)
	p.count++
	if !p.plain {
		p.guid = guid(p.seed, p.count)
	}
	p.then = stay
	p.moved(out)
	p.create(ev, out)
}

// create asks for the own node under the enrolment's GUID.
func (p *participant) create(ev events.Event, out *engine.Outbox) {
	p.afresh()
	p.ask(out)
}

// found asks for the missing parents, and for the own node behind them.
func (p *participant) found(ev events.Event, out *engine.Outbox) {
	p.makeParents(ev, out)
	p.ask(out)
}

func (p *participant) ask(out *engine.Outbox) {
	p.unknown = false
	p.creating = out.Create(join(p.dir, ownPrefix(p.guid, p.label)), events.EphemeralSequential, p.data)
}

// forgetOwn is the end of an enrolment whose node is gone.
func (p *participant) forgetOwn(out *engine.Outbox) {
	p.far(out)
	p.own, p.token, p.sequence, p.owned, p.watched, p.sure, p.revoked = "", 0, 0, false, false, false, false
	p.creating, p.unknown = 0, false
	p.line = line{}
}

// register takes the node that a create made.
func (p *participant) register(ev events.Event, out *engine.Outbox) {
	p.creating, p.unknown, p.hungUp = 0, false, false
	p.own, p.token, p.sure = base(ev.Path), ev.Zxid, true
	place, _ := ParsePlace(p.own, p.label)
	p.sequence = place.Sequence
}

// survey reads the own node back, unless that was done on this connection, and
// lists the line.
func (p *participant) survey(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.line = line{behind: p.behind, purged: p.purged}
	if !p.assured() {
		p.owned, p.watched = false, false
		p.readOwn(out)
	}
	out.Children(p.dir)
}

// assured is an own node that was read back on this connection, owned by this
// session and watched; or one on which nothing rests but its patron's transaction,
// if its czxid is known.
func (p *participant) assured() bool { return p.lean && p.token != 0 || p.owned && p.watched }

// lookUp finds the node of a create whose reply was lost: only after a sync is
// it certain that a listing would show it.
func (p *participant) lookUp(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.creating, p.unknown = 0, true
	out.Flush(p.dir)
	out.Children(p.dir)
}

// adopt takes the lowest of the own GUID's nodes and removes the others.
func (p *participant) adopt(ev events.Event, out *engine.Outbox) {
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
func (p *participant) discard(twins []Place, out *engine.Outbox) {
	for _, t := range twins {
		out.Discard(join(p.dir, t.Name))
	}
	p.purged = true
}

// twins are the places that carry the enrolment's GUID, lowest first; of a name
// without one, all others without.
func (p *participant) twins(children []string) []Place {
	var own []Place
	for place := range places(children, p.kin...) {
		if place.GUID == p.guid {
			own = append(own, place)
		}
	}
	slices.SortFunc(own, inOrder)
	return own
}

// noteOwn takes the own node's stat: the owner was checked by the guard.
func (p *participant) noteOwn(ev events.Event, out *engine.Outbox) {
	p.owned, p.watched, p.sure = true, true, true
	if !p.lowered {
		p.token = ev.Stat.Czxid
	}
	p.noteRevoke(ev, out)
}

// rewatchOwn arms the own watch again after somebody set the node's data.
func (p *participant) rewatchOwn(ev events.Event, out *engine.Outbox) {
	p.watched, p.next = false, false
	p.readOwn(out)
}

// before lists the places ahead of the own one that are waited for, in no order.
func (p *participant) before(children []string) (ahead []Place, listed bool) {
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

func (p *participant) isBehind(name string) bool {
	for _, b := range p.behind {
		if b == name {
			return true
		}
	}
	return false
}

// queueUp takes a place behind somebody: one watch, on the predecessor only.
func (p *participant) queueUp(ev events.Event, out *engine.Outbox) {
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
func (p *participant) watchPredecessor(ev events.Event, out *engine.Outbox) {
	out.Get(join(p.dir, p.predecessor), true)
}

// watchUnread is watchPredecessor where it may not be read: servers since 3.8.4
// (and Debian's) spend a watch on such a node without telling. So the directory,
// which was listed and may be read, is watched in its place, and the predecessor
// is asked for after that: what the listing says does not matter.
func (p *participant) watchUnread(ev events.Event, out *engine.Outbox) {
	p.hidden = true
	out.WatchChildren(p.dir)
	out.Exists(join(p.dir, p.predecessor), false)
}

// yield puts a node of the same number behind us, because it was made later,
// and looks at the line again.
func (p *participant) yield(ev events.Event, out *engine.Outbox) {
	p.behind = append(p.behind, base(ev.Path))
	p.survey(ev, out)
}

// approach and far tell the session machine whether the heartbeat is needed.
func (p *participant) approach(out *engine.Outbox) {
	if !p.near {
		p.near = true
		owner := int64(0)
		if p.plain {
			owner = p.owner
		}
		out.Tell(events.SessionMachine, events.Event{Kind: events.OfficeNear, Name: p.id, Path: p.path(), SessionID: owner})
	}
}

func (p *participant) far(out *engine.Outbox) {
	if p.near {
		p.near = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.OfficeFar, Name: p.id})
	}
}

// seekConfirmation asks for a write through the quorum before taking office: now,
// or when it is worth it.
func (p *participant) seekConfirmation(ev events.Event, out *engine.Outbox) {
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
func (p *participant) reconfirm(ev events.Event, out *engine.Outbox) {
	if p.first && p.assured() {
		p.seekConfirmation(ev, out)
		return
	}
	p.survey(ev, out)
}
