package small

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// In a world of Config.Shards every participant is a member that owns shards: its machine, and the latch that elects
// who writes the assignment. The work on a shard goes on until it has to return, and then returns at any time.

// member is the machine of a participant that owns shards.
const member = "shards"

// shardTerm is what a participant has of one shard.
type shardTerm struct {
	owned   bool // as the machine says
	works   bool // its work has not returned
	path    string
	token   int64
	session int64
	excused bool // an operator has taken the node away
}

// subject is the machine of each participant.
func (c *Config) subject() events.ID {
	if c.Shards > 0 {
		return member
	}
	return latch
}

// dirs are the directories whose nodes are in the tree, below the one of all.
func (c *Config) dirs() []string {
	if c.Shards > 0 {
		return []string{"members/", "writers/"}
	}
	return []string{""}
}

// weights are the participants' weights: the second is to get most, so that a shard moves when it comes.
var weights = []int{1, 3, 2}

// beginMember opens the participant's member.
func (c *client) beginMember(w *world) {
	c.terms = make([]shardTerm, w.Shards)
	options := map[string]string{
		"shards": strconv.Itoa(w.Shards), "instance": c.name(), "weight": strconv.Itoa(weights[c.id]),
		"settle": unit.String(), "rideOut": fmt.Sprint(w.RideOut), "retry": "forever/-1/1s/0s", "noJitter": "true",
		"oneFlight": fmt.Sprint(!w.Plain),
	}
	begin := events.Event{Kind: events.CommandOpen, Recipe: member, Path: dir, Seed: c.name(), Options: options}
	c.feed(w, member, begin)
}

// startMembers lets the first participant own all shards, before the others come.
func (w *world) startMembers() *world {
	for _, path := range []string{machines.ShardMembers(dir), machines.ShardWriters(dir)} {
		w.tree.server.Put(path, zkmem.Persistent, 0)
		w.tree.changed(nil)
	}
	w.clients[0].begin(w)
	w.attach(0, false, false)
	left := w.left
	for w.left = 0; !w.led() && len(w.wrongs) == 0; {
		if w = w.hasten(); w == nil {
			panic("small: the first member does not come to own all shards")
		}
	}
	w = w.next()
	w.left = left
	for i := range w.clients[1:] {
		w.touch(i + 1).begin(w)
		w.attach(i+1, false, false)
	}
	return w
}

// ofMember returns when a timer fires, or that it never does: the latch of a member has jitter.
func ofMember(t events.SetTimer, after time.Duration) (fires time.Duration, never bool) {
	switch t.Name {
	case "check ahead":
		return timeout, false
	case "back-off":
		return unit, false
	}
	return after, t.Name == "recheck"
}

// believesIn reports whether a client believes in a shard.
func (c *client) believesIn(w *world, t shardTerm) bool {
	return t.owned && c.deadline.Session == t.session && w.now < c.deadline.Until
}

// noteShard takes a notice about a shard.
func (c *client) noteShard(w *world, n events.Notify) {
	if n.What != events.Delivered && n.What != events.Withdrawn {
		return
	}
	t, begins := &c.terms[n.Work-1], n.What == events.Delivered
	if t.owned == begins {
		w.wrong("exact pairs: client %s, shard %d: %s twice", c.name(), n.Work-1, n.What)
	}
	if !begins {
		t.owned, t.excused = false, false
		if w.Plant != nil && w.Plant.Hurries {
			ev := events.Event{Kind: events.WorkReturned, Work: n.Work}
			c.inbox = append(c.inbox, message{to: member, event: ev, local: true})
		}
		return
	}
	if t.works {
		w.wrong("no new term while work runs: client %s, shard %d", c.name(), n.Work-1)
	}
	*t = shardTerm{owned: true, works: true, path: n.Path, token: n.Token, session: n.Session}
	t.excused = n.Path == c.robbed
	if last := w.tokens[n.Work-1]; !t.excused && t.token < last {
		w.wrong("tokens grow: client %s owns shard %d with %d after %d", c.name(), n.Work-1, t.token, last)
	}
	w.tokens = slices.Clone(w.tokens)
	w.tokens[n.Work-1] = max(w.tokens[n.Work-1], t.token)
}

// ending returns the first shard whose work has to return; -1: there is none.
func (c *client) ending() int {
	return slices.IndexFunc(c.terms, func(t shardTerm) bool { return t.works && !t.owned })
}

// endWork has the work on a shard return.
func (c *client) endWork(w *world) {
	shard := c.ending()
	c.terms[shard].works = false
	c.feed(w, member, events.Event{Kind: events.WorkReturned, Work: uint64(shard) + 1})
}

// robMember notes that others have taken a member's node away.
func (c *client) robMember(path string) {
	if !strings.HasPrefix(path, machines.ShardMembers(dir)+"/") {
		return
	}
	c.robbed = path
	for i := range c.terms {
		t := &c.terms[i]
		t.excused = t.excused || t.owned && t.path == path
	}
}

// checkShards holds the promises of shards against a whole world.
func (w *world) checkShards() {
	owners := make([]int, w.Shards)
	for i, c := range w.clients {
		owns := func(t shardTerm) bool { return t.owned && t.path == c.robbed }
		if c.robbed != "" && c.idle(w) && !slices.ContainsFunc(c.terms, owns) {
			w.touch(i).robbed = ""
			c = w.clients[i]
		}
		for shard, t := range c.terms {
			if c.believesIn(w, t) {
				if !t.excused {
					owners[shard]++
				}
				w.groundedShard(c, shard, t)
			}
			if n, found := w.tree.find(t.path); t.works && found && !n.says.Owns.Has(shard) {
				w.wrong("a shard moves after its work: client %s works on shard %d, and %s does not say so", c.name(),
					shard, t.path)
			}
		}
		w.oneNode(c)
		w.awakeMember(c)
	}
	for shard, n := range owners {
		if n > 1 {
			w.wrong("a shard has one owner: shard %d has %d", shard, n)
		}
	}
	for shard := range w.Shards {
		said := 0
		for _, n := range w.tree.nodes {
			if n.says.Owns.Has(shard) {
				said++
			}
		}
		if said > 1 {
			w.wrong("one node says that a shard is owned: %d do of shard %d", said, shard)
		}
	}
}

// groundedShard checks that belief in a shard lies within the life of the own node, which says that it is owned.
func (w *world) groundedShard(c *client, shard int, t shardTerm) {
	n, found := w.tree.find(t.path)
	switch {
	case t.excused:
		if c.idle(w) {
			w.wrong("belief after a deletion by others: client %s has heard, and owns shard %d", c.name(), shard)
		}
	case !found || n.owner != c.zkid:
		w.wrong("belief within the life of the own node: client %s owns shard %d by %s, which is not its own", c.name(),
			shard, t.path)
	case !n.says.Owns.Has(shard):
		w.wrong("belief in what the own node says: client %s owns shard %d, and %s does not say so", c.name(), shard,
			t.path)
	}
}

// oneNode checks that a client has one member's node at most when nothing is on its way.
func (w *world) oneNode(c *client) {
	own := 0
	for _, n := range w.tree.nodes {
		if n.owner == c.zkid && n.isMember() {
			own++
		}
	}
	if c.idle(w) && own > 1 {
		w.wrong("one own node: client %s has %d", c.name(), own)
	}
}

// awakeMember checks that a member that waits has a watch, an answer or a timer to wake it.
func (w *world) awakeMember(c *client) {
	if w.owedAll(c); !c.idle(w) || c.number == 0 {
		return
	}
	state, awaits := c.engine.State(member), len(c.engine.Awaits(member))
	awake := true
	switch state {
	case "idle":
		plan := machines.ShardAssignment(dir)
		awake = slices.Contains(c.watches, plan) || slices.Contains(c.watches, missing+plan)
	case "reading", "creating", "writing", "pausing", "leaving":
		awake = awaits >= 1
	case "suspended":
		awake = false
	}
	if !awake {
		w.wrong("an armed wake-up: nothing can wake client %s in %s (awaits %v, watches %v)", c.name(), state,
			c.engine.Awaits(member), c.watches)
	}
}

// claimed checks a step from the world before: a member claims only what is assigned to it.
func (w *world) claimed(before *world) {
	for _, n := range w.tree.nodes {
		was, _ := before.tree.find(dir + "/" + n.name)
		for _, shard := range n.says.Owns {
			if !was.says.Owns.Has(shard) && !w.tree.plan.Owners[n.base()].Has(shard) {
				w.wrong("a claim follows the assignment: %s claims shard %d", n.name, shard)
			}
		}
	}
}

// shared reports whether each shard has an owner who believes in it.
func (w *world) shared() bool {
	for shard := range w.Shards {
		if !slices.ContainsFunc(w.clients, func(c *client) bool {
			return len(c.terms) > 0 && c.believesIn(w, c.terms[shard]) && !c.terms[shard].excused
		}) {
			return false
		}
	}
	return true
}
