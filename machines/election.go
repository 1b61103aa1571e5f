package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// ElectionRecipe makes candidates of plain elections: the leader election of
// ZooKeeper's recipes page, "n_0000000007", on any directory and prefix. A
// candidate is a latch whose name carries no GUID. Options: "prefix", and those
// of LatchRecipe.
//
// What the GUID is for elsewhere, the owner is for here: a node that this session
// owns under this prefix is the candidate's own. So there must be no other
// candidate with the same session, directory and prefix; the door sees to that.
// And as a name may come back, with another owner, once the directory was made
// anew, a node is deleted only by a name that was told to be this session's on
// the same connection.
var ElectionRecipe = engine.NewRecipe(electionChart, newElection)

// election is a place whose name carries no GUID.
type election struct{ place }

func newElection(open events.Event) (*election, error) {
	o := options{values: open.Options}
	p := &election{newPlace(open, &o, o.text("prefix", ""))}
	p.naming = byOwner{}
	return p, o.err
}

var electionChart = engine.MustCompile(engine.Chart[election]{
	Name:       "election",
	Doc:        "A candidate of a plain election: a latch on names without a GUID. A lost create is found by reading who owns what.",
	States:     lineStates,
	Final:      closed,
	Composites: latchComposites,
	Happy:      from{latent, enrolling, listing, waiting, leading, draining, deciding, leaving, closed},
	Kinds:      slices.Concat(keepKinds, lineKinds),
	Rows:       slices.Concat(ownerRows, engine.Lift(slices.Concat(requeueRows, placeRows, latchRows), (*election).inLine)),
	Ignores:    keepIgnores,
})

// ownerRows find a candidate's own nodes by reading who owns what: all that a
// synced listing shows under the prefix, after a create whose reply was lost; the
// own one, before it is deleted on another connection than it was seen on.
var ownerRows = []engine.Row[election]{
	{From: from{verifying, leaving}, On: on(events.ReplyChildren), When: (*election).mayBeOurs, To: engine.Stay, Do: (*election).askOwnersOfAll},
	{From: from{verifying, leaving}, On: on(events.ReplyStat), When: (*election).awaitsMoreOwners, To: engine.Stay, Do: (*election).noteOwner},
	{From: from{verifying}, On: on(events.ReplyStat), When: (*election).foundOurs, To: verifying, Do: (*election).takeLowest, Then: (*election).listLine},
	{From: from{verifying}, On: on(events.ReplyStat), When: (*election).foundNone, To: enrolling, Do: (*election).create},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*election).foundOurs, To: leaving, Do: (*election).takeLowest, Then: (*election).deleteOwn},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*election).foundNone, To: deciding, Do: (*election).forgetNode},
	{From: from{leaving}, On: on(events.ReplyStat), To: leaving, Do: (*election).askAgain},
}

// mayBeOurs is a listing that may show what a lost create has made.
func (p *election) mayBeOurs(ev events.Event) bool { return p.recovered(ev) }

// answered is an answer to a read that says who owns the node, if there is one.
func answered(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil || ev.Code == events.NoNode
}

// owns is a node that this session owns.
func (p *election) owns(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == p.owner
}

// awaitsMoreOwners is an answer after which others are still awaited.
func (p *election) awaitsMoreOwners(ev events.Event) bool {
	return p.unknown && p.asked > 1 && answered(ev)
}

// foundOurs is the last answer, with a node that is ours.
func (p *election) foundOurs(ev events.Event) bool {
	return p.unknown && p.asked == 1 && (p.owns(ev) || answered(ev) && len(p.ownPlaces) > 0)
}

// foundNone is the last answer, and none of the nodes is ours.
func (p *election) foundNone(ev events.Event) bool {
	return p.unknown && p.asked == 1 && answered(ev) && !p.foundOurs(ev)
}

// askOwnersOfAll asks who owns each node that may be ours.
func (p *election) askOwnersOfAll(ev events.Event, out *engine.Outbox) {
	p.askOwners(p.duplicates(ev.Children), out)
}

// noteOwner takes one answer of an inquiry.
func (p *election) noteOwner(ev events.Event, out *engine.Outbox) {
	p.asked--
	if p.owns(ev) {
		place, _ := ParsePlace(base(ev.Path), p.label)
		p.ownPlaces = append(p.ownPlaces, place)
	}
}

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

// forgetNode is a node that turned out to be another's, or gone.
func (p *election) forgetNode(ev events.Event, out *engine.Outbox) { p.own, p.unknown = "", false }

// askAgain looks once more after a while, because a read failed.
func (p *election) askAgain(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.announce(ev.Code, "read "+ev.Path+": "+string(ev.Code), ev, out)
	out.Timer(lookAgainTimer, p.backOffForever(ev))
}
