package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// orchard is the directory whose tree programs keep in memory.
const orchard = "/app/tree"

// treeReads is how many reads of one cache may be under way at a time.
const treeReads = 32

// Caches of a tree, while others make, write, delete, replace and hide its nodes.
// What they tell was so, node by node in the order of the history, each difference
// once; in a healed world they hold the tree as it is. treecache_checks.go asks.
func init() {
	roles = append(roles, &role{
		recipe: "treecache", home: orchard, most: 3, apart: true, calls: true, public: true,
		keep: func(u *user, ev events.Event) {
			if ev.Stat != nil {
				u.grove.kept[ev.Request] = u.sight(ev.Stat, string(ev.Data))
			}
		},
		act: actTree, told: toldTree, cancel: (*user).giveUp, healed: (*user).withdraw,
		spot:  func(u *user) string { return u.c.w.twig(u.dice()) },
		lasts: func(_ *harness, dir, _ string) bool { return dir == orchard },
		tend:  tendTrees,
		unsettled: func(u *user) string {
			if u.c.w.checks.seasons < seasons && u.call.going {
				return "has not seen all seasons"
			}
			return u.unlike()
		},
		rests: []engine.State{"watching", "absent", "overfull", ""},
		wakes: map[engine.State]waking{
			"reading": readingTree, "watching": needs(1), "absent": needs(1), "pausing": timed,
		},
		plants: slices.Concat(plantedTrees, plantedTreeNodes),
	})
}

// grove is what the program of a tree cache knows.
type grove struct {
	kept    map[uint64]sight // answers that are not told yet
	answers map[uint64]sight // all, and the connections that they came over
	last    sight            // the one that it deals with
	wire    *world.Conn      // the connection of what was told last
	shown   map[string]growth
	been    map[string]growth // what was ever told of each path, gone or not
	ready   bool
	gap     bool // another connection than when all was read last
	over    bool // too many nodes
}

// growth is a node as it was told.
type growth struct {
	sight
	code  events.Code
	index int // which state of the history that is
}

func actTree(u *user, n int) {
	d := u.dice()
	switch {
	case !u.call.going && (n < 4 || n == 11):
		u.grove = grove{kept: map[uint64]sight{}, answers: map[uint64]sight{}, shown: map[string]growth{}, been: map[string]growth{}}
		u.begins([]events.Kind{events.CommandStart, ""}[n/11], treeOptions(d))
	case n < 9:
		if !u.c.w.calm {
			u.c.w.grow(d, u.c.SessionID())
		}
	case n == 9 && world.OneIn(d, 3):
		u.giveUp()
	case n == 10:
		u.asksAgain(events.CommandStart)
	}
}

func treeOptions(d *rand.Rand) map[string]string {
	options := map[string]string{}
	if world.OneIn(d, 3) {
		options["depth"] = fmt.Sprint(1 + d.IntN(2))
	}
	if world.OneIn(d, 4) {
		options["most"] = fmt.Sprint(3 + d.IntN(12))
	}
	return options
}

// twig is a node of the tree as it is, at random; the top where there is none.
func (w *harness) twig(d *rand.Rand) string {
	path := orchard
	for {
		names := w.ens.Children(path)
		if len(names) == 0 || world.OneIn(d, 4) {
			return path
		}
		path += "/" + names[d.IntN(len(names))]
	}
}

// grow has somebody change the tree, in a few places at once as a rule. Nodes whose
// names begin with "h" cannot be read.
func (w *harness) grow(d *rand.Rand, session int64) {
	w.put(0, "/app")
	w.put(0, orchard)
	for range 1 + d.IntN(6) {
		switch path, n := w.twig(d), d.IntN(16); {
		case n < 5:
			w.branch(d, path, 0)
		case n == 5:
			w.branch(d, path, session)
		case n < 9:
			w.ens.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: path, Data: fmt.Append(nil, w.Now()), Version: zkmem.AnyVersion})
		case n < 11:
			w.ens.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
		case n == 11:
			w.clear(path)
		case n == 12: // another in its place
			w.clear(path)
			w.put(0, path)
			w.branch(d, path, 0)
		case n == 13 && !w.calm && world.OneIn(d, 3):
			w.hide(path)
		case n == 14 && world.OneIn(d, 12):
			for i := range 40 {
				w.put(0, fmt.Sprintf("%s/a/w%d", orchard, i))
			}
		}
	}
}

// branch makes a node below another.
func (w *harness) branch(d *rand.Rand, under string, session int64) {
	if strings.Count(under, "/") < 5 {
		w.put(session, under+"/"+[]string{"a", "b", "c", "d", "h"}[d.IntN(5)])
	}
}

// put makes a node, ephemeral where it is a session's.
func (w *harness) put(session int64, path string) {
	who, op := zkmem.Operator(), zkmem.Op{Code: zkmem.OpCreate, Path: path, Data: fmt.Append(nil, w.Now()), ACL: zkmem.OpenACL()}
	if session != 0 {
		who, op.Mode = zkmem.Caller{Session: session}, zkmem.Ephemeral
	}
	if strings.HasPrefix(base(path), "h") {
		op.ACL = []zkmem.ACL{{Perms: zkmem.PermAll &^ zkmem.PermRead, Scheme: "world", ID: "anyone"}}
	}
	w.ens.Propose(who, op)
}

// seasons are how often a healed world changes the tree while all caches hold it as
// it is: nothing but their watches tells them then.
const seasons = 2

// tendTrees is an operator who changes the tree, and who has given access back: no
// watch tells of that, so a change in the directory has to.
func tendTrees(w *harness) {
	settled := true
	for _, c := range w.clients {
		for _, u := range c.users {
			settled = settled && (u.role.recipe != "treecache" || c.Dead() || c.leaving || u.unlike() == "")
			for _, path := range slices.Sorted(maps.Keys(u.grove.shown)) {
				now := w.versionOf(path)
				if u.grove.shown[path].code == events.OK || now.stat == nil || now.hidden {
					continue
				}
				dir, _ := split(path)
				w.put(0, dir+"/shown")
				w.ens.Operate(zkmem.Op{Code: zkmem.OpDelete, Path: dir + "/shown", Version: zkmem.AnyVersion})
			}
		}
	}
	if w.calm && settled && w.checks.seasons < seasons {
		w.checks.seasons++
		w.grow(w.Dice("season"), 0)
	}
}
