package machines

import (
	"path"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

const (
	removesOwn   rule = "a removal deletes listed items of its id, each under its lock"
	removesAll   rule = "a removal that has succeeded has tried each listed item"
	removesCount rule = "a removal reports how many items it has deleted"
)

// removalRules are the rules of requests that delete the items of an id; writtenOnce and writeProven hold, too.
var removalRules = map[rule]bugs{
	removesOwn: {
		"items of every id are deleted": doing("noteItems",
			func(model any, ev events.Event, _ *engine.Outbox, _ func(events.Event)) {
				model.(*request).items = ev.Children
			}),
		"the locks are in the queue": doingFirst("noteItems", func(r *request, _ *events.Event) { r.locks = r.path }),
	},
	removesAll: {
		"it ends with the first item": guarded(never, "itemsLeft"),
		"a refusal is passed over": guarded(func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) || model.(*request).locks != "" && ev.Code == events.NoAuth
		}, "itemDone"),
	},
	removesCount: {
		"an item that was taken counts": doingFirst("noteRemoved", func(_ *request, ev *events.Event) {
			ev.Code = events.OK
		}),
		"no item counts": doingThen("noteRemoved", func(r *request, _ *engine.Outbox) { r.removed = 0 }),
	},
}

// removalChecker knows the items that one removal has listed, and the deletes that it has sent.
type removalChecker struct {
	atAnyRest
	queue, locks, prefix string
	command              uint64
	listed               []string
	deletes              map[uint64]*itemDelete
	reported             int64
}

// itemDelete is one delete of an item.
type itemDelete struct {
	callWrite
	item  string
	taken bool // another client has the item, or has taken it
}

func newRemovalChecker(open events.Event) checker {
	return &removalChecker{queue: open.Path, locks: open.Options[OptionLocks],
		prefix:  "queue-|" + strings.NewReplacer("/", "_", "|", "_").Replace(open.Options[OptionID]) + "|",
		deletes: map[uint64]*itemDelete{}}
}

func (c *removalChecker) record(j *judge, r events.Record) {
	ev := r.Event
	if ev.Kind == events.CommandStart && c.command == 0 {
		c.command = ev.Request
	}
	if ev.Kind == events.ReplyChildren && ev.Code == events.OK && r.Row != events.RowLate {
		c.listed = ev.Children
	}
	if d := c.deletes[ev.Request]; d != nil && ev.Kind == events.ReplyMulti {
		d.answered, d.code = true, ev.Code
		d.taken = ev.Code == events.NodeExists || ev.Code == events.NoNode && path.Dir(ev.Path) == c.queue
	}
	for _, e := range r.Effects {
		switch e := e.(type) {
		case events.Multi:
			c.delete(j, r.Machine, e)
		case events.Notify:
			if e.What == events.Value {
				c.reported = e.Value
			}
		case events.Answer:
			c.answered(j, r.Machine, e)
		}
	}
}

// delete checks the delete of an item.
func (c *removalChecker) delete(j *judge, id events.ID, multi events.Multi) {
	verbs := ""
	for _, op := range multi.Ops {
		verbs += op.Verb + " "
	}
	if verbs != "create delete delete " {
		j.breaks(removesOwn, id, "%s", multi)
		return
	}
	item, lock := path.Base(multi.Ops[1].Path), path.Join(c.locks, path.Base(multi.Ops[1].Path))
	if path.Dir(multi.Ops[1].Path) != c.queue || !slices.Contains(c.listed, item) ||
		!strings.HasPrefix(item, c.prefix) || multi.Ops[0].Path != lock || multi.Ops[2].Path != lock {
		j.breaks(removesOwn, id, "%s of %q", multi, c.listed)
	}
	for _, before := range c.deletes {
		if before.item == item && !before.refused() {
			j.breaks(writtenOnce, id, "%s", multi)
		}
	}
	c.deletes[multi.Request] = &itemDelete{item: item}
}

// answered checks the answer to the call.
func (c *removalChecker) answered(j *judge, id events.ID, a events.Answer) {
	if a.Command != c.command {
		return
	}
	c.command = 0
	done, unknown, settled := int64(0), false, map[string]bool{}
	for _, d := range c.deletes {
		if d.done() {
			done++
		}
		unknown = unknown || !d.done() && !d.refused()
		settled[d.item] = settled[d.item] || d.done() || d.taken
	}
	if unknown != (a.Code == events.OutcomeUnknown) {
		j.breaks(writeProven, id, "%s; unknown: %t", a, unknown)
	}
	if c.reported != done {
		j.breaks(removesCount, id, "%s; reported: %d, deleted: %d", a, c.reported, done)
	}
	for _, name := range c.listed {
		if _, of := ByID.Parse(name); of && a.Code == events.OK && strings.HasPrefix(name, c.prefix) && !settled[name] {
			j.breaks(removesAll, id, "%s; %s", a, name)
		}
	}
}
