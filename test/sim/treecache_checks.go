package sim

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// sprouts begins a chronicle of every node that comes into the tree.
func (k *checks) sprouts(t zkmem.Txn) {
	for _, path := range creations(t) {
		within := path == orchard || strings.HasPrefix(path, orchard+"/")
		known := slices.ContainsFunc(k.chronicles, func(c *chronicle) bool { return c.path == path })
		if within && !known && slices.Contains(k.w.Homes, orchard) {
			c := k.chronicle(path)
			c.states = slices.Insert(c.states, 0, version{life: k.w.ens.Life()})
		}
	}
}

// answersTree takes down over which connection a cache is answered.
func (k *checks) answersTree(c *client, a *world.Packet) {
	u := c.user(a.ID)
	if u == nil || u.role.recipe != "treecache" || a.Conn == nil {
		return
	}
	request := a.Request.Header().Request
	answer := u.grove.kept[request] // the door has taken what is the user's
	answer.wire, answer.session, answer.life = a.Conn, c.SessionID(), k.w.ens.Life()
	u.grove.answers[request] = answer
}

// hears takes down which answer a cache deals with: the loop may be far behind.
func (k *checks) hears(c *client, r events.Record) {
	u := c.user(r.Machine)
	if u == nil || u.role.recipe != "treecache" || r.Row == events.RowLate || r.Event.Request == 0 {
		return
	}
	if answer, known := u.grove.answers[r.Event.Request]; known {
		u.grove.last = answer
	}
}

// toldTree is the door's.
func toldTree(u *user, n events.Notify) {
	k, g := u.c.w.checks, &u.grove
	if g.over && slices.Contains([]events.Notice{events.Present, events.Absent, events.Settled}, n.What) {
		k.fail("too many nodes are the end", "%s is told %s of %s after it", u.name(), n.What, n.Path)
	}
	switch n.What {
	case events.Present:
		k.presents(u, n)
	case events.Absent:
		k.misses(u, n.Path)
	case events.Settled:
		k.readies(u, n.Code == events.ConnectionLoss)
	case events.Stale:
		g.ready = false
	case events.Failed:
		if n.Code == events.TreeTooLarge {
			k.overgrown(u)
		}
	}
}

// follows: whatever is told over another connection than what was told before it
// comes after a word that something may have been missed.
func (k *checks) follows(u *user) {
	g := &u.grove
	if g.wire != nil && g.wire != g.last.wire {
		if g.ready {
			k.fail("what may have been missed is said", "%s is told of an answer over another connection, and was not told of an outage", u.name())
		}
		g.gap = true
	}
	g.wire = g.last.wire
}

// presents: what is told of a node was so, with the data of that moment, and not before
// what was told of it last, in a new session, too: whoever lets it in has to know of
// it, and so of all that went before. It is told as a difference where it is one.
func (k *checks) presents(u *user, n events.Notify) {
	k.follows(u)
	g := &u.grove
	was, known := g.shown[n.Path]
	now := growth{sight: g.last, code: n.Code}
	matches := func(v version) bool { return v.hidden }
	if n.Code == events.OK {
		kept, read := g.kept[n.Work]
		maps.DeleteFunc(g.kept, func(request uint64, _ sight) bool { return request <= n.Work })
		if !read {
			k.fail("what is shown was read", "%s is told of %s, and no answer told it", u.name(), n.Path)
			return
		}
		if now.sight = g.answers[n.Work]; now.stat != kept.stat {
			k.fail("what is shown was read", "%s is told of %s what another answer told", u.name(), n.Path)
			return
		}
		matches = func(v version) bool { return v.stat != nil && v.is(kept.stat) && v.data == kept.data }
	}
	if now.index = k.since(g.been[n.Path], now.sight, n.Path, matches); now.index < 0 {
		k.fail("what is shown was so", "%s is told that %s is %+v with %q, %s, which it never was since it was %+v, %s", u.name(), n.Path, now.stat, now.data, n.Code,
			g.been[n.Path].stat, g.been[n.Path].code)
		return
	}
	if same := known && was.code == now.code && (now.stat == nil || was.stat.Czxid == now.stat.Czxid && was.stat.Version == now.stat.Version); same != n.Silent {
		k.fail("each difference is told once", "%s is told that %s is %+v, %s, after %+v, %s, silently: %t", u.name(), n.Path, now.stat, now.code, was.stat, was.code, n.Silent)
	}
	if _, under := g.shown[parent(n.Path)]; n.Path != orchard && !under {
		k.fail("a parent before its children", "%s is told of %s before %s", u.name(), n.Path, parent(n.Path))
	}
	g.shown[n.Path], g.been[n.Path] = now, now
	if most := u.mostNodes(); len(g.shown) > most {
		k.fail("no more nodes than there may be", "%s knows %d, and may %d", u.name(), len(g.shown), most)
	}
}

// since is the first state of a node's history that is as it is told and not before
// what was told last, -1 for none.
func (k *checks) since(last growth, now sight, path string, matches func(version) bool) int {
	c, from := k.chronicle(path), last.index
	if last.wire == nil || last.life != now.life {
		from = 0
	}
	i := c.findWhere(from, matches)
	if i < 0 && k.w.ens.Life() > 0 { // what was on its way when history went back
		i = c.findWhere(0, matches)
	}
	return i
}

// misses: what is told to be gone was gone, or stood where nobody could look; and
// what was below it was told before.
func (k *checks) misses(u *user, path string) {
	k.follows(u)
	g := &u.grove
	was, known := g.shown[path]
	if !known {
		k.fail("each difference is told once", "%s is told that %s is gone, and did not know it", u.name(), path)
		return
	}
	delete(g.shown, path)
	for _, other := range slices.Sorted(maps.Keys(g.shown)) {
		if strings.HasPrefix(other, path+"/") {
			k.fail("children go before their parent", "%s is told that %s is gone before %s", u.name(), path, other)
		}
	}
	if i := k.since(was, g.last, path, func(v version) bool { return v.stat == nil }); i >= 0 {
		g.been[path] = growth{sight: g.last, index: i}
		return
	}
	for dir := parent(path); strings.HasPrefix(dir, orchard); dir = parent(dir) {
		if k.since(g.been[dir], g.last, dir, func(v version) bool { return v.hidden }) >= 0 {
			return
		}
	}
	k.fail("what is gone was gone", "%s is told that %s is gone, which it was not since it was %+v", u.name(), path, was.stat)
}

// readies: all is read when it is told so, once, with a word of the outage before it.
func (k *checks) readies(u *user, outage bool) {
	g := &u.grove
	if g.ready {
		k.fail("each difference is told once", "%s is told twice that all is read", u.name())
	}
	k.follows(u)
	if g.gap != outage {
		k.fail("what may have been missed is said", "%s is told that all is read, of an outage: %t; and there was one: %t", u.name(), outage, g.gap)
	}
	if awaits := u.c.Engine().Awaits(u.id); len(awaits) > 0 {
		k.fail("ready is when all is read", "%s is told that all is read, and awaits %v", u.name(), awaits)
	}
	g.ready, g.gap = true, false
}

func (u *user) mostNodes() int {
	if most, err := strconv.Atoi(u.call.options["most"]); err == nil {
		return most
	}
	return 100_000
}

// overgrown: there were so many nodes.
func (k *checks) overgrown(u *user) {
	u.grove.over = true
	n := 0
	for _, c := range k.chronicles {
		if (c.path == orchard || strings.HasPrefix(c.path, orchard+"/")) && c.stood(0) && u.reaches(c.path) {
			n++
		}
	}
	if n <= u.mostNodes() {
		k.fail("too many nodes are the end", "%s was ended at %d nodes, and there were never more than %d", u.name(), u.mostNodes(), n)
	}
}

// reaches reports whether a cache goes so deep.
func (u *user) reaches(path string) bool {
	depth, err := strconv.Atoi(u.call.options["depth"])
	return err != nil || strings.Count(path, "/")-strings.Count(orchard, "/") <= depth
}

// readingTree is a cache that reads, so much at a time.
func readingTree(c *client, id events.ID, owed, watches int) bool {
	if owed > treeReads {
		c.w.checks.fail("so many reads at a time", "client %d: %d reads of %s are under way", c.ID(), owed, id)
	}
	return answered(c, id, owed, watches)
}

// unlike says in what a cache differs from the tree as it is.
func (u *user) unlike() string {
	g := &u.grove
	switch {
	case !u.call.going || u.call.kind == "" || u.closing || g.over:
		return ""
	case !g.ready:
		return "has not read all"
	}
	now := map[string]version{}
	u.c.w.harvest(orchard, u, now)
	for _, path := range slices.Sorted(maps.Keys(now)) {
		v := now[path]
		shown, known := g.shown[path]
		switch {
		case !known:
			return "does not know " + path
		case (shown.code == events.OK) == v.hidden:
			return "knows " + path + " as " + string(shown.code)
		case !v.hidden && !(v.is(shown.stat) && v.data == shown.data):
			return "was shown another " + path
		}
	}
	if len(g.shown) > len(now) {
		return "knows nodes that are gone"
	}
	return ""
}

// harvest takes down what a cache can know of the tree.
func (w *harness) harvest(path string, u *user, into map[string]version) {
	now := w.versionOf(path)
	if now.stat == nil || !u.reaches(path) {
		return
	}
	into[path] = now
	for _, name := range w.ens.Children(path) {
		if !now.hidden {
			w.harvest(path+"/"+name, u, into)
		}
	}
}

func parent(path string) string {
	dir, _ := split(path)
	return dir
}
