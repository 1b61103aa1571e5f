package machines

import (
	"strconv"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// ownerSearch is the search for the own nodes by their owner, where names have no GUID.
type ownerSearch struct {
	ownPlaces []Place  // the places that this session owns
	looked    lineLook // the listing that showed the nodes
	asked     int32    // reads that are pending
	anothers  bool     // another session was seen to own the node of the own name
}

// askOwner asks whether this session still owns the own node. What was seen on another connection says
// nothing about a name that other nodes can have, too.
func (p *place) askOwner(ev events.Event, out *engine.Outbox) {
	p.unknown = true
	p.askOwners([]Place{{Name: p.own()}}, out)
}

// askOwners asks for the owners of nodes. It does not read their data, which access lists may forbid.
func (p *place) askOwners(places []Place, out *engine.Outbox) {
	*p.ownerSearch = ownerSearch{asked: int32(len(places)), anothers: p.anothers}
	for _, place := range places {
		out.Exists(join(p.ownDir, place.Name))
	}
}

// ownerRows find the own nodes by reading owners. After a create whose reply was lost, they read all
// nodes that a listing behind a sync shows under the prefix. Before the own node is deleted on another
// connection than the one on which it was seen, they read that node, and its directory if the node may
// not be read.
var ownerRows = []engine.Row[place]{
	{From: from{verifying, leaving}, On: on(events.ReplyChildren), When: (*place).mayBeOurs,
		To: engine.Stay, Do: (*place).askOwnersOfAll},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*place).hidesOwn,
		To: engine.Stay, Do: (*place).askDirectory},
	{From: from{verifying, leaving}, On: on(events.ReplyStat), When: (*place).awaitsMoreOwners,
		To: engine.Stay, Do: (*place).noteOwner},
	{From: from{verifying}, On: on(events.ReplyStat), When: (*place).foundOurs,
		To: verifying, Do: (*place).takeLowest, Then: (*place).listLine},
	{From: from{leaving}, On: on(events.ReplyStat), When: (*place).foundOurs,
		To: leaving, Do: (*place).takeLowest, Then: (*place).deleteOwn},
	{From: from{verifying, leaving}, On: on(events.ReplyStat), When: (*place).foundNone,
		To: deciding, Do: (*place).forgetNode},
	{From: from{leaving}, On: on(events.ReplyStat), To: leaving, Do: (*place).askAgain},
}

// mayBeOurs reports whether a listing may show what a create with a lost reply has made.
func (p *place) mayBeOurs(ev events.Event) bool { return !p.naming.unique() && p.recovered(ev) }

// answered reports whether a read says which session owns the node, or that there is none. A node that this client
// may not read (NOAUTH, since 3.8.4 and 3.9.2) is another's, unless it is the directory, or has the own name and was
// not seen to be another's.
func (p *place) answered(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil || ev.Code == events.NoNode || ev.Code == events.NoAuth &&
		(!p.mine(ev.Path) || p.anothers) && ev.Path != p.ownDir
}

// hidesOwn reports whether the node of the own name may not be read, so that its owner is not known.
func (p *place) hidesOwn(ev events.Event) bool {
	return p.unknown && p.mine(ev.Path) && ev.Code == events.NoAuth && p.token != 0 && !p.anothers
}

// ofDirectory reports whether a read says when the line's directory was created, or that there is none.
func (p *place) ofDirectory(ev events.Event) bool {
	return p.unknown && p.ownPath != "" && ev.Path == p.ownDir &&
		(ev.Code == events.OK && ev.Stat != nil || ev.Code == events.NoNode)
}

// namedOnce reports whether the directory is older than the own node. It gives each number once, so the node of the own
// name is the own one.
func (p *place) namedOnce(ev events.Event) bool {
	return p.ofDirectory(ev) && ev.Code == events.OK && ev.Stat.Czxid < p.token
}

// owns reports whether this session owns the node.
func (p *place) owns(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == p.owner && ev.Path != p.ownDir
}

// awaitsMoreOwners reports whether other reads of owners are still pending after this answer.
func (p *place) awaitsMoreOwners(ev events.Event) bool {
	return p.unknown && p.asked > 1 && p.answered(ev)
}

// foundOurs reports whether the last answer came, and this session owns one of the nodes, or the own name was given
// once.
func (p *place) foundOurs(ev events.Event) bool {
	return p.unknown && p.asked == 1 && (p.owns(ev) || p.namedOnce(ev) || p.answered(ev) && len(p.ownPlaces) > 0)
}

// foundNone reports whether the last answer came, and this session owns none of the nodes.
func (p *place) foundNone(ev events.Event) bool {
	return p.unknown && p.asked == 1 && p.answered(ev) && !p.foundOurs(ev)
}

// askOwnersOfAll reads the owner of each node that may be ours.
func (p *place) askOwnersOfAll(ev events.Event, out *engine.Outbox) {
	p.askOwners(p.duplicates(ev.Children), out)
	p.looked = lookOf(ev, p.label)
}

// noteOwner notes one answer about an owner.
func (p *place) noteOwner(ev events.Event, out *engine.Outbox) {
	p.asked--
	if p.owns(ev) {
		place, _ := ParsePlace(base(ev.Path), p.label)
		p.ownPlaces = append(p.ownPlaces, place)
	}
}

// takeLowest keeps the lowest of the own nodes, and deletes the others.
func (p *place) takeLowest(ev events.Event, out *engine.Outbox) {
	if p.namedOnce(ev) {
		p.unknown, p.ownerKnown = false, true // the node of the own name is the own one
		return
	}
	p.noteOwner(ev, out)
	sortPlaces(p.ownPlaces)
	for _, further := range p.ownPlaces[1:] {
		out.With(engine.Unawaited).Delete(join(p.ownDir, further.Name))
	}
	lowest := p.ownPlaces[0]
	*p.ownerSearch, p.unknown = ownerSearch{}, false
	p.setOwn(lowest.Name)
	p.token, p.sequence, p.owned, p.watched, p.ownerKnown = 0, lowest.Sequence, false, false, true
	p.mayFollow = false
	tellKept(p.path(), out)
}

// askDirectory asks when the line's directory was created.
func (p *place) askDirectory(ev events.Event, out *engine.Outbox) { out.Exists(p.ownDir) }

// forgetNode forgets a node that is gone, or that another session owns.
func (p *place) forgetNode(ev events.Event, out *engine.Outbox) {
	p.ownPath, p.unknown, p.anothers = "", false, false
	p.searchPlain(ev, out)
}

// askAgain reads the owners again after a pause, because a read failed.
func (p *place) askAgain(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.announce(ev.Code, "read "+ev.Path+": "+string(ev.Code), ev, out)
	out.Timer(lookAgainTimer, p.backOffForever(ev))
}

// searchPlain opens the search where names have no GUID: a look has shown no node of the attempt.
func (p *place) searchPlain(ev events.Event, out *engine.Outbox) {
	if p.naming.unique() {
		return
	}
	seen := p.looked
	if ev.Kind == events.ReplyChildren {
		seen = lookOf(ev, p.label)
	}
	p.search(p.id, p.ownDir, p.withAddress(map[string]string{OptionPrefix: p.label,
		OptionAfter: strconv.FormatInt(seen.zxid, 10), OptionAbove: strconv.FormatInt(seen.highest, 10)}), out)
}
