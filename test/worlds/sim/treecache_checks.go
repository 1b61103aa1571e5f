package sim

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// treeCommitted begins a history of every node that is created in the tree.
func (k *checks) treeCommitted(t zkmem.Txn) {
	for _, path := range creations(t) {
		within := path == treePath || strings.HasPrefix(path, treePath+"/")
		known := slices.ContainsFunc(k.histories, func(c *nodeHistory) bool { return c.path == path })
		if within && !known && slices.Contains(k.w.OwnDirs, treePath) {
			c := k.historyOf(path)
			c.states = slices.Insert(c.states, 0, nodeState{generation: k.w.ens.Generation()})
		}
	}
}

// treeAnswered notes over which connection a cache gets a reply.
func (k *checks) treeAnswered(c *client, a *world.Packet) {
	u := c.user(a.ID)
	if u == nil || u.role.recipe != "treecache" || a.Conn == nil {
		return
	}
	request := a.Request.Header().Request
	answer := u.cache.pendingReplies[request] // the handle keeps what is the user's
	answer.conn, answer.session, answer.generation = a.Conn, c.SessionID(), k.w.ens.Generation()
	u.cache.answers[request] = answer
}

// answerTaken notes which reply a cache deals with: the loop may be far behind.
func (k *checks) answerTaken(c *client, r events.Record) {
	u := c.user(r.Machine)
	if u == nil || u.role.recipe != "treecache" || r.Row == events.RowLate || r.Event.Request == 0 {
		return
	}
	if answer, known := u.cache.answers[r.Event.Request]; known {
		u.cache.last = answer
	}
}

// noticed does what the handle does.
func (treeCacheProgram) noticed(u *user, n events.Notify) {
	k, g := u.c.w.checks, &u.cache
	if g.tooLarge && slices.Contains([]events.Notice{events.Present, events.Absent, events.Settled}, n.What) {
		k.fail("a cache with too many nodes ends", "%s is told %s of %s after it", u.name(), n.What, n.Path)
	}
	switch n.What {
	case events.Present:
		k.treePresent(u, n)
	case events.Absent:
		k.treeAbsent(u, n.Path)
	case events.Settled:
		k.treeReady(u, n.Code == events.ConnectionLoss)
	case events.Stale:
		g.ready = false
	case events.Failed:
		if n.Code == events.TreeTooLarge {
			k.treeTooLarge(u)
		}
	}
}

// treeConnection checks that a notice from another connection than the one before
// comes after a notice that something may have been missed.
func (k *checks) treeConnection(u *user) {
	g := &u.cache
	if g.conn != nil && g.conn != g.last.conn {
		if g.ready {
			k.fail("an outage is told",
				"%s is told of an answer over another connection, and was not told of an outage", u.name())
		}
		g.gap = true
	}
	g.conn = g.last.conn
}

// treePresent checks that what is told of a node was true, with the data of that moment,
// and not before what was told of it last. That holds in a new session too: a server that
// accepts the session knows all that the session has seen. It is told as a difference if it is one.
func (k *checks) treePresent(u *user, n events.Notify) {
	k.treeConnection(u)
	g := &u.cache
	was, known := g.known[n.Path]
	now := seenNode{readState: g.last, code: n.Code}
	matches := func(v nodeState) bool { return v.hidden }
	if n.Code == events.OK {
		kept, read := g.pendingReplies[n.Work]
		maps.DeleteFunc(g.pendingReplies, func(request uint64, _ readState) bool { return request <= n.Work })
		if !read {
			k.fail("each value told was read", "%s is told of %s, and no answer told it", u.name(), n.Path)
			return
		}
		if now.readState = g.answers[n.Work]; now.stat != kept.stat {
			k.fail("each value told was read", "%s is told of %s what another answer told", u.name(), n.Path)
			return
		}
		matches = func(v nodeState) bool { return v.stat != nil && v.matches(kept.stat) && v.data == kept.data }
	}
	if now.index = k.treeStateSince(g.lastSeen[n.Path], now.readState, n.Path, matches); now.index < 0 {
		k.fail("each value told was true",
			"%s is told that %s is %+v with %q, %s, which it never was since it was %+v, %s", u.name(), n.Path,
			now.stat, now.data, n.Code,
			g.lastSeen[n.Path].stat, g.lastSeen[n.Path].code)
		return
	}
	if same := known && was.code == now.code &&
		(now.stat == nil || was.stat.Czxid == now.stat.Czxid && was.stat.Version == now.stat.Version); same !=
		n.Silent {
		k.fail("each difference is told once", "%s is told that %s is %+v, %s, after %+v, %s, silently: %t", u.name(),
			n.Path, now.stat, now.code, was.stat, was.code, n.Silent)
	}
	if _, under := g.known[parent(n.Path)]; n.Path != treePath && !under {
		k.fail("a parent before its children", "%s is told of %s before %s", u.name(), n.Path, parent(n.Path))
	}
	g.known[n.Path], g.lastSeen[n.Path] = now, now
	if most := u.mostNodes(); len(g.known) > most {
		k.fail("no more nodes than there may be", "%s knows %d, and may %d", u.name(), len(g.known), most)
	}
}

// treeStateSince returns the index of the first state of a node's history that matches and is
// not before what was told last, -1 for none.
func (k *checks) treeStateSince(last seenNode, now readState, path string, matches func(nodeState) bool) int {
	c, from := k.historyOf(path), last.index
	if last.conn == nil || last.generation != now.generation {
		from = 0
	}
	i := c.findWhere(from, matches)
	if i < 0 && k.w.ens.Generation() > 0 { // it was sent before the data were replaced
		i = c.findWhere(0, matches)
	}
	return i
}

// treeAbsent checks that a node that is told to be gone was gone, or was below one that
// nobody could read, and that the nodes below it were told before.
func (k *checks) treeAbsent(u *user, path string) {
	k.treeConnection(u)
	g := &u.cache
	was, known := g.known[path]
	if !known {
		k.fail("each difference is told once", "%s is told that %s is gone, and did not know it", u.name(), path)
		return
	}
	delete(g.known, path)
	for _, other := range slices.Sorted(maps.Keys(g.known)) {
		if strings.HasPrefix(other, path+"/") {
			k.fail("children go before their parent", "%s is told that %s is gone before %s", u.name(), path, other)
		}
	}
	if i := k.treeStateSince(was, g.last, path, func(v nodeState) bool { return v.stat == nil }); i >= 0 {
		g.lastSeen[path] = seenNode{readState: g.last, index: i}
		return
	}
	for dir := parent(path); strings.HasPrefix(dir, treePath); dir = parent(dir) {
		if k.treeStateSince(g.lastSeen[dir], g.last, dir, func(v nodeState) bool { return v.hidden }) >= 0 {
			return
		}
	}
	k.fail("a node told to be gone was gone", "%s is told that %s is gone, which it was not since it was %+v",
		u.name(), path, was.stat)
}

// treeReady checks that all is read when it is told so, once, and after a notice of an outage.
func (k *checks) treeReady(u *user, outage bool) {
	g := &u.cache
	if g.ready {
		k.fail("each difference is told once", "%s is told twice that all is read", u.name())
	}
	k.treeConnection(u)
	if g.gap != outage {
		k.fail("an outage is told", "%s is told that all is read, of an outage: %t; and there was one: %t",
			u.name(), outage, g.gap)
	}
	awaits := slices.DeleteFunc(u.c.Engine().Awaits(u.id), func(a engine.Awaited) bool { return a.Name == "recheck" })
	if len(awaits) > 0 {
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

// treeTooLarge checks that there were so many nodes.
func (k *checks) treeTooLarge(u *user) {
	u.cache.tooLarge = true
	n := 0
	for _, c := range k.histories {
		if (c.path == treePath || strings.HasPrefix(c.path, treePath+"/")) && c.existed(0) && u.withinDepth(c.path) {
			n++
		}
	}
	if n <= u.mostNodes() {
		k.fail("a cache with too many nodes ends", "%s was ended at %d nodes, and there were never more than %d",
			u.name(), u.mostNodes(), n)
	}
}

// withinDepth reports whether a cache goes as deep as a path.
func (u *user) withinDepth(path string) bool {
	depth, err := strconv.Atoi(u.call.options["depth"])
	return err != nil || strings.Count(path, "/")-strings.Count(treePath, "/") <= depth
}

// readingTree is the waking of a cache that reads. It also limits the reads under way.
func readingTree(c *client, id events.ID, owed, watches int) bool {
	if owed > maxTreeReads {
		c.w.checks.fail("so many reads at a time", "client %d: %d reads of %s are under way", c.ID(), owed, id)
	}
	return answered(c, id, owed, watches)
}

// armingTree is the waking of a cache that sets a recursive watch. It also checks that nothing is read
// before that is set, and that it is asked for once.
func armingTree(c *client, id events.ID, owed, watches int) bool {
	if owed > 1 {
		c.w.checks.fail("nothing is read before the watch is set",
			"client %d: %s sets a recursive watch, and awaits %v", c.ID(), id, c.Engine().Awaits(id))
	}
	return answered(c, id, owed, watches)
}

// cacheDiffers returns how a cache differs from the tree, "" if it does not.
func (u *user) cacheDiffers() string {
	g := &u.cache
	switch {
	case !u.call.running || u.call.kind == "" || u.closing || g.tooLarge:
		return ""
	case !g.ready:
		return "has not read all"
	}
	now, held := map[string]nodeState{}, len(g.known)
	u.c.w.expectedView(treePath, u, now)
	if u.c.HasTreeWatch(u.id) {
		held -= u.c.w.checks.leaveOutHidden(g.known, now)
	}
	for _, path := range slices.Sorted(maps.Keys(now)) {
		v := now[path]
		shown, known := g.known[path]
		switch {
		case !known:
			return "does not know " + path
		case (shown.code == events.OK) == v.hidden:
			return "knows " + path + " as " + string(shown.code)
		case !v.hidden && !(v.matches(shown.stat) && v.data == shown.data):
			return "was shown another " + path
		}
	}
	if held > len(now) {
		return "knows nodes that are gone"
	}
	return ""
}

// leaveOutHidden deletes the nodes that nobody could read for a while from what is expected, and those
// below them, and returns how many of them are known. No event of theirs goes to a recursive watch.
func (k *checks) leaveOutHidden(known map[string]seenNode, expected map[string]nodeState) (left int) {
	hidden := func(path string) bool {
		for ; strings.HasPrefix(path, treePath); path = parent(path) {
			if slices.ContainsFunc(k.historyOf(path).states, func(v nodeState) bool { return v.hidden }) {
				return true
			}
		}
		return false
	}
	maps.DeleteFunc(expected, func(path string, _ nodeState) bool { return hidden(path) })
	for path := range known {
		if hidden(path) {
			left++
		}
	}
	return left
}

// expectedView adds what a cache can know of the tree below a path.
func (w *harness) expectedView(path string, u *user, into map[string]nodeState) {
	now := w.stateOf(path)
	if now.stat == nil || !u.withinDepth(path) {
		return
	}
	into[path] = now
	for _, name := range w.ens.Children(path) {
		if !now.hidden {
			w.expectedView(path+"/"+name, u, into)
		}
	}
}

func parent(path string) string {
	dir, _ := split(path)
	return dir
}
