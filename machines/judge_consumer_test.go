package machines

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	oneAtATime     rule = "a consumer works on one item at a time"
	takenInOrder   rule = "items are taken as they were listed, in their order"
	takenWhenDue   rule = "an item is taken when it is due"
	deliveredOwned rule = "a delivered item was read, and is locked or, at most once, deleted"
	deletedAtEnd   rule = "an item is deleted with its lock, after its work succeeded or its tries are used up"
	keptLocked     rule = "an item that is worked on stays locked"
	triesCounted   rule = "a failed try is counted, and its item keeps its data"
	withdrawnAtEnd rule = "work is withdrawn when the session ends"
	noItemLeft     rule = "a consumer that waits takes notice of every item"
	locksDeleted   rule = "a consumer that has ended has no locks"
)

var takeRules = map[rule]bugs{
	oneAtATime: {
		"an item is delivered twice": doing("deliver",
			func(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				do(ev)
				do(ev)
			}),
	},
	takenInOrder: {
		"the last item comes first": doingThen("order", func(c *consumer, _ *engine.Outbox) {
			slices.Reverse(c.backlog)
		}),
	},
	takenWhenDue: {
		"all items are due": doingThen("order", func(c *consumer, _ *engine.Outbox) {
			for i := range c.backlog {
				c.backlog[i].Rank = 0
			}
		}),
	},
	deliveredOwned: {
		"a lock that was refused counts":      holdingIf(func(c *consumer) bool { return c.next != nil }, "nextLocked"),
		"the lock of another consumer counts": guarded(always, "ours"),
		"at most once, an item whose deletion was refused is delivered": holdingIf(func(c *consumer) bool {
			return c.once
		}, "written"),
	},
	deletedAtEnd: {
		"an item that failed is deleted": doingThen("decideOutcome", func(c *consumer, _ *engine.Outbox) {
			if c.outcome == failed {
				c.outcome = finished
			}
		}),
		"an item is given up a try too early": doingFirst("decideOutcome", func(c *consumer, _ *events.Event) {
			c.held.uncounted++
		}),
	},
	keptLocked: {
		"a close unlocks what is worked on": doingThen("close", func(c *consumer, out *engine.Outbox) {
			if c.held != nil {
				out.With(engine.Unawaited).Delete(join(c.locks, c.held.Name))
			}
		}),
	},
	triesCounted: {
		"a try is counted whose lock ended with the session": guarded(never, "lockGone"),
		"a failed try takes an item's data": doingFirst("settle", func(c *consumer, _ *events.Event) {
			if c.outcome == failed {
				c.held.payload = 0
			}
		}),
	},
	withdrawnAtEnd: {"work goes on": skipping("withdraw")},
	noItemLeft: {
		"what another has locked is forgotten": doingThen("skip", func(c *consumer, _ *engine.Outbox) {
			c.skipped = false
		}),
		"the queue is not watched": doing("relist",
			func(model any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
				out.Children(model.(*consumer).path)
			}),
	},
	locksDeleted: {
		"locks are left": holdingIf(func(c *consumer) bool { return len(c.closing) > 0 }, "mayClose"),
	},
}

func init() {
	hasRules("consumer", newTakeChecker, takeRules)
}

// takeChecker knows what a consumer has listed, locked, read and deleted.
type takeChecker struct {
	queue, locks, dead string
	kind               ItemKind
	once               bool
	tries              int

	listed   []string          // in the order in which the items are to be taken
	at       int               // the index of the item that was taken last
	locked   map[string]uint64 // the numbers of the multis that created the locks
	read     map[string]uint64 // the numbers of the last reads
	deleted  map[string]bool   // since they were listed
	time     clock             // of the ensemble's leader
	locking  *events.Multi     // the last one that creates a lock
	work     string            // the item that is worked on
	withdraw bool              // and whether its work has to end
	try      int
	outcomes map[string]outcome // of work that has returned
}

func newTakeChecker(open events.Event) checker {
	o := open.Options
	return &takeChecker{queue: open.Path, kind: ItemKind(cmp.Or(o["kind"], string(FIFO))),
		once: o["once"] == "true", tries: int(optionNumber(o, "tries")),
		locks: cmp.Or(o["locks"], LocksOf(open.Path)), dead: cmp.Or(o["dead"], DeadLettersOf(open.Path)),
		locked: map[string]uint64{}, read: map[string]uint64{},
		deleted: map[string]bool{}, outcomes: map[string]outcome{}}
}

func (c *takeChecker) record(j *judge, r events.Record) {
	if r.Row != events.RowLate && r.Row != events.RowIgnored {
		c.learn(j, r)
	}
	for _, e := range r.Effects {
		switch e := e.(type) {
		case events.Notify:
			c.notified(j, r.Machine, e)
		case events.Multi:
			c.multi(j, r, e)
		case events.Delete:
			c.multi(j, r, events.Multi{Ops: []events.Op{{Verb: "delete", Path: e.Path}}})
		case events.Get:
			if item, ok := strings.CutPrefix(e.Path, c.queue+"/"); ok && c.once {
				c.takes(j, r, item)
			}
		}
	}
	if c.withdraw {
		j.breaks(withdrawnAtEnd, r.Machine, "%s", c.work)
		c.withdraw = false
	}
	if r.To == string(closed) && len(c.locked) > 0 {
		j.breaks(locksDeleted, r.Machine, "%v", c.locked)
	}
}

// learn notes what an event shows.
func (c *takeChecker) learn(j *judge, r events.Record) {
	ev := r.Event
	switch asked := j.asked[r.Machine][ev.Request].(type) {
	case events.Multi:
		if ev.Kind == events.ReplyMulti {
			c.committed(asked, ev)
		}
	case events.Get:
		if ev.Kind != events.ReplyStat || ev.Code != events.OK {
			break
		}
		dir, name := path.Dir(asked.Path), path.Base(asked.Path)
		switch {
		case dir == c.queue:
			c.read[name] = ev.Request
		case dir == c.locks && c.locking != nil:
			lock := c.locking.Ops[len(c.locking.Ops)-1]
			if lock.Path == asked.Path && string(lock.Data) == string(ev.Data) {
				c.committed(*c.locking, events.Event{})
			}
		}
	case events.Children:
		if ev.Kind == events.ReplyChildren && ev.Code == events.OK && asked.Path == c.queue {
			items, _ := c.kind.Backlog(ev.Children)
			c.listed, c.at = nil, 0
			clear(c.deleted)
			for _, i := range items {
				c.listed = append(c.listed, i.Name)
			}
		}
	}
	switch ev.Kind {
	case events.WorkReturned:
		c.returned(ev)
	case events.ConnectionLost:
		c.withdraw = c.work != "" && !c.once
		clear(c.locked)
		clear(c.outcomes)
		c.listed, c.time = nil, clock{}
	}
}

// committed notes what a multi did.
func (c *takeChecker) committed(multi events.Multi, ev events.Event) {
	if ev.Stat != nil && ev.Stat.Mtime != 0 {
		c.time = clock{ev.Stat.Mtime, ev.SentAt, ev.At}
	}
	for _, op := range multi.Ops {
		dir, name := path.Dir(op.Path), path.Base(op.Path)
		switch {
		case ev.Code != events.OK && (ev.Code != events.NoNode || len(multi.Ops) > 1 && ev.Path != op.Path):
		case op.Verb == "delete" && dir == c.locks: // now or before
			delete(c.locked, name)
			delete(c.outcomes, name)
		case ev.Code != events.OK:
		case op.Verb == "delete" && dir == c.queue:
			c.deleted[name] = true
		case op.Verb == "create" && dir == c.locks:
			c.locked[name] = multi.Request
		}
	}
}

// returned notes how work has ended.
func (c *takeChecker) returned(ev events.Event) {
	if _, locked := c.locked[c.work]; locked {
		c.outcomes[c.work] = failed
		if ev.Text == "" {
			c.outcomes[c.work] = finished
		} else if ev.Code == events.Cancelled {
			c.outcomes[c.work] = released
		} else if c.tries > 0 && c.try >= c.tries {
			c.outcomes[c.work] = deadLettered
		}
	}
	c.work = ""
}

// notified checks a delivery, and notes that work is to end.
func (c *takeChecker) notified(j *judge, id events.ID, n events.Notify) {
	item := path.Base(n.Path)
	switch n.What {
	case events.Withdrawn:
		c.withdraw = c.withdraw && item != c.work
	case events.Delivered:
		if c.work != "" {
			j.breaks(oneAtATime, id, "%s while it works on %s", item, c.work)
		}
		lock, own := c.locked[item]
		own = own && lock < n.Work
		if c.once {
			own = c.deleted[item]
		}
		if !own || c.read[item] == 0 || c.read[item] != n.Work {
			j.breaks(deliveredOwned, id, "%s as %d: read by %d, locked by %d", item, n.Work, c.read[item], lock)
		}
		delete(c.read, item)
		delete(c.outcomes, item)
		c.work, c.try = item, n.Try
	}
}

// multi checks what a multi does to items and locks.
func (c *takeChecker) multi(j *judge, r events.Record, multi events.Multi) {
	does := func(verb, path string) bool {
		return slices.ContainsFunc(multi.Ops, func(op events.Op) bool { return op.Verb == verb && op.Path == path })
	}
	for _, op := range multi.Ops {
		dir, name := path.Dir(op.Path), path.Base(op.Path)
		_, locked := c.locked[name]
		switch {
		case op.Verb == "create" && dir == c.locks:
			c.locking = &multi
			if c.work != "" {
				j.breaks(oneAtATime, r.Machine, "locks %s while it works on %s", name, c.work)
			}
			if !does("check", join(c.queue, name)) || op.Mode != events.Ephemeral {
				j.breaks(takenInOrder, r.Machine, "%s", multi)
			}
			c.takes(j, r, name)
		case op.Verb == "delete" && dir == c.locks && name == c.work:
			j.breaks(keptLocked, r.Machine, "%s", multi)
		case op.Verb == "delete" && dir == c.queue && !c.once:
			ended := c.outcomes[name] == finished || c.outcomes[name] == deadLettered &&
				slices.ContainsFunc(multi.Ops, func(op events.Op) bool {
					return op.Verb == "create" && path.Dir(op.Path) == c.dead && op.Payload != 0
				})
			if !locked || !ended || !does("delete", join(c.locks, name)) {
				j.breaks(deletedAtEnd, r.Machine, "%s: locked: %t, work: %q", multi, locked, c.outcomes[name])
			}
		case op.Verb == "set" && dir == c.queue && !c.once:
			if !locked || c.outcomes[name] != failed || op.Payload == 0 || op.Version < 0 {
				j.breaks(triesCounted, r.Machine, "%s: locked: %t, work: %q", multi, locked, c.outcomes[name])
			}
		}
	}
}

// takes checks that an item is the next one.
func (c *takeChecker) takes(j *judge, r events.Record, item string) {
	at := slices.Index(c.listed, item)
	if at < c.at {
		j.breaks(takenInOrder, r.Machine, "%s, behind %d of %v", item, c.at, c.listed)
	}
	c.at = max(at, c.at)
	parsed, _ := c.kind.Parse(item)
	if now := c.time.least(r.Event.At); c.kind == ByDue && (!c.time.known() || parsed.Rank > now) {
		j.breaks(takenWhenDue, r.Machine, "%s, at %d", item, now)
	}
}

// rest checks that a consumer that waits has a timer for the items that it has left, and that a watch or a timer makes
// it list the next ones.
func (c *takeChecker) rest(j *judge, id events.ID) {
	comes := slices.ContainsFunc(j.engine.Awaits(id), func(a engine.Awaited) bool { return a.Name == nextTimer })
	if comes || j.engine.State(id) != waiting {
		return
	}
	for _, item := range c.listed {
		if !c.deleted[item] {
			j.breaks(noItemLeft, id, "%s", item)
		}
	}
	if !j.armed[id][c.queue+"/"] {
		j.breaks(noItemLeft, id, "no watch")
	}
}
