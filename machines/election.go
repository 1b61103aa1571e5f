package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// ElectionRecipe makes participants of plain elections: the leader election of ZooKeeper's recipes
// page, "n_0000000007", on any directory and prefix. Each is a latch whose name has no GUID. Options:
// "prefix", and those of LatchRecipe.
//
// The owner does here what the GUID does elsewhere: a node that this session owns under this prefix
// is the participant's own. So there must be no other participant with the same session, directory
// and prefix; the public API ensures that. A name may come back with another owner after the
// directory was deleted and created again. So a node is deleted only if a reply on the same
// connection has shown that this session owns the name, or, if the node may not be read, that the
// directory is older than the own node. Then the name was given once.
var ElectionRecipe = engine.NewRecipe(electionChart, newElection)

// election is a place whose name has no GUID.
type election struct{ place }

func newElection(open events.Event) (*election, error) {
	o := options{values: open.Options}
	p := &election{newPlace(open, &o, o.text("prefix", ""))}
	p.naming = byOwner
	return p, o.err
}

var electionChart = engine.MustCompile(engine.Chart[election]{
	Name:       "election",
	Doc:        "A participant of a plain election: a latch on names without a GUID. If a reply is lost, the owners of all nodes are read.",
	States:     lineStates,
	Final:      closed,
	Composites: latchComposites,
	Happy:      from{latent, enrolling, listing, waiting, leading, draining, deciding, leaving, closed},
	Kinds:      slices.Concat(keepKinds, lineKinds),
	Rows:       slices.Concat(ownerRows, engine.Lift(slices.Concat(requeueRows, placeRows, latchRows), (*election).inLine)),
	Ignores:    keepIgnores,
})

// ownerRows find the own nodes by reading owners. After a create whose reply was lost, they read all
// nodes that a listing behind a sync shows under the prefix. Before the own node is deleted on another
// connection than the one on which it was seen, they read that node, and its directory if the node may
// not be read.
var ownerRows = []engine.Row[election]{
	{From: from{verifying, leaving}, On: on(events.ReplyChildren), When: (*election).mayBeOurs, To: engine.Stay, Do: (*election).askOwnersOfAll},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*election).hidesOwn, To: engine.Stay, Do: (*election).askDirectory},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*election).namedOnce, To: leaving, Do: (*election).trustName, Then: (*election).deleteOwn},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*election).namedAgain, To: deciding, Do: (*election).forgetNode},
	{From: from{verifying, leaving}, On: on(events.ReplyStat), When: (*election).awaitsMoreOwners, To: engine.Stay, Do: (*election).noteOwner},
	{From: from{verifying}, On: on(events.ReplyStat), When: (*election).foundOurs, To: verifying, Do: (*election).takeLowest, Then: (*election).listLine},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*election).foundOurs, To: leaving, Do: (*election).takeLowest, Then: (*election).deleteOwn},
	{From: from{verifying, leaving}, On: on(events.ReplyStat), When: (*election).foundNone, To: deciding, Do: (*election).forgetNode},
	{From: from{leaving}, On: on(events.ReplyStat), To: leaving, Do: (*election).askAgain},
}

// mayBeOurs reports whether a listing may show what a create with a lost reply has made.
func (p *election) mayBeOurs(ev events.Event) bool { return p.recovered(ev) }

// answered reports whether a read says which session owns the node, or that there is none. A node that this client
// may not read (NOAUTH, since 3.8.4 and 3.9.2) is another's, unless it has the own name.
func (p *election) answered(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil || ev.Code == events.NoNode || ev.Code == events.NoAuth && !p.mine(ev.Path)
}

// hidesOwn reports whether the node of the own name may not be read, so that its owner is not known.
func (p *election) hidesOwn(ev events.Event) bool {
	return p.unknown && p.mine(ev.Path) && ev.Code == events.NoAuth && p.token != 0
}

// ofDirectory reports whether a read says when the line's directory was created, or that there is none.
func (p *election) ofDirectory(ev events.Event) bool {
	return p.unknown && p.own != "" && ev.Path == p.dir && (ev.Code == events.OK && ev.Stat != nil || ev.Code == events.NoNode)
}

// namedOnce reports whether the directory is older than the own node. It gives each number once, so the node of the own
// name is the own one.
func (p *election) namedOnce(ev events.Event) bool {
	return p.ofDirectory(ev) && ev.Code == events.OK && ev.Stat.Czxid < p.token
}

// namedAgain reports whether the directory was deleted after the own node was, and perhaps created again.
func (p *election) namedAgain(ev events.Event) bool { return p.ofDirectory(ev) && !p.namedOnce(ev) }

// owns reports whether this session owns the node.
func (p *election) owns(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == p.owner
}

// awaitsMoreOwners reports whether other reads of owners are still pending after this answer.
func (p *election) awaitsMoreOwners(ev events.Event) bool {
	return p.unknown && p.asked > 1 && p.answered(ev)
}

// foundOurs reports whether the last answer came, and this session owns one of the nodes.
func (p *election) foundOurs(ev events.Event) bool {
	return p.unknown && p.asked == 1 && (p.owns(ev) || p.answered(ev) && len(p.ownPlaces) > 0)
}

// foundNone reports whether the last answer came, and this session owns none of the nodes.
func (p *election) foundNone(ev events.Event) bool {
	return p.unknown && p.asked == 1 && p.answered(ev) && !p.foundOurs(ev)
}

// askOwnersOfAll reads the owner of each node that may be ours.
func (p *election) askOwnersOfAll(ev events.Event, out *engine.Outbox) {
	p.askOwners(p.duplicates(ev.Children), out)
}

// noteOwner notes one answer about an owner.
func (p *election) noteOwner(ev events.Event, out *engine.Outbox) {
	p.asked--
	if p.owns(ev) {
		place, _ := ParsePlace(base(ev.Path), p.label)
		p.ownPlaces = append(p.ownPlaces, place)
	}
}

// takeLowest keeps the lowest of the own nodes, and deletes the others.
func (p *election) takeLowest(ev events.Event, out *engine.Outbox) {
	p.noteOwner(ev, out)
	slices.SortFunc(p.ownPlaces, inOrder)
	for _, further := range p.ownPlaces[1:] {
		out.With(engine.Unawaited).Delete(join(p.dir, further.Name))
	}
	lowest := p.ownPlaces[0]
	p.ownerSearch, p.unknown = ownerSearch{}, false
	p.own, p.token, p.sequence, p.owned, p.watched, p.ownerKnown = lowest.Name, 0, lowest.Sequence, false, false, true
}

// askDirectory asks when the line's directory was created.
func (p *election) askDirectory(ev events.Event, out *engine.Outbox) { out.Exists(p.dir) }

// trustName notes that the node of the own name is the own one.
func (p *election) trustName(ev events.Event, out *engine.Outbox) {
	p.unknown, p.ownerKnown = false, true
}

// forgetNode forgets a node that is gone, or that another session owns.
func (p *election) forgetNode(ev events.Event, out *engine.Outbox) { p.own, p.unknown = "", false }

// askAgain reads the owners again after a pause, because a read failed.
func (p *election) askAgain(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.announce(ev.Code, "read "+ev.Path+": "+string(ev.Code), ev, out)
	out.Timer(lookAgainTimer, p.backOffForever(ev))
}
