package queues

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// fired are the rows that were taken in any world.
var fired = map[string]bool{}

// checks hold what was promised against the history of transactions.
type checks struct {
	w       *world
	broken  []string
	story   []string
	open    map[string]bool // commands without an answer
	puts    map[string]*put // by client and command
	made    map[string]int  // item → how often it was put
	zxid    map[string]int64
	nodes   map[string]string // node → item
	earned  map[string]bool   // items whose handler has returned without an error
	handed  map[string]int    // how often an item was handed over
	first   []machines.Item   // the nodes that were handed over, in order
	held    map[string]*work  // who has an item now
	lost    map[string]bool   // items that may be lost, and of which somebody was told
	least   map[string]int64  // item → not before, by the leader's clock
	closing bool
}

type put struct {
	items  []string
	code   events.Code
	closed bool
}

func newChecks(w *world) checks {
	return checks{w: w, open: map[string]bool{}, puts: map[string]*put{}, made: map[string]int{}, zxid: map[string]int64{}, nodes: map[string]string{},
		earned: map[string]bool{}, handed: map[string]int{}, held: map[string]*work{}, lost: map[string]bool{}, least: map[string]int64{}}
}

func (k *checks) fail(format string, args ...any) {
	k.broken = append(k.broken, fmt.Sprintf(format, args...))
}

func key(c *client, n uint64) string { return fmt.Sprintf("%s#%d", c.name, n) }

func (k *checks) begun(c *client, id events.ID, ev events.Event) {
	if id != events.SessionMachine {
		k.open[key(c, ev.Request)] = true
	}
}

func (k *checks) wanted(c *client, n uint64, items []string, delay string) {
	k.puts[key(c, n)] = &put{items: items}
	if d, err := time.ParseDuration(delay); err == nil {
		for _, item := range items {
			k.least[item] = epoch + k.w.now/int64(time.Millisecond) + d.Milliseconds()
		}
	}
}

func (k *checks) answered(c *client, a events.Answer) {
	name := key(c, a.Command)
	if a.Command != 0 && !k.open[name] && a.Command > 1 {
		k.fail("command %s is answered, and is not open", name)
	}
	delete(k.open, name)
	p := k.puts[name]
	if p == nil {
		return
	}
	p.code, p.closed = a.Code, true
	for _, item := range p.items {
		switch n := k.made[item]; {
		case a.Code == events.OK && n != 1:
			k.fail("the put of %s is answered ok, and it was put %d times", item, n)
		case a.Code != events.OK && a.Code != events.OutcomeUnknown && n != 0:
			k.fail("the put of %s is answered %s, and it was put", item, a.Code)
		case k.zxid[item] != k.zxid[p.items[0]]:
			k.fail("the items %v were not put as one", p.items)
		}
	}
}

// committed looks at one transaction.
func (k *checks) committed(txn zkmem.Txn) {
	all := txn.Ops
	if txn.Code != zkmem.OpMulti {
		all = []zkmem.Txn{txn}
	}
	if txn.Err != 0 {
		return
	}
	buried := map[string]bool{}
	for _, op := range all {
		if op.Err != 0 {
			return
		}
		if op.Code == zkmem.OpCreate && strings.HasPrefix(op.Path, queuePath+"-dead/") {
			buried[string(op.Data)] = true
		}
	}
	for _, op := range all {
		dir, name, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
		switch {
		case "/"+dir != queuePath || name == "":
		case op.Code == zkmem.OpCreate:
			item := string(op.Data)
			k.made[item]++
			k.zxid[item], k.nodes[op.Path] = txn.Zxid, item
			if k.made[item] > 1 {
				k.fail("%s was put twice", item)
			}
		case op.Code == zkmem.OpDelete:
			item := k.nodes[op.Path]
			if !k.w.once && !k.earned[item] && !buried[item] {
				k.fail("%s is deleted, and nobody has done it", item)
			}
		}
	}
}

func (k *checks) delivered(one *work, n events.Notify) {
	if one.item != k.nodes[n.Path] {
		k.fail("%s is handed over with the data of %q", n.Path, one.item)
	}
	k.handed[one.item]++
	if k.w.once && k.handed[one.item] > 1 {
		k.fail("%s is handed over twice, at most once", one.item)
	}
	if k.earned[one.item] && !k.w.once && k.made[one.item] == 1 && !k.w.truth.Exists(n.Path) && k.w.truth.Exists(queuePath+"-locks"+n.Path[len(queuePath):]) {
		k.story = append(k.story, "handed over after it was done: "+one.item)
	}
	if other := k.held[one.item]; other != nil && !other.withdrawn && !other.c.dead && !other.c.over && other.session == other.c.zkid {
		k.fail("%s is held by two at a time", one.item)
	}
	k.held[one.item] = one
	item, ok := k.w.kind.Parse(n.Path[len(queuePath)+1:])
	if !ok {
		k.fail("%s is handed over", n.Path)
	}
	leader := epoch + k.w.now/int64(time.Millisecond)
	if k.w.kind == machines.ByDue && (item.Rank > leader || k.least[one.item] > leader) {
		k.fail("%s is early by %d ms", one.item, max(item.Rank, k.least[one.item])-leader)
	}
	if n.Try == 1 && k.handed[one.item] == 1 {
		k.first = append(k.first, item)
	}
}

func (k *checks) finished(one *work, text string) {
	if k.held[one.item] == one {
		delete(k.held, one.item)
	}
	if text == "" {
		k.earned[one.item] = true
	}
}

func (k *checks) failed(n events.Notify) {
	if n.Code == events.ItemLost {
		k.lost[k.nodes[n.Path]] = true
	}
}

// records asks that no machine retries without a pause: a thousand steps in one place.
func (k *checks) records(c *client) {
	for _, r := range c.engine.Records() {
		if *loud {
			fmt.Println(c.name, r.Machine, r.From, r.Row, r.To, r.Event.Code, r.Effects)
		}
		recipe, _, _ := strings.Cut(string(r.Machine), "-")
		fired[recipe+" "+r.From+" "+r.Row] = true
	}
	if n := len(c.engine.Records()); n > 60 {
		k.fail("one event made %d steps", n)
	}
}

// done reports whether nothing is awaited any more.
func (k *checks) done() bool {
	if k.closing {
		return len(k.unanswered()) == 0
	}
	for _, p := range k.puts {
		if !p.closed && !k.ofTheDead(p) && !k.w.lonelyStart() {
			return false
		}
	}
	names, _, _ := k.w.truth.Children(queuePath)
	return len(names) == 0 || k.w.lonelyStart()
}

// lonelyStart is a world whose consumer has not begun yet.
func (w *world) lonelyStart() bool {
	if !w.lonely {
		return false
	}
	for _, p := range w.puts {
		if !p.closed {
			return false
		}
	}
	return len(w.handed) == 0 && w.clients[0].engine.State("consumer-0") == "latent"
}

func (k *checks) ofTheDead(p *put) bool {
	name, _, _ := strings.Cut(p.items[0], "/")
	return slices.ContainsFunc(k.w.clients, func(c *client) bool { return c.dead && c.name == name })
}

// atRest: in a healed world every put is answered and every item is done.
func (k *checks) atRest() {
	if len(k.broken) > 0 {
		return
	}
	for name, p := range k.puts {
		if !p.closed && !k.ofTheDead(p) {
			k.fail("the put %s was never answered: %s", name, k.w.states())
		}
	}
	names, _, _ := k.w.truth.Children(queuePath)
	if len(names) > 0 {
		k.fail("%d items are left: %v; %s", len(names), names, k.w.states())
	}
	locks, _, _ := k.w.truth.Children(queuePath + "-locks")
	if len(locks) > 0 {
		k.fail("locks are left: %v", locks)
	}
	if k.w.lonely && !slices.IsSortedFunc(k.first, inOrder) {
		k.fail("handed over in the order %v", k.first)
	}
}

func inOrder(a, b machines.Item) int {
	if a.Rank != b.Rank {
		return int(a.Rank - b.Rank)
	}
	return int(a.Sequence - b.Sequence)
}

func (w *world) states() string {
	var all []string
	for _, c := range w.clients {
		for _, id := range c.users {
			all = append(all, fmt.Sprintf("%s/%s %s", c.name, id, c.engine.State(id)))
		}
	}
	return strings.Join(all, ", ")
}

func (k *checks) unanswered() (all []string) {
	for name := range k.open {
		owner, _, _ := strings.Cut(name, "#")
		if !slices.ContainsFunc(k.w.clients, func(c *client) bool { return c.dead && c.name == owner }) {
			all = append(all, name)
		}
	}
	return all
}

func (k *checks) nothingLeft() {
	if len(k.broken) > 0 {
		return
	}
	if open := k.unanswered(); len(open) > 0 {
		k.fail("commands %v were never answered; %s", open, k.w.states())
	}
	for _, c := range k.w.clients {
		for _, id := range c.users {
			if state := c.engine.State(id); state != "" && !c.dead {
				k.fail("%s/%s is %s after its close", c.name, id, state)
			}
		}
	}
	for item := range k.made {
		dead := k.w.once && slices.ContainsFunc(k.w.clients, func(c *client) bool { return c.dead })
		if k.w.once && k.handed[item] == 0 && !k.lost[item] && !dead {
			k.fail("%s was taken and not handed over, and nobody was told", item)
		}
	}
	markers, _, _ := k.w.truth.Children(queuePath + "-producers")
	if len(markers) > 0 && !k.w.tampered && k.w.alive() == len(k.w.clients) {
		k.fail("markers are left: %v", markers)
	}
}
