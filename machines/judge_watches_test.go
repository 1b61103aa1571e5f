package machines

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	toldAsRead  rule = "each read of something new is notified once, and nothing else"
	restWatched rule = "what a handle knows is watched"
	gapTold     rule = "the first notice after an outage says that changes may be missed"
)

var (
	viewRules = map[rule]bugs{
		toldAsRead: {
			"no notice says what was read":   skipping("tell"),
			"a notice is about another read": doingFirst("tell", func(_ *nodeWatch, ev *events.Event) { ev.Request++ }),
		},
		restWatched: {
			"nothing is watched": doing("read",
				func(model any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
					o := model.(*nodeWatch)
					if out.DropPending(); o.replyKind == events.ReplyStat {
						out.With(engine.Data | engine.ForUser).Get(o.path)
					} else {
						out.Children(o.path)
					}
				}),
			"a node that is absent is not watched": doing("watchPath",
				func(model any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
					out.Exists(model.(*nodeWatch).path)
				}),
		},
		gapTold: {"an outage is forgotten": skipping("noteGap")},
	}
	leaderRules = map[rule]bugs{
		toldAsRead: {
			"two notices have the same leader": doingFirst("tellLeader", func(o *leaderWatch, _ *events.Event) {
				o.token = 0
			}),
			"a notice has an earlier leader": doingFirst("tellLeader", func(_ *leaderWatch, ev *events.Event) {
				stat := *ev.Stat
				stat.Czxid--
				ev.Stat = &stat
			}),
			"the second in line leads": doingFirst("readLeader", func(o *leaderWatch, ev *events.Event) {
				line, _ := Line(ev.Children, o.kind.labels()...)
				ev.Children = []string{line[len(line)-1].Name}
			}),
			"no notice has a leader":                   skipping("tellLeader"),
			"no notice says that nobody leads":         skipping("tellVacancy"),
			"a line is always vacant":                  guarded(never, "hasPlaces"),
			"no notice has the leader after an outage": skipping("noteGap"),
		},
		restWatched: {"the leader's node is not watched": doing("readAgain",
			func(model any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
				o := model.(*leaderWatch)
				out.DropPending()
				out.With(engine.Data).Get(join(o.dir, o.leader))
			})},
	}
)

func init() {
	hasRules("nodewatch", newReadChecker, viewRules)
	hasRules("membership", newReadChecker, viewRules)
	hasRules("leaderwatch", newReadChecker, leaderRules)
}

// readChecker knows what a machine that only reads was shown last, and what its handle knows.
type readChecker struct {
	path    string
	view    bool // the data go to the handle, which needs the number of the read
	kind    LineKind
	leaders bool // it watches the leader of a line

	watched map[string]bool // with a slash behind it the children
	ever    bool            // there was a notice
	gap     bool            // and there was an outage since
	knows   any             // on this connection: names, or the token of a leader
	leader  string          // the first in line
}

func newReadChecker(open events.Event) checker {
	c := &readChecker{path: open.Path, view: open.Options["view"] == "true", leaders: open.Recipe == "leaderwatch",
		watched: map[string]bool{}, kind: LineKind{Label: LatchLabel, Shared: open.Options["shared"]}}
	if label, ok := open.Options["label"]; ok {
		c.kind.Label = label
	}
	return c
}

var toldOfReads = []events.Notice{events.Present, events.Absent, events.Members, events.Leader, events.Vacant}

func (c *readChecker) record(j *judge, r events.Record) {
	ev := r.Event
	asked := j.asked[r.Machine][ev.Request]
	if r.Row == events.RowLate {
		asked = nil
	}
	c.learn(asked, ev)
	before, notified := c.knows, false
	for _, e := range r.Effects {
		n, ok := e.(events.Notify)
		switch {
		case !ok:
		case n.What == events.Failed:
			before, c.knows = nil, nil
		case slices.Contains(toldOfReads, n.What):
			notified = true
			what, right := c.notice(n, asked, ev)
			if !right || !c.view && before != nil && what == before {
				j.breaks(toldAsRead, r.Machine, "%s at %s %s, known: %v", n, ev.Kind, ev.Code, before)
			}
			if c.view && c.gap != (n.Code == events.ConnectionLoss) {
				j.breaks(gapTold, r.Machine, "%s, after an outage: %t", n, c.gap)
			}
			c.knows, c.ever, c.gap = what, true, false
		}
	}
	if what := c.toTell(asked, ev); !notified && what != nil && what != c.knows {
		j.breaks(toldAsRead, r.Machine, "nothing at %s %s, known: %v", ev.Kind, ev.Code, c.knows)
	}
}

// learn notes what is watched, and who leads.
func (c *readChecker) learn(asked events.Request, ev events.Event) {
	switch q := asked.(type) {
	case events.Get:
		c.watched[q.Path] = c.watched[q.Path] || q.Watch && ev.Kind == events.ReplyStat && ev.Code == events.OK
	case events.Exists:
		shown := ev.Kind == events.ReplyStat && (ev.Code == events.OK || ev.Code == events.NoNode)
		c.watched[q.Path] = c.watched[q.Path] || q.Watch && shown
	case events.Children:
		if ev.Kind == events.ReplyChildren && ev.Code == events.OK {
			c.watched[q.Path+"/"] = c.watched[q.Path+"/"] || q.Watch
			c.leader = ""
			if line, _ := Line(ev.Children, c.kind.labels()...); len(line) > 0 {
				c.leader = line[0].Name
			}
		}
	}
	switch ev.Kind {
	case events.WatchChildren:
		delete(c.watched, ev.Path+"/")
	case events.WatchChanged, events.WatchDeleted, events.WatchCreated:
		delete(c.watched, ev.Path)
		if ev.Kind == events.WatchDeleted {
			delete(c.watched, ev.Path+"/")
		}
	case events.ConnectionSuspended, events.ConnectionLost:
		clear(c.watched)
		c.knows, c.gap = nil, c.ever
	}
}

// toTell returns what the answer to a read notifies the handle of: nil for nothing.
func (c *readChecker) toTell(asked events.Request, ev events.Event) any {
	there := ev.Code == events.OK
	switch q := asked.(type) {
	case events.Get:
		switch {
		case ev.Kind != events.ReplyStat || !there:
		case c.leaders && q.Path == join(c.path, c.leader):
			return ev.Stat.Czxid
		case !c.leaders:
			return ev.Request
		}
	case events.Children:
		switch {
		case ev.Kind != events.ReplyChildren || !there:
		case c.leaders && c.leader == "" && q.Watch:
			return int64(0)
		case c.leaders:
		case c.view:
			return ev.Request
		default:
			return namesOf(ev.Children)
		}
	case events.Exists:
		switch {
		case ev.Kind != events.ReplyStat || ev.Code != events.NoNode || !q.Watch:
		case c.leaders:
			return int64(0)
		case !c.view:
			return namesOf(nil)
		case c.knows != absentNode:
			return absentNode
		}
	}
	return nil
}

// absentNode stands for a node that does not exist.
const absentNode = "absent"

func namesOf(children []string) string {
	return fmt.Sprint(slices.Sorted(slices.Values(children)))
}

// notice returns what a notice says, and whether that is what the answer shows.
func (c *readChecker) notice(n events.Notify, asked events.Request, ev events.Event) (any, bool) {
	want := c.toTell(asked, ev)
	switch n.What {
	case events.Leader:
		right := ev.Stat != nil && n.Owner == ev.Stat.EphemeralOwner && n.Text == string(ev.Data)
		return n.Token, right && n.Token == want
	case events.Vacant:
		return int64(0), want == int64(0)
	case events.Absent: // again, if it was read again
		q, exists := asked.(events.Exists)
		return absentNode, exists && q.Watch && ev.Code == events.NoNode && n.Work == ev.Request
	}
	if c.view {
		return n.Work, want == n.Work
	}
	return namesOf(n.Names), want == namesOf(n.Names)
}

// rest checks that what the handle knows is watched.
func (c *readChecker) rest(j *judge, id events.ID) {
	state := j.engine.State(id)
	if slices.ContainsFunc(j.engine.Awaits(id), func(a engine.Awaited) bool { return a.Kind != events.TimerFired }) {
		return
	}
	watch, node := c.path, c.path
	if state == watching {
		node = c.path + "/"
		if c.leaders {
			watch, node = join(c.path, c.leader), ""
		}
	}
	if slices.Contains(from{watching, absent}, state) && !c.watched[watch] && !c.watched[node] {
		j.breaks(restWatched, id, "%s in %s", watch, state)
	}
	if state == vacant && !c.watched[c.path+"/"] {
		j.breaks(restWatched, id, "%s in %s", c.path, state)
	}
}
