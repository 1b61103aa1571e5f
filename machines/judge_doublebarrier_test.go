package machines

import (
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	openedByAll  rule = "the ready node is created only while the quantity of members exists"
	enteredReady rule = "a member has entered if a ready node is newer than its own node, and not before"
	leftByAll    rule = "a member has left when all that were inside have"
	lowestLast   rule = "the lowest member stays until the others have left, and deletes the ready node with its own"
	onlyOwn      rule = "a member deletes no other's node"
	nothingLeft  rule = "a member that is outside has no node"
)

var meetingRules = map[rule]bugs{
	openedByAll: {
		"one member is enough": guarded(always, "quantityReached"),
		"an older node of the same member counts": doingFirst("recount", func(b *doubleBarrier, _ *events.Event) {
			b.oldNodes = nil
		}),
	},
	enteredReady: {
		"an older ready node lets in": doingThen("noteReady", func(b *doubleBarrier, _ *engine.Outbox) {
			b.readyNewer = b.readyNewer || b.readyOlder
		}),
		"a refused ready node lets in": guarded(func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return ev.Kind == events.ReplyMulti || holds(ev)
		}, "entered"),
		"a ready node lets in a member without a node": guarded(always, "readyAppeared"),
		"a newer ready node lets nobody in":            guarded(never, "readyIsNewer"),
	},
	leftByAll: {
		"nobody is waited for": guarded(always, "alone"),
		"the first that leaves is enough": doingThen("relist", func(b *doubleBarrier, _ *engine.Outbox) {
			b.others = nil
		}),
	},
	lowestLast: {
		"each deletes its node first": doingThen("watchOne", func(b *doubleBarrier, out *engine.Outbox) {
			if b.own != "" && b.own < b.others[0] {
				out.Delete(b.ownPath())
			}
		}),
		"a ready node of any round is deleted": doingFirst("deleteWithReady", func(b *doubleBarrier, _ *events.Event) {
			b.version = anyVersion
		}),
	},
	onlyOwn: {
		"the member that is waited for is deleted": doingThen("watchOne", func(b *doubleBarrier, out *engine.Outbox) {
			out.Delete(join(b.dir, b.others[0]))
		}),
	},
	nothingLeft: {"an own node stays": guarded(never, "mayHaveNode")},
}

func init() {
	hasRules("doublebarrier", newMeetingChecker, meetingRules)
}

// meetingChecker knows what a member of a double barrier was shown of the others.
type meetingChecker struct {
	atAnyRest
	dir, ready string
	quantity   int

	names  []string // that this member has created
	made   int64    // the czxid of the last
	enters uint64   // the command that waits
	leaves uint64
	newer  bool // the ready node that was read last is newer than the own node
	listed []string
	opens  uint64 // the number of the multi that creates the ready node
	round  map[string]bool
	zxid   int64 // of the listing that showed the round
}

func newMeetingChecker(open events.Event) checker {
	return &meetingChecker{dir: open.Path, ready: join(open.Path, ReadyNode),
		quantity: int(optionNumber(open.Options, "quantity"))}
}

func (c *meetingChecker) own() string {
	if len(c.names) == 0 {
		return ""
	}
	return c.names[len(c.names)-1]
}

func (c *meetingChecker) record(j *judge, r events.Record) {
	ev := r.Event
	switch ev.Kind {
	case events.CommandEnter:
		if c.enters == 0 && c.leaves == 0 {
			c.enters, c.round = ev.Request, nil
		}
	case events.CommandLeave:
		if c.leaves == 0 {
			c.leaves, c.round = ev.Request, nil
		}
	}
	entered := false
	if r.Row != events.RowLate && r.Row != events.RowIgnored {
		entered = c.learn(j, r)
	}
	for _, e := range r.Effects {
		switch e := e.(type) {
		case events.Create:
			if e.Mode == events.Ephemeral && !slices.Contains(c.names, path.Base(e.Path)) {
				c.names, c.made = append(c.names, path.Base(e.Path)), 0
			}
		case events.Delete:
			c.deletes(j, r.Machine, events.Multi{Ops: []events.Op{{Verb: "delete", Path: e.Path}}})
		case events.Multi:
			c.deletes(j, r.Machine, e)
			c.creates(j, r.Machine, e)
		case events.Answer:
			c.answered(j, r, e, entered)
		}
	}
	if entered && c.enters != 0 && ev.Kind != events.WatchCreated {
		j.breaks(enteredReady, r.Machine, "at %s, and Enter goes on", ev.Kind)
	}
	if made := j.facts[r.Machine].made; len(made) > 0 && (r.To == string(outside) || r.To == string(closed)) {
		j.breaks(nothingLeft, r.Machine, "%v", made)
	}
}

// learn notes what an event shows, and reports whether it shows that the member has entered.
func (c *meetingChecker) learn(j *judge, r events.Record) bool {
	ev := r.Event
	switch asked := j.asked[r.Machine][ev.Request].(type) {
	case events.Create:
		if ev.Kind == events.ReplyCreate && ev.Code == events.OK && asked.Path == join(c.dir, c.own()) {
			c.made = ev.Zxid
		}
	case events.Exists:
		if ev.Kind == events.ReplyStat {
			c.read(j, asked.Path, ev)
		}
	case events.Get:
		if ev.Kind == events.ReplyStat {
			c.read(j, asked.Path, ev)
		}
	case events.Multi:
		return ev.Kind == events.ReplyMulti && ev.Code == events.OK && ev.Request == c.opens
	case events.Children:
		if ev.Kind != events.ReplyChildren || ev.Code != events.OK {
			break
		}
		c.listed = slices.DeleteFunc(slices.Clone(ev.Children), func(name string) bool {
			return name == ReadyNode || name != c.own() && slices.Contains(c.names, name)
		})
		if c.leaves != 0 && c.round == nil {
			c.round, c.zxid = map[string]bool{}, ev.Zxid
			for _, name := range c.listed {
				c.round[name] = name != c.own()
			}
		}
		for name := range c.round {
			c.round[name] = c.round[name] && slices.Contains(c.listed, name)
		}
		return c.newer && slices.Contains(c.listed, c.own())
	}
	switch ev.Kind {
	case events.WatchDeleted:
		delete(c.round, path.Base(ev.Path))
	case events.WatchCreated:
		return ev.Path == c.ready && j.armed[r.Machine][join(c.dir, c.own())]
	}
	return false
}

// read notes what a read shows of the ready node, the own one, or one that is waited for.
func (c *meetingChecker) read(j *judge, at string, ev events.Event) {
	name := path.Base(at)
	there := ev.Code == events.OK && ev.Stat != nil
	switch {
	case name == ReadyNode:
		c.newer = there && c.made != 0 && ev.Stat.Czxid > c.made
	case name == c.own():
		if there && j.session != nil && ev.Stat.EphemeralOwner == j.session.id {
			c.made = ev.Stat.Czxid
		}
	case ev.Code == events.NoNode, there && c.zxid != 0 && ev.Stat.Czxid > c.zxid:
		delete(c.round, name)
	}
}

// waitedFor returns the members of the round that were not shown to have left.
func (c *meetingChecker) waitedFor() (names []string) {
	for name, inside := range c.round {
		if inside {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// creates checks the multi that creates the ready node: it checks the members that it counts.
func (c *meetingChecker) creates(j *judge, id events.ID, multi events.Multi) {
	if !slices.ContainsFunc(multi.Ops, func(op events.Op) bool { return op.Verb == "create" && op.Path == c.ready }) {
		return
	}
	c.opens = multi.Request
	var checked []string
	for _, op := range multi.Ops {
		if name := path.Base(op.Path); op.Verb == "check" && slices.Contains(c.listed, name) {
			checked = append(checked, name)
		}
	}
	slices.Sort(checked)
	checked = slices.Compact(checked)
	want := c.quantity
	if want > maxChecks {
		want = 1
	}
	if len(checked) < want || len(c.listed) < c.quantity || !slices.Contains(checked, c.own()) {
		j.breaks(openedByAll, id, "%s, for %d of %v", multi, c.quantity, c.listed)
	}
}

// deletes checks what is deleted, and when.
func (c *meetingChecker) deletes(j *judge, id events.ID, multi events.Multi) {
	for _, op := range multi.Ops {
		name := path.Base(op.Path)
		others := c.waitedFor()
		switch {
		case op.Verb != "delete":
		case name == ReadyNode:
			replaced := slices.ContainsFunc(multi.Ops, func(op events.Op) bool { return op.Verb == "create" })
			if op.Version < 0 || !replaced && len(others) > 0 {
				j.breaks(lowestLast, id, "%s, and %v are inside", multi, others)
			}
		case !slices.Contains(c.names, name):
			j.breaks(onlyOwn, id, "%s", multi)
		case name == c.own() && c.leaves != 0 && len(others) > 0 && name < others[0]:
			j.breaks(lowestLast, id, "%s, and %v are inside", multi, others)
		}
	}
}

// answered checks that a member enters and leaves as it was shown.
func (c *meetingChecker) answered(j *judge, r events.Record, a events.Answer, entered bool) {
	switch a.Command {
	case c.enters:
		c.enters = 0
		refused := a.Code != events.OK && strings.HasPrefix(string(r.Event.Kind), "reply.")
		if a.Code == events.OK && !entered || refused && entered {
			j.breaks(enteredReady, r.Machine, "%s at %s %s", a, r.Event.Kind, r.Event.Code)
		}
	case c.leaves:
		c.leaves = 0
		own := join(c.dir, c.own())
		if _, there := j.facts[r.Machine].made[own]; a.Code == events.OK && (there || len(c.waitedFor()) > 0) {
			j.breaks(leftByAll, r.Machine, "%v are inside; the own node exists: %t", c.waitedFor(), there)
		}
		c.round = nil
	}
}
