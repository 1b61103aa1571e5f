package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// membership tells who is in a group: the children of a directory, whatever made
// them. It makes no node and costs one read for each change. A member's own node
// is a persistent one.
type membership struct {
	stem
	dir   string
	names []string // told last
	told  bool     // since the last connection began
}

// MembershipRecipe makes onlookers of a group: what Curator's GroupMember keeps
// in a cache. Options: "retry".
var MembershipRecipe = engine.NewRecipe(membershipChart, func(open events.Event) (*membership, error) {
	o := options{values: open.Options}
	return &membership{stem: newStem(open, &o), dir: open.Path}, o.err
})

var (
	onlooking   = from{observing, watching, absent, suspended, pausing}
	looksAround = but(onlooking, suspended)
	anyWatch    = []events.Kind{events.WatchCreated, events.WatchDeleted, events.WatchChanged, events.WatchChildren}
)

var membershipChart = engine.MustCompile(engine.Chart[membership]{
	Name: "membership",
	Doc:  "Who is in a group: its directory's children, listed again with a watch at every change.",
	States: []engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: observing, Doc: "The members are being listed, with a watch."},
		{Name: watching, Doc: "The members were told; the directory's children are watched."},
		{Name: absent, Doc: "The directory does not exist, so nobody is in the group; its path is watched."},
		{Name: suspended, Doc: "No connection: who is in the group is not known."},
		{Name: pausing, Doc: "A read failed, visibly. The next attempt waits for a back-off with jitter."},
		{Name: closed, Doc: "Over."},
	},
	Final: closed,
	Happy: from{latent, observing, watching},
	Kinds: append([]events.Kind{
		events.CommandStart, events.CommandClose, events.ReplyStat, events.ReplyChildren,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired,
	}, anyWatch...),
	Rows: []engine.Row[membership]{
		{From: from{latent}, On: events.CommandStart, When: (*membership).attached, To: observing, Do: (*membership).accept, Then: (*membership).list},
		{From: from{latent}, On: events.CommandStart, To: suspended, Do: (*membership).accept},
		{From: onlooking, On: events.CommandStart, To: engine.Stay, Do: (*membership).refuseStart},

		{From: from{observing}, On: events.ReplyChildren, When: (*membership).noNode, To: absent, Do: (*membership).watchPath},
		{From: from{observing}, On: events.ReplyChildren, When: (*membership).refused, To: pausing, Do: (*membership).complain},
		{From: from{observing}, On: events.ReplyChildren, To: watching, Do: (*membership).tell},
		{From: from{absent}, On: events.ReplyStat, When: (*membership).noNode, To: absent, Do: (*membership).tell},
		{From: from{absent}, On: events.ReplyStat, When: (*membership).refused, To: pausing, Do: (*membership).complain},
		{From: from{absent}, On: events.ReplyStat, To: observing, Do: (*membership).list},

		{From: from{observing, watching}, On: events.WatchChildren, To: observing, Do: (*membership).list},
		{From: from{observing, watching}, On: events.WatchDeleted, To: observing, Do: (*membership).list},
		{From: from{absent}, On: events.WatchCreated, To: observing, Do: (*membership).list},

		{From: looksAround, On: events.ConnectionSuspended, To: suspended, Do: (*membership).doubt},
		{From: onlooking, On: events.ConnectionLost, To: suspended, Do: (*membership).doubt},
		{From: from{suspended}, On: events.ConnectionAttached, To: observing, Do: (*membership).list},
		{From: from{pausing}, On: events.TimerFired, To: observing, Do: (*membership).list},
		{From: append(from{latent}, onlooking...), On: events.CommandClose, To: closed, Do: (*membership).finish},
	},
	Ignores: []engine.Ignore{
		{In: from{latent}, On: append([]events.Kind{events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost}, anyWatch...),
			Why: "nothing was asked before the start"},
		{In: looksAround, On: []events.Kind{events.ConnectionAttached}, Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
		{In: from{suspended, pausing}, On: anyWatch, Why: "all is listed again"},
		{In: from{observing, watching}, On: []events.Kind{events.WatchCreated, events.WatchChanged}, Why: "only the directory's children matter"},
		{In: from{absent}, On: []events.Kind{events.WatchDeleted, events.WatchChanged, events.WatchChildren}, Why: "only the directory's creation matters"},
	},
})

// Watches says which nodes matter: the directory.
func (m *membership) Watches(path string) bool { return path == m.dir }

// list looks who is there, with a watch on the next change.
func (m *membership) list(ev events.Event, out *engine.Outbox) {
	out.Forget()
	out.WatchChildren(m.dir)
}

// watchPath waits for the directory.
func (m *membership) watchPath(ev events.Event, out *engine.Outbox) { out.Exists(m.dir, true) }

// tell tells who is there, unless that was told on this connection: after an
// outage it is told again, because changes may have been missed.
func (m *membership) tell(ev events.Event, out *engine.Outbox) {
	m.recover(out)
	names := slices.Sorted(slices.Values(ev.Children))
	if m.told && slices.Equal(names, m.names) {
		return
	}
	m.told, m.names = true, names
	out.Notify(events.Notify{What: events.Members, Path: m.dir, Names: append([]string{}, names...)})
}

// doubt is the end of a connection: members may come and go unseen.
func (m *membership) doubt(ev events.Event, out *engine.Outbox) { m.told = false }
