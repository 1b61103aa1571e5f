package machines

import (
	"slices"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// LeftoverRecipe makes searches for the nodes of an attempt that a machine has given up, after the server had
// answered it by a code that does not say whether it was carried out. Such a server may carry it out later than any
// look of the machine itself: that node would hold up others for as long as the client lives. The machine that gives
// the attempt up opens the search, when a look has shown no node of it. Path is the directory. Options: "guid" of
// the attempt, with "permits", how many nodes it names in kazoo's layout, "lasting" if no session owns them, and
// "address" if each has one; or "prefix" of names without a GUID; or "name" of the node. Where others can have the
// same name, "after" is the zxid of that look, and "above" the highest number that it showed. There a node whose
// creation was answered since is not of the attempt, and stays.
var LeftoverRecipe = &engine.RecipeOf[leftover]{Named: "leftover", Chart: leftoverChart, Open: newLeftover}

func newLeftover(open events.Event) (*leftover, error) {
	o := optionsOf(open)
	prefix, plain := o.given(OptionPrefix)
	l := &leftover{dir: open.Path, guid: o.text(OptionGUID, ""), permits: o.integer(OptionPermits, 0),
		lasting: o.flag(OptionLasting), name: o.text(OptionName, ""), address: o.flag(OptionAddress),
		plain: plain, prefix: prefix, after: o.number(OptionAfter), above: o.number(OptionAbove)}
	l.listed = l.above
	return l, o.check()
}

// leftover is the search for the nodes of one attempt.
type leftover struct {
	dir     string
	guid    string // in the nodes' names
	permits int    // how many names an attempt at kazoo's permits has
	lasting bool   // no session owns them
	name    string // of the one node that it can be
	plain   bool   // the names are a prefix and a number
	prefix  string
	address bool  // each has an address
	after   int64 // the nodes were created after this zxid
	above   int64 // plain ones have higher numbers: the owners of all others are known
	listed  int64 // the highest number that was listed on this connection

	keptZxids []int64  // transactions that were answered
	keptNodes []string // paths of nodes that machines have taken for their own

	owner int64         // the session that has made the attempt
	pause time.Duration // before the next look
	looks int
}

// maxKept is how much a search notes of what is somebody's. A client that writes more meanwhile ends the search:
// nothing is deleted then.
const maxKept = 10_000

// maxLooks is how often the directory is listed, after pauses of a quarter of the session timeout, a half, and so on:
// for about sixteen session timeouts in all.
const maxLooks = 6

func leftoverChart() (c engine.Chart[leftover]) {
	c.Doc = "Deletes what a server creates late for an attempt that was given up."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: listing, Doc: "The directory is listed from time to time. If a node of the attempt is there, and this " +
			"session owns it, it is deleted."},
		{Name: suspended, Doc: "There is no connection. The next look is on the next one."},
		{Name: closed, Doc: "The last look is over, or the session is: its end deletes such nodes. Or this client " +
			"has created too many nodes since."},
	})
	c.Final = closed
	c.Happy = from{latent, listing, closed}
	c.Kinds = []events.Kind{
		events.CommandStart, events.NodeKept, events.ReplyChildren, events.ReplyStat,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}
	c.Rows = []engine.Row[leftover]{
		{From: from{latent}, On: on(events.CommandStart), When: (*leftover).attached,
			To: listing, Do: (*leftover).begin, Then: (*leftover).lookLater},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*leftover).begin},
		{From: from{listing, suspended}, On: on(events.CommandStart), To: engine.Stay, Do: (*leftover).refuseStart},
		{From: from{listing, suspended}, On: on(events.NodeKept), To: engine.Stay, Do: (*leftover).keep},
		{From: from{listing}, On: on(events.TimerFired), When: (*leftover).lookedEnough, To: closed},
		{From: from{listing}, On: on(events.TimerFired),
			To: listing, Do: (*leftover).nextLook, Then: (*leftover).lookLater},
		{From: from{listing}, On: on(events.ReplyChildren), To: engine.Stay, Do: (*leftover).askOwners},
		{From: from{listing}, On: on(events.ReplyStat), When: (*leftover).ours,
			To: engine.Stay, Do: (*leftover).remove},
		{From: from{listing}, On: on(events.ReplyStat), To: engine.Stay},
		{From: from{listing}, On: on(events.ConnectionSuspended), To: suspended, Do: (*leftover).forgetListed},
		{From: from{suspended}, On: on(events.ConnectionAttached),
			To: listing, Do: (*leftover).look, Then: (*leftover).lookLater},
		{From: from{listing, suspended}, On: on(events.ConnectionLost), To: closed},
	}
	c.Ignores = []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.NodeKept, events.ConnectionAttached, events.ConnectionSuspended,
			events.ConnectionLost},
			Why: "the start follows immediately, and has the session"},
		{In: from{listing}, On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
	}
	return c
}

// attached reports whether there is a connection.
func (l *leftover) attached(ev events.Event) bool { return ev.Attached }

// lookedEnough reports whether the last look is over.
func (l *leftover) lookedEnough(events.Event) bool { return l.looks >= maxLooks || l.full() }

// full reports whether too many nodes are somebody's to know them all.
func (l *leftover) full() bool { return len(l.keptZxids) >= maxKept || len(l.keptNodes) >= maxKept }

// Searches says that the engine tells the machine which nodes are somebody's.
func (l *leftover) Searches() {}

// ours reports whether the session of the attempt owns the node, and no create of it was answered.
func (l *leftover) ours(ev events.Event) bool {
	if ev.Code != events.OK || ev.Stat == nil || ev.Stat.Czxid < l.after || l.full() {
		return false
	}
	owned := ev.Stat.EphemeralOwner == l.owner || l.lasting && !ev.Stat.Ephemeral()
	answered := l.guid == "" && slices.Contains(l.keptZxids, ev.Stat.Czxid) // a GUID is this attempt's alone
	return owned && !answered && !slices.Contains(l.keptNodes, ev.Path)
}

// keep notes that a node is somebody's.
func (l *leftover) keep(ev events.Event, out *engine.Outbox) {
	switch {
	case l.full():
	case ev.Path != "":
		l.keptNodes = append(l.keptNodes, ev.Path)
	default:
		l.keptZxids = append(l.keptZxids, ev.Zxid)
	}
}

// begin notes the session.
func (l *leftover) begin(ev events.Event, out *engine.Outbox) {
	l.owner, l.pause = ev.SessionID, time.Duration(ev.Timeout)/4
	if ev.Request != 0 { // no machine's
		out.Answer(ev.Request, events.OK, "")
	}
}

// refuseStart refuses a second start.
func (l *leftover) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

// lookLater starts the timer of the next look.
func (l *leftover) lookLater(ev events.Event, out *engine.Outbox) { out.Timer(lookAgainTimer, l.pause) }

// nextLook looks, and makes the next pause longer. A look on a new connection does not.
func (l *leftover) nextLook(ev events.Event, out *engine.Outbox) {
	l.looks++
	l.pause *= 2
	l.look(ev, out)
}

// look lists the directory, or reads the one node.
func (l *leftover) look(ev events.Event, out *engine.Outbox) {
	l.above = l.listed
	if l.name != "" {
		out.Exists(join(l.dir, l.name))
		return
	}
	out.Children(l.dir)
}

// forgetListed notes that the answers about what was listed last may be lost.
func (l *leftover) forgetListed(ev events.Event, out *engine.Outbox) { l.listed = l.above }

// askOwners asks who owns the nodes of the attempt that a listing shows. A backup may have brought one of an older
// session back.
func (l *leftover) askOwners(ev events.Event, out *engine.Outbox) {
	names := ofAttempt(ev.Children, l.guid, l.permits)
	if l.plain {
		names = l.newPlaces(ev.Children)
	}
	for _, name := range names {
		out.Exists(join(l.dir, name))
	}
}

// newPlaces returns the places of the line whose owners were not asked for. If the directory was created again, all
// are new.
func (l *leftover) newPlaces(children []string) (names []string) {
	highest := highestPlace(children, l.prefix)
	if highest < l.above {
		l.above = -1
	}
	l.listed = highest
	for place := range places(children, l.prefix) {
		if place.plain() && place.Sequence > l.above {
			names = append(names, place.Name)
		}
	}
	return names
}

// highestPlace returns the highest number in a line, -1 if it is empty.
func highestPlace(children []string, label string) int64 {
	highest := int64(-1)
	for place := range places(children, label) {
		highest = max(highest, place.Sequence)
	}
	return highest
}

// remove deletes a node. If that fails, the next look finds it again.
func (l *leftover) remove(ev events.Event, out *engine.Outbox) {
	l.forgetListed(ev, out)
	if l.address {
		out.With(engine.Unawaited).Delete(AddressPath(ev.Path, l.prefix, l.owner))
	}
	out.With(engine.Unawaited).Delete(ev.Path)
	out.Notify(events.Notify{What: events.Warning, Session: ev.Session, Path: ev.Path,
		Text: "a node of an attempt that was given up is deleted: the server created it after all"})
}

// attempts are a machine's attempts to create a node that it has given up while the server may carry them out.
type attempts struct {
	// mayFollow says that the answer to the last one did not say whether it was carried out, and no search was opened.
	mayFollow bool
	searches  uint32 // that were opened
}

// noteCode notes the answer to a create. The end of the connection is none, and a look on the next one is certain.
func (a *attempts) noteCode(ev events.Event) {
	a.mayFollow = a.mayFollow || ev.Code.Unknown() && ev.Attached
}

// search opens a search for the nodes of the attempt, if the server may create one later, and returns its id.
func (a *attempts) search(machine, dir string, options map[string]string, out *engine.Outbox) (events.ID, bool) {
	if !a.mayFollow {
		return "", false
	}
	a.mayFollow = false
	a.searches++
	id := events.ID(LeftoverRecipe.Name() + "-" + machine + "-" + strconv.FormatUint(uint64(a.searches), 10))
	out.Open(id, LeftoverRecipe, events.Event{Path: dir, Options: options})
	out.Tell(id, events.Event{Kind: events.CommandStart})
	return id, true
}

// searchName opens a search for the node of an attempt at a path that others can have, too. A look has shown none of
// this machine's.
func (a *attempts) searchName(machine, path string, look events.Event, out *engine.Outbox) {
	if look.Zxid != 0 {
		a.search(machine, parent(path), map[string]string{OptionName: base(path),
			OptionAfter: strconv.FormatInt(look.Zxid, 10)}, out)
	}
}

// tellKept tells the searches of this client that a machine has taken a node for its own.
func tellKept(path string, out *engine.Outbox) {
	out.Tell(events.Searches, events.Event{Kind: events.NodeKept, Path: path})
}

// lineLook is what a listing showed that a later one is compared with.
type lineLook struct {
	zxid    int64
	highest int64 // number in the line
}

func lookOf(ev events.Event, label string) lineLook {
	return lineLook{ev.Zxid, highestPlace(ev.Children, label)}
}
