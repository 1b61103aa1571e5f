package machines

import (
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	toldOnce    rule = "a cache tells each change once, as it was read"
	toldAsTree  rule = "a cache tells of a node between those of its parent, and of its end after those below"
	goneIfShown rule = "a cache tells the end of a node only if that was shown"
	readsOn     rule = "on a new connection a cache has the server catch up before it reads"
	allWatched  rule = "a cache at rest has read everything, and watches it"
	staleTold   rule = "a cache tells when it is complete, and when it may be out of date"
)

var treeRules = map[rule]bugs{
	toldOnce: {
		"what is known is called new": doingFirst("noteData", func(t *treeCache, ev *events.Event) {
			t.about(*ev).version--
		}),
		"what is new is called known": doingFirst("noteData", func(t *treeCache, ev *events.Event) {
			if b := t.about(*ev); ev.Stat != nil {
				b.czxid, b.version = ev.Stat.Czxid, ev.Stat.Version
			}
		}),
		"the number is that of another read": doing("noteData",
			func(_ any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				do(ev)
				out.Notify(events.Notify{What: events.Present, Path: ev.Path, Work: ev.Request + 1})
			}),
	},
	toldAsTree: {
		"no notice says that what was below is gone": doingFirst("clear", func(t *treeCache, _ *events.Event) {
			t.root.children = nil
		}),
	},
	goneIfShown: {
		"what cannot be read is gone": doing("tellUnreadable",
			func(model any, ev events.Event, out *engine.Outbox, _ func(events.Event)) {
				if t := model.(*treeCache); t.about(ev).parent != nil {
					t.drop(ev, out)
				}
			}),
	},
	readsOn: {
		"a cache reads on at any server": doingFirst("renew", func(t *treeCache, _ *events.Event) { t.seen = false }),
	},
	allWatched: {
		"a change is not read":   skipping("noteWatch"),
		"a new node is not read": skipping("noteExists"),
		"what is listed is not read": doingThen("noteListing", func(t *treeCache, _ *engine.Outbox) {
			t.due = nil
		}),
		"nodes have no watch": doingFirst("proceed", func(t *treeCache, _ *events.Event) { t.set = true }),
	},
	staleTold: {
		"no notice says that there was an outage": skipping("noteGap"),
		"a cache is complete before it is": doingThen("readTop", func(t *treeCache, out *engine.Outbox) {
			out.Notify(events.Notify{What: events.Settled, Path: t.path})
		}),
	},
}

func init() {
	hasRules("treecache", newTreeChecker, treeRules)
}

// treeChecker knows what a tree cache has notified its handle of, and what it was shown. A cache that another machine
// has opened has no handle.
type treeChecker struct {
	top     string
	depth   int
	handled bool

	notified map[string]toldNode
	listed   map[string][]string // the children that were listed, and are not known to be gone
	reported map[string]uint64   // by a recursive watch: the number of the last request before that
	watched  map[string]bool     // on this connection, with a slash behind it the children
	deleted  map[string]bool     // as a watch has said: a watch of the directory will show whether there is another
	asked    uint64              // the number of the last request
	caughtUp bool                // on this connection
	complete bool                // as the last notice says
}

type toldNode struct {
	czxid, owner int64
	version      int32
	code         events.Code
}

func newTreeChecker(open events.Event) checker {
	c := &treeChecker{top: open.Path, depth: -1, handled: open.Options["opener"] == "", notified: map[string]toldNode{},
		listed: map[string][]string{}, reported: map[string]uint64{}, watched: map[string]bool{},
		deleted: map[string]bool{}, caughtUp: true}
	if _, ok := open.Options["depth"]; ok {
		c.depth = int(optionNumber(open.Options, "depth"))
	}
	return c
}

func (c *treeChecker) record(j *judge, r events.Record) {
	if !c.handled {
		return
	}
	ev := r.Event
	asked := j.asked[r.Machine][ev.Request]
	if r.Row != events.RowLate {
		c.learn(j, r.Machine, ev, asked)
	}
	ended := c.complete && (ev.Kind == events.ConnectionSuspended || ev.Kind == events.ConnectionLost)
	for _, e := range r.Effects {
		switch e := e.(type) {
		case events.Notify:
			c.notice(j, r, e, asked)
		case events.Request:
			if _, sync := e.(events.Sync); sync {
				c.caughtUp = true
			} else if !c.caughtUp {
				j.breaks(readsOn, r.Machine, "%s", e)
			}
			c.asked = e.Header().Request
		}
	}
	if ended && c.complete {
		j.breaks(staleTold, r.Machine, "nothing at %s", ev.Kind)
		c.complete = false
	}
}

// learn notes what an event shows.
func (c *treeChecker) learn(j *judge, id events.ID, ev events.Event, asked events.Request) {
	switch asked := asked.(type) {
	case events.Get:
		if ev.Kind == events.ReplyStat {
			if ev.Request > c.reported[asked.Path] {
				delete(c.reported, asked.Path)
			}
			if ev.Code == events.NoNode {
				c.forget(asked.Path)
			}
			c.watched[asked.Path] = asked.Watch && ev.Code == events.OK
			delete(c.deleted, asked.Path)
		}
	case events.Children:
		if ev.Kind == events.ReplyChildren && ev.Code == events.OK {
			c.listed[asked.Path] = slices.Clone(ev.Children)
			c.watched[asked.Path+"/"] = asked.Watch
		}
	}
	switch ev.Kind {
	case events.ConnectionSuspended, events.ConnectionLost:
		c.caughtUp = len(c.notified) == 0
		clear(c.reported)
		clear(c.listed)
		clear(c.watched)
	case events.WatchChildren:
		delete(c.watched, ev.Path+"/")
	case events.WatchCreated, events.WatchChanged, events.WatchDeleted:
		if j.armed[id][recursiveWatch] {
			c.reported[ev.Path] = c.asked
		}
		if ev.Kind != events.WatchCreated {
			delete(c.watched, ev.Path)
		}
		if ev.Kind == events.WatchDeleted {
			delete(c.watched, ev.Path+"/")
			c.deleted[ev.Path] = true
		}
	}
}

// forget takes a node out of the listing of its directory.
func (c *treeChecker) forget(node string) {
	dir := path.Dir(node)
	c.listed[dir] = slices.DeleteFunc(c.listed[dir], func(name string) bool { return name == path.Base(node) })
}

// notice checks a notice.
func (c *treeChecker) notice(j *judge, r events.Record, n events.Notify, asked events.Request) {
	ev := r.Event
	switch n.What {
	case events.Present:
		now := toldNode{code: ev.Code}
		if ev.Stat != nil && ev.Code == events.OK {
			now = toldNode{ev.Stat.Czxid, ev.Stat.EphemeralOwner, ev.Stat.Version, events.OK}
		}
		before, known := c.notified[n.Path]
		same := known && before.czxid == now.czxid && before.version == now.version && before.code == now.code
		about, read := pathOf(asked)
		shown := read && about == n.Path && n.Code == ev.Code && (n.Code != events.OK || n.Work == ev.Request)
		if !shown || n.Silent != same {
			j.breaks(toldOnce, r.Machine, "%s at %s %s, known: %t", n, ev.Kind, ev.Code, same)
		}
		if _, known := c.notified[path.Dir(n.Path)]; n.Path != c.top && !known {
			j.breaks(toldAsTree, r.Machine, "%s, and not its parent", n.Path)
		}
		c.notified[n.Path] = now
	case events.Absent:
		if _, known := c.notified[n.Path]; !known {
			j.breaks(toldOnce, r.Machine, "%s is gone, and was not known", n.Path)
		}
		delete(c.notified, n.Path)
		for other := range c.notified {
			if strings.HasPrefix(other, join(n.Path, "")) {
				j.breaks(toldAsTree, r.Machine, "%s is gone before %s", n.Path, other)
			}
		}
		if !c.endShown(n.Path, asked, ev) {
			j.breaks(goneIfShown, r.Machine, "%s at %s %s", n.Path, ev.Kind, ev.Code)
		}
		c.forget(n.Path)
	case events.Settled:
		if c.complete || !slices.Contains(from{watching, absent}, engine.State(r.To)) {
			j.breaks(staleTold, r.Machine, "it is complete in %s; before: %t", r.To, c.complete)
		}
		c.complete = true
	case events.Stale:
		if !c.complete && len(c.notified) == 0 {
			j.breaks(staleTold, r.Machine, "it is out of date, and has no node")
		}
		c.complete = false
	}
}

// pathOf returns the path of a read of a node or of its children.
func pathOf(asked events.Request) (string, bool) {
	switch asked := asked.(type) {
	case events.Get:
		return asked.Path, true
	case events.Children:
		return asked.Path, true
	}
	return "", false
}

// endShown reports whether an answer shows that a node is gone: it is about the node or one above it, which is gone,
// cannot be read any more, or has other children.
func (c *treeChecker) endShown(node string, asked events.Request, ev events.Event) bool {
	about, read := pathOf(asked)
	below, under := strings.CutPrefix(node, join(about, ""))
	switch {
	case !read:
		return false
	case about == node:
		return ev.Code == events.NoNode
	case !under:
		return false
	case ev.Kind == events.ReplyChildren && ev.Code == events.OK:
		child, _, _ := strings.Cut(below, "/")
		return !slices.Contains(ev.Children, child)
	}
	return true
}

// rest checks a cache that waits.
func (c *treeChecker) rest(j *judge, id events.ID) {
	if !c.handled || j.engine.State(id) != watching {
		return
	}
	if !c.complete {
		j.breaks(staleTold, id, "it is complete, and does not tell")
	}
	recursive := j.armed[id][recursiveWatch]
	for node, stat := range c.notified {
		level := 0
		if node != c.top {
			level = 1 + strings.Count(strings.TrimPrefix(node, join(c.top, "")), "/")
		}
		lists := stat.code == events.OK && stat.owner <= 0 && level != c.depth
		watched := c.watched[node] && (!lists || c.watched[node+"/"])
		comes := c.deleted[node] && c.watched[path.Dir(node)+"/"]
		if !recursive && stat.code == events.OK && !watched && !comes {
			j.breaks(allWatched, id, "%s has no watch", node)
		}
		for _, name := range c.listed[node] {
			if _, known := c.notified[join(node, name)]; lists && !known && !strings.Contains(name, "/") && name != "" {
				j.breaks(allWatched, id, "%s in %s was not read", name, node)
			}
		}
	}
	for node := range c.reported {
		parent, known := c.notified[path.Dir(node)]
		if node == c.top || known && parent.code == events.OK {
			j.breaks(allWatched, id, "%s was reported, and not read", node)
		}
	}
}
