package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// treePath is the directory whose tree programs keep in memory.
const treePath = "/app/tree"

// maxTreeReads is how many reads of one cache may be under way at a time.
const maxTreeReads = 32

// treeCacheRole is the role of the tree cache. Its programs hold a tree in memory, while
// others create, write, delete, replace and hide its nodes. What they are told was true, for
// each node in the order of the history, and each difference is told once. In a healed world
// they hold the tree as it is. The checks are in treecache_checks.go. Most use a recursive watch where
// there can be one. A cache of some levels cannot, and its watches on the top take the place of the others'
// on servers that keep one for each path.
var treeCacheRole = &role{
	recipe:   "treecache",
	separate: true,
	dirs:     dirTraits{own: treePath, public: true},
	handles:  handleTraits{most: 3},
	program:  treeCacheProgram{},
	states: stateTraits{
		final: []engine.State{"watching", "absent", "overfull", ""},
		wakes: map[engine.State]waking{
			"arming": armingTree, "reading": readingTree, "watching": needs(1), "absent": needs(1), "pausing": timed,
		},
	},
	plants: slices.Concat(plantedTrees, plantedTreeNodes, plantedTreeWatches),
}

type treeCacheProgram struct{ callProgram }

func (treeCacheProgram) keepReply(u *user, ev events.Event) {
	if ev.Stat != nil {
		u.cache.pendingReplies[ev.Request] = u.newReadState(ev.Stat, string(ev.Data))
	}
}

func (treeCacheProgram) target(u *user) string { return u.c.w.randomNode(u.dice()) }

func (treeCacheProgram) mayStay(_ *harness, dir, _ string) bool { return dir == treePath }

func (treeCacheProgram) unsettled(u *user) string {
	if u.c.w.checks.treeRounds < treeRounds && u.call.running {
		return "has not seen all rounds of changes"
	}
	return u.cacheDiffers()
}

// cacheView is what the program of a tree cache knows.
type cacheView struct {
	pendingReplies map[uint64]readState // replies that no notice has told yet
	answers        map[uint64]readState // all replies, and the connections that they came over
	last           readState            // the reply that the machine deals with
	conn           *world.Conn          // the connection of what was told last
	known          map[string]seenNode
	lastSeen       map[string]seenNode // what was told last of each path, gone or not
	ready          bool
	gap            bool // the connection is another than when all was read last
	tooLarge       bool // there are too many nodes
}

// seenNode is a node as it was told.
type seenNode struct {
	readState
	code  events.Code
	index int // the index of that state in the history
}

func (treeCacheProgram) act(u *user, n int) {
	d := u.dice()
	switch {
	case !u.call.running && (n < 4 || n == 11):
		u.cache = cacheView{pendingReplies: map[uint64]readState{}, answers: map[uint64]readState{},
			known: map[string]seenNode{}, lastSeen: map[string]seenNode{}}
		u.beginCall([]events.Kind{events.CommandStart, ""}[n/11], treeOptions(d))
	case n < 9:
		if !u.c.w.healed {
			u.c.w.changeTree(d, u.c.SessionID())
		}
	case n == 9 && world.OneIn(d, 3):
		u.giveUp()
	case n == 10:
		u.askAgain(events.CommandStart)
	}
}

func treeOptions(d *rand.Rand) map[string]string {
	options := map[string]string{}
	if !world.OneIn(d, 4) {
		options["recursive"] = "true"
	}
	if world.OneIn(d, 3) {
		options["depth"] = fmt.Sprint(1 + d.IntN(2))
	}
	if world.OneIn(d, 4) {
		options["most"] = fmt.Sprint(3 + d.IntN(12))
	}
	return options
}

// randomNode returns a node of the tree, the top if there is none.
func (w *harness) randomNode(d *rand.Rand) string {
	path := treePath
	for {
		names := w.ens.Children(path)
		if len(names) == 0 || world.OneIn(d, 4) {
			return path
		}
		path += "/" + names[d.IntN(len(names))]
	}
}

// changeTree has somebody change the tree, in a few places at once as a rule. Nobody
// may read nodes whose names begin with "h".
func (w *harness) changeTree(d *rand.Rand, session int64) {
	w.createNode(0, "/app")
	w.createNode(0, treePath)
	for range 1 + d.IntN(6) {
		switch path, n := w.randomNode(d), d.IntN(16); {
		case n < 5:
			w.createBelow(d, path, 0)
		case n == 5:
			w.createBelow(d, path, session)
		case n < 9:
			w.ens.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: path, Data: fmt.Append(nil, w.Now()),
				Version: zkmem.AnyVersion})
		case n < 11:
			w.ens.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
		case n == 11:
			w.deleteTree(path)
		case n == 12: // another node in its place
			w.deleteTree(path)
			w.createNode(0, path)
			w.createBelow(d, path, 0)
		case n == 13 && !w.healed && world.OneIn(d, 3):
			w.takeRead(path)
		case n == 14 && world.OneIn(d, 12):
			for i := range 40 {
				w.createNode(0, fmt.Sprintf("%s/a/w%d", treePath, i))
			}
		}
	}
}

// createBelow creates a node below another.
func (w *harness) createBelow(d *rand.Rand, under string, session int64) {
	if strings.Count(under, "/") < 5 {
		w.createNode(session, under+"/"+[]string{"a", "b", "c", "d", "h"}[d.IntN(5)])
	}
}

// createNode creates a node; it is ephemeral if it has a session.
func (w *harness) createNode(session int64, path string) {
	who, op := zkmem.Operator(),
		zkmem.Op{Code: zkmem.OpCreate, Path: path, Data: fmt.Append(nil, w.Now()), ACL: zkmem.OpenACL()}
	if session != 0 {
		who, op.Mode = zkmem.Caller{Session: session}, zkmem.Ephemeral
	}
	if strings.HasPrefix(base(path), "h") {
		op.ACL = []zkmem.ACL{{Perms: zkmem.PermAll &^ zkmem.PermRead, Scheme: "world", ID: "anyone"}}
	}
	w.ens.Propose(who, op)
}

// treeRounds is how often a healed world changes the tree while all caches hold it as it
// is: only their watches can tell them then.
const treeRounds = 2

// operate changes the tree. It also creates and deletes a node in the directory of each
// one that can be read again, since no watch tells of that.
func (treeCacheProgram) operate(w *harness) {
	settled := true
	for _, c := range w.clients {
		for _, u := range c.users {
			settled = settled && (u.role.recipe != "treecache" || c.Dead() || c.leaving || u.cacheDiffers() == "")
			for _, path := range slices.Sorted(maps.Keys(u.cache.known)) {
				now := w.stateOf(path)
				if u.cache.known[path].code == events.OK || now.stat == nil || now.hidden {
					continue
				}
				dir, _ := split(path)
				w.createNode(0, dir+"/shown")
				w.ens.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: dir + "/shown", Version: zkmem.AnyVersion})
			}
		}
	}
	if w.healed && settled && w.checks.treeRounds < treeRounds {
		w.checks.treeRounds++
		w.changeTree(w.Dice("season"), 0)
	}
}
