package machines

import (
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// LeftoverRecipe makes searches for the nodes of an attempt that a machine has given up, after the server had answered it by a
// code that does not say whether it was carried out. Such a server may carry it out later than any look of the machine itself:
// that node would hold up its line for as long as the client lives. The machine that gives the attempt up opens the search.
// Path is the directory. Options: "guid" of the attempt, and "permits", how many nodes it names in kazoo's layout.
var LeftoverRecipe = engine.NewRecipe(leftoverChart, func(open events.Event) (*leftover, error) {
	o := options{values: open.Options}
	l := &leftover{dir: open.Path, guid: o.text("guid", ""), permits: o.integer("permits", 0)}
	return l, o.err
})

// leftover is the search for the nodes of one attempt.
type leftover struct {
	dir     string
	guid    string        // in the nodes' names
	permits int           // how many names an attempt at kazoo's permits has
	owner   int64         // the session that has made the attempt
	pause   time.Duration // before the next look
	looks   int
}

// maxLooks is how often the directory is listed, after pauses of a quarter of the session timeout, a half, and so on: for about
// sixteen session timeouts in all.
const maxLooks = 6

var leftoverChart = engine.MustCompile(engine.Chart[leftover]{
	Name: "leftover",
	Doc:  "Deletes what a server creates late for an attempt that was given up.",
	States: []engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: listing, Doc: "The directory is listed from time to time. If a node of the attempt is there, and this session owns it, it is deleted."},
		{Name: suspended, Doc: "There is no connection. The next look is on the next one."},
		{Name: closed, Doc: "The last look is over, or the session is: its end deletes such nodes."},
	},
	Final: closed,
	Happy: from{latent, listing, closed},
	Kinds: []events.Kind{
		events.CommandStart, events.ReplyChildren, events.ReplyStat,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	},
	Rows: []engine.Row[leftover]{
		{From: from{latent}, On: on(events.CommandStart), When: (*leftover).attached, To: listing, Do: (*leftover).begin, Then: (*leftover).lookLater},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*leftover).begin},
		{From: from{listing, suspended}, On: on(events.CommandStart), To: engine.Stay, Do: (*leftover).refuseStart},
		{From: from{listing}, On: on(events.TimerFired), When: (*leftover).lookedEnough, To: closed},
		{From: from{listing}, On: on(events.TimerFired), To: listing, Do: (*leftover).look, Then: (*leftover).lookLater},
		{From: from{listing}, On: on(events.ReplyChildren), To: engine.Stay, Do: (*leftover).askOwners},
		{From: from{listing}, On: on(events.ReplyStat), When: (*leftover).ours, To: engine.Stay, Do: (*leftover).remove},
		{From: from{listing}, On: on(events.ReplyStat), To: engine.Stay},
		{From: from{listing}, On: on(events.ConnectionSuspended), To: suspended},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: listing, Do: (*leftover).look, Then: (*leftover).lookLater},
		{From: from{listing, suspended}, On: on(events.ConnectionLost), To: closed},
	},
	Ignores: []engine.Ignore{
		{In: from{latent}, On: []events.Kind{events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost},
			Why: "the start follows immediately, and has the session"},
		{In: from{listing}, On: []events.Kind{events.ConnectionAttached}, Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
	},
})

// attached reports whether there is a connection.
func (l *leftover) attached(ev events.Event) bool { return ev.Attached }

// lookedEnough reports whether the last look is over.
func (l *leftover) lookedEnough(events.Event) bool { return l.looks >= maxLooks }

// ours reports whether the session that has made the attempt owns the node.
func (l *leftover) ours(ev events.Event) bool {
	return ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == l.owner
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
func (l *leftover) lookLater(ev events.Event, out *engine.Outbox) {
	out.Timer(lookAgainTimer, l.pause)
	l.pause *= 2
}

// look lists the directory.
func (l *leftover) look(ev events.Event, out *engine.Outbox) {
	l.looks++
	out.Children(l.dir)
}

// askOwners asks who owns the nodes of the attempt that a listing shows. A backup may have brought one of an older session back.
func (l *leftover) askOwners(ev events.Event, out *engine.Outbox) {
	for _, name := range ofAttempt(ev.Children, l.guid, l.permits) {
		out.Exists(join(l.dir, name))
	}
}

// remove deletes a node. If that fails, the next look finds it again.
func (l *leftover) remove(ev events.Event, out *engine.Outbox) {
	out.With(engine.Unawaited).Delete(ev.Path)
	out.Notify(events.Notify{What: events.Warning, Session: ev.Session, Path: ev.Path,
		Text: "a node of an attempt that was given up is deleted: the server created it after all"})
}

// noteAttempt notes that the answer to a create does not say whether it was carried out, if there is one: the end of the
// connection is none, and a look on the next one is certain.
func (n *node) noteAttempt(ev events.Event) {
	n.unknown = ev.Code.Unknown()
	n.mayFollow = n.mayFollow || n.unknown && ev.Attached
}

// searchLeftover opens the search for nodes of the attempt that is given up, if the server may create one later.
func (p *contender) searchLeftover(ev events.Event, out *engine.Outbox) {
	if !p.mayFollow || !p.naming.unique() || ev.Kind == events.ConnectionLost {
		return
	}
	p.mayFollow = false
	id := events.ID(leftoverChart.Name() + "-" + p.id + "-" + strconv.FormatUint(p.count, 10))
	options := map[string]string{"guid": p.guid}
	if p.named > 0 {
		options["permits"] = strconv.Itoa(p.named)
	}
	out.Tell(id, events.Event{Kind: events.CommandOpen, Recipe: leftoverChart.Name(), Path: p.ownDir, Options: options})
	out.Tell(id, events.Event{Kind: events.CommandStart})
}
