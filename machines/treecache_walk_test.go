package machines

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// sown is one state of a node: which node it is, and how often it was written.
type sown struct {
	czxid   int64
	version int32
}

func (a sown) before(b sown) bool {
	return a.czxid < b.czxid || a.czxid == b.czxid && a.version < b.version
}

// deed is one transaction of a gardener's: those that a server has not heard of
// yet are carried out there later.
type deed struct {
	verb, path string
	zxid       int64
}

// view is what a program knows that does as the feed of a cache says.
type view struct {
	nodes   map[string]sown // the zero value cannot be read
	latest  map[string]sown // that was ever told of each path
	settled bool
	over    bool // too many nodes
}

// garden is a world with a tree in it that a gardener changes at random, and caches
// of it. It holds what they tell against all that has ever been. Nodes whose names
// begin with "h" cannot be read, those with "e" are ephemeral.
type garden struct {
	*world
	views  map[events.ID]*view
	read   map[events.ID]map[uint64]asked // by request, with what was seen in seen
	seen   map[events.ID]map[uint64]sown
	been   map[string]map[sown]bool // every state that a node had
	gone   map[string]map[int64]bool
	old    map[string]*events.Stat // the tree at some moment, and
	since  []deed                  // what was done after that
	behind []deed                  // what this server has not heard of
	faults []string
}

const plot = "/a/l"

func newGarden(seed int64, plants ...plant) *garden {
	w := &world{judge: newJudge(plants...), dice: rand.New(rand.NewSource(seed)), now: int64(time.Second), zxid: 100,
		nodes: map[string]*events.Stat{"/a": {}}, count: map[string]int32{}, watchers: map[string][]events.ID{},
		works: map[events.ID]int{}, tokens: map[string]int64{}, timeout: 4 * time.Second}
	g := &garden{world: w, views: map[events.ID]*view{}, read: map[events.ID]map[uint64]asked{}, seen: map[events.ID]map[uint64]sown{},
		been: map[string]map[sown]bool{}, gone: map[string]map[int64]bool{}}
	w.applied, w.heard, w.answers = g.applied, g.told, g.refused
	g.remember()
	for range g.dice.Intn(40) {
		g.operate()
	}
	if g.dice.Intn(2) == 0 { // more than are read at a time
		for _, path := range []string{plot, plot + "/wide"} {
			g.plant(path)
		}
		for i := range treeWindow + 8 {
			g.plant(fmt.Sprintf("%s/wide/e%d", plot, i))
		}
	}
	w.open("session", "session", "", nil)
	w.do("session", events.CommandStart, events.Event{})
	options := map[events.ID]map[string]string{"treecache": nil, "treecache-2": {"depth": "1"}, "treecache-3": {"most": "12"}}
	for _, id := range slices.Sorted(maps.Keys(options)) {
		g.views[id] = &view{nodes: map[string]sown{}, latest: map[string]sown{}}
		w.open("treecache", id, plot, options[id])
		w.do(id, events.CommandStart, events.Event{})
	}
	return g
}

func (g *garden) caches() []events.ID { return slices.Sorted(maps.Keys(g.views)) }

func (g *garden) fault(format string, args ...any) {
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

// remember keeps the tree as it is for a server that lags behind.
func (g *garden) remember() {
	g.old, g.since = map[string]*events.Stat{}, nil
	for path, stat := range g.nodes {
		copied := *stat
		g.old[path] = &copied
	}
}

// act is a transaction: this server hears of it at once, or when it has heard of
// all before it.
func (g *garden) act(d deed) {
	g.since = append(g.since, d)
	g.behind = append(g.behind, d)
	if len(g.behind) == 1 {
		g.catchUp()
	}
}

// catchUp has the server hear of everything.
func (g *garden) catchUp() {
	for _, d := range g.behind {
		switch d.verb {
		case "create":
			now := g.zxid
			g.zxid = d.zxid
			g.put(d.path, 0)
			g.zxid = now
			if strings.HasPrefix(base(d.path), "e") {
				g.nodes[d.path].EphemeralOwner = 5000
			}
		case "set":
			g.set(d.path)
		case "delete":
			now := g.zxid
			if g.gone[d.path] == nil {
				g.gone[d.path] = map[int64]bool{}
			}
			g.gone[d.path][g.nodes[d.path].Czxid] = true
			g.remove(d.path)
			g.zxid = max(now, d.zxid)
		}
		if stat := g.nodes[d.path]; stat != nil {
			if g.been[d.path] == nil {
				g.been[d.path] = map[sown]bool{}
			}
			g.been[d.path][sown{stat.Czxid, stat.Version}] = true
		}
	}
	g.behind = nil
}

func (g *garden) plant(path string) {
	if g.nodes[path] == nil {
		g.zxid++
		g.act(deed{"create", path, g.zxid})
	}
}

// operate changes the tree as this server knows it, unless it lags.
func (g *garden) operate() {
	if len(g.behind) > 0 {
		if g.dice.Intn(3) == 0 {
			g.catchUp()
		}
		return
	}
	var inside []string
	for _, path := range g.paths() {
		if path == plot || strings.HasPrefix(path, plot+"/") {
			inside = append(inside, path)
		}
	}
	if len(inside) == 0 {
		g.plant(plot)
		return
	}
	path := inside[g.dice.Intn(len(inside))]
	g.zxid++
	switch n := g.dice.Intn(10); {
	case n < 3:
		g.act(deed{"set", path, g.zxid})
	case n < 7 && !strings.HasPrefix(base(path), "e") && strings.Count(path, "/") < 5:
		g.plant(path + "/" + []string{"a", "b", "h", "e", "c"}[g.dice.Intn(5)])
	case n < 9 || g.dice.Intn(8) == 0: // with all that is below it
		for _, one := range slices.Backward(inside) {
			if one == path || strings.HasPrefix(one, path+"/") {
				g.zxid++
				g.act(deed{"delete", one, g.zxid})
				if n%2 == 0 && g.dice.Intn(2) == 0 {
					g.plant(one)
					break
				}
			}
		}
	}
	if g.dice.Intn(20) == 0 {
		g.remember()
	}
}

// use is a connection that ends, sometimes with its session; the next one may be
// to a server that lags behind.
func (g *garden) use() {
	switch g.dice.Intn(12) {
	case 0:
		g.disconnect()
	case 1:
		if g.alive && g.number > 0 {
			g.lose()
			if g.dice.Intn(2) == 0 && len(g.behind) == 0 {
				g.nodes, g.behind = g.old, g.since
				g.remember()
				g.since = slices.Clone(g.behind)
			}
		}
	}
}

// refused is what the server does not answer with what it has.
func (g *garden) refused(r asked) (events.Code, bool) {
	path := ""
	switch e := r.r.(type) {
	case events.Sync:
		g.catchUp()
	case events.Get:
		path = e.Path
	case events.Children:
		path = e.Path
	}
	if strings.HasPrefix(base(path), "h") && g.nodes[path] != nil {
		return events.NoAuth, true
	}
	return events.Throttled, !g.calm && path != "" && g.dice.Intn(60) == 0
}

// applied keeps what each read has seen.
func (g *garden) applied(r asked, ev events.Event) {
	put(g.read, r.from, r.r.Header().Request, r)
	if ev.Stat != nil {
		put(g.seen, r.from, r.r.Header().Request, sown{ev.Stat.Czxid, ev.Stat.Version})
	}
}

// told does as the feed says, and holds it against all that has been.
func (g *garden) told(id events.ID, n events.Notify) {
	v := g.views[id]
	if v == nil {
		return
	}
	switch n.What {
	case events.Present:
		g.present(id, v, n)
	case events.Absent:
		was, known := v.nodes[n.Path]
		if !known || was != (sown{}) && !g.gone[n.Path][was.czxid] {
			g.fault("%s: %s is gone, it says, and was not, or was not known: %v", id, n.Path, was)
		}
		delete(v.nodes, n.Path)
		for path := range v.nodes {
			if strings.HasPrefix(path, n.Path+"/") {
				g.fault("%s: %s is gone before %s", id, n.Path, path)
			}
		}
	case events.Settled, events.Stale:
		if v.settled == (n.What == events.Settled) && v.settled {
			g.fault("%s: settled twice", id)
		}
		v.settled = n.What == events.Settled
		for _, r := range g.pending {
			if r.from == id && v.settled {
				g.fault("%s: settled, and %s is under way", id, r.r)
			}
		}
	case events.Failed:
		v.over = v.over || n.Code == events.TreeTooLarge
	}
}

func (g *garden) present(id events.ID, v *view, n events.Notify) {
	was, known := v.nodes[n.Path]
	now := sown{}
	if n.Code == events.OK {
		now = g.seen[id][n.Work]
		get, _ := g.read[id][n.Work].r.(events.Get)
		if get.Path != n.Path || !g.been[n.Path][now] {
			g.fault("%s: %s never was %v (%v)", id, n.Path, now, get)
		}
		if now.before(v.latest[n.Path]) {
			g.fault("%s: %s goes back from %v to %v", id, n.Path, v.latest[n.Path], now)
		}
		v.latest[n.Path] = now
	}
	if n.Silent != (known && was == now) {
		g.fault("%s: %s is %v after %v, silent: %t", id, n.Path, now, was, n.Silent)
	}
	if _, under := v.nodes[parent(n.Path)]; n.Path != plot && !under {
		g.fault("%s: %s is there before its parent", id, n.Path)
	}
	v.nodes[n.Path] = now
}

// bounded holds how much each waits for against what it may.
func (g *garden) bounded() {
	for _, id := range g.caches() {
		if n := len(g.engine.Awaits(id)); n > treeWindow {
			g.fault("%s: %d reads are under way", id, n)
		}
	}
}

// walk plays one world to a rest and returns the first fault.
func (g *garden) walk(steps int) string {
	for range steps {
		g.move(g.use, g.operate)
		g.bounded()
		if g.wrong() != "" {
			return g.wrong()
		}
	}
	g.calm = true
	g.catchUp()
	for range 5000 {
		switch {
		case len(g.inbox) > 0:
			g.take()
		case len(g.pending) > 0:
			g.serve(false)
		case !g.attached:
			g.attach()
			g.ring(untilDue)
		case slices.ContainsFunc(g.caches(), func(id events.ID) bool { return g.engine.State(id) == pausing }):
			g.ring(untilDue)
		}
	}
	g.compare()
	return g.wrong()
}

func (g *garden) wrong() string {
	return strings.Join(append(g.faults, g.wrongs...), "\n")
}

// compare wants every cache to know the tree as it is.
func (g *garden) compare() {
	for _, id := range g.caches() {
		v, want := g.views[id], map[string]sown{}
		if v.over {
			continue
		}
		for _, path := range g.paths() {
			_, above := want[parent(path)]
			hidden := strings.HasPrefix(base(parent(path)), "h")
			deep := id == "treecache-2" && strings.Count(path, "/") > strings.Count(plot, "/")+1
			switch {
			case path != plot && (!above || hidden || deep):
			case strings.HasPrefix(base(path), "h"):
				want[path] = sown{}
			default:
				want[path] = sown{g.nodes[path].Czxid, g.nodes[path].Version}
			}
		}
		if !maps.Equal(v.nodes, want) || !v.settled {
			g.fault("%s, %s, settled %t: knows %v, and there is %v", id, g.engine.State(id), v.settled, v.nodes, want)
		}
	}
}

func TestTreeCachesWalkAtRandom(t *testing.T) {
	for seed := range int64(*walks / 3) {
		g := newGarden(seed)
		if fault := g.walk(1500); fault != "" {
			t.Fatalf("seed %d: %s\n%s", seed, fault, g.story(40))
		}
		g.mustReplay(t)
	}
}
