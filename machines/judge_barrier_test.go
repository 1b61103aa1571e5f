package machines

import (
	"cmp"
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

const (
	letThrough rule = "no wait ends before its node is shown to be open, behind a check through the quorum"
	notHeld    rule = "a wait ends as soon as its node is shown to be open"
	callProven rule = "a call succeeds if, and only if, what it asked for was done"
	callOnly   rule = "a call sends no other writes than it was asked for"
)

var callRules = map[rule]bugs{
	callProven: {
		"a create that was refused counts":   guarded(always, "nodeCreated"),
		"a deletion that was refused counts": guarded(always, "gone"),
		"a node that was there is refused":   guarded(never, "nodeCreated"),
	},
	callOnly: {
		"the node ends with the session": doing("set",
			func(model any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
				out.Create(events.Op{Path: model.(*barrierCall).path, Mode: events.Ephemeral})
			}),
	},
}

var withoutCheck = doing("look", func(model any, _ events.Event, out *engine.Outbox, _ func(events.Event)) {
	out.DropPending()
	out.With(engine.Watch).Exists(model.(*barrierCall).path)
})

// rulesWith returns rules, and more of them.
func rulesWith(more, rules map[rule]bugs) map[rule]bugs {
	all := maps.Clone(rules)
	maps.Copy(all, more)
	return all
}

var barrierRules = rulesWith(map[rule]bugs{
	letThrough: {
		"every barrier is open":   guarded(always, "barrierOpen"),
		"the quorum is not asked": withoutCheck,
	},
	notHeld: {
		"what the check shows is not believed": guarded(never, "noNode"),
		"when the node was seen is forgotten":  skipping("noteNodeSeen"),
		"a deletion ends no wait": mutate.Mutation{
			Detours: []mutate.Detour{{Row: engine.Edge{From: "shut", Name: "watch.deleted", To: closed}, To: "shut"}},
			Actions: map[string]acting{"succeed": unlessWatch},
		},
	},
}, callRules)

var gateRules = rulesWith(map[rule]bugs{
	letThrough: {
		"every gate is open":      guarded(always, "gateOpen"),
		"the quorum is not asked": withoutCheck,
	},
	notHeld: {
		"what a read shows is not believed": guarded(never, "gateOpen"),
		"a creation ends no wait": mutate.Mutation{
			Detours: []mutate.Detour{{Row: engine.Edge{From: "shut", Name: "watch.created", To: closed}, To: "shut"}},
			Actions: map[string]acting{"succeed": unlessWatch},
		},
	},
}, callRules)

// unlessWatch succeeds, but not by a watch.
func unlessWatch(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
	if !slices.Contains(anyWatch, ev.Kind) {
		do(ev)
	}
}

func init() {
	hasRules("barrier", newCallChecker, barrierRules)
	hasRules("gate", newCallChecker, gateRules)
}

// callChecker knows what one call at a barrier, or at a gate, was shown of the node.
type callChecker struct {
	atAnyRest
	path    string
	gate    bool
	task    events.Kind
	command uint64
	seen    int64 // a zxid at which the node existed
	checked bool  // the quorum was asked on this connection, and has not failed to answer
	armed   bool
}

func newCallChecker(open events.Event) checker {
	return &callChecker{path: open.Path, gate: open.Recipe == "gate"}
}

func (c *callChecker) record(j *judge, r events.Record) {
	ev := r.Event
	switch ev.Kind {
	case events.CommandAwait, events.CommandSet, events.CommandRemove:
		if c.task == "" {
			c.task, c.command = ev.Kind, ev.Request
		}
	}
	done := r.Row != events.RowLate && c.command != 0 && c.shown(j.asked[r.Machine][ev.Request], ev)
	for _, e := range r.Effects {
		switch e := e.(type) {
		case events.Answer:
			if e.Command == c.command {
				c.answered(j, r, e, done)
			}
		case events.Multi, events.Create, events.Delete:
			c.only(j, r.Machine, e.(events.Request))
		}
	}
	if done && c.command != 0 {
		j.breaks(c.rule(notHeld), r.Machine, "%s is not answered at %s %s", c.task, ev.Kind, ev.Code)
	}
}

// rule returns the rule for a wait, or else that of the other calls.
func (c *callChecker) rule(ofWait rule) rule {
	if c.task == events.CommandAwait {
		return ofWait
	}
	return callProven
}

// answered checks the answer to the call.
func (c *callChecker) answered(j *judge, r events.Record, a events.Answer, done bool) {
	if ok := a.Code == events.OK; ok && !done {
		j.breaks(c.rule(letThrough), r.Machine, "%s at %s %s", c.task, r.Event.Kind, r.Event.Code)
	} else if done && !ok {
		j.breaks(c.rule(notHeld), r.Machine, "%s is answered %s", c.task, a.Code)
	}
	c.command = 0
}

// shown reports whether an event shows that what the call asks for is done.
func (c *callChecker) shown(asked events.Request, ev events.Event) bool {
	switch asked := asked.(type) {
	case events.Create:
		return asked.Path == c.path && ev.Kind == events.ReplyCreate && createdOrThere(ev)
	case events.Delete:
		return ev.Kind == events.ReplyDelete && (ev.Code == events.OK || ev.Code == events.NoNode)
	case events.Multi:
		if ev.Kind != events.ReplyMulti {
			break
		}
		c.checked = c.checked && !ev.Code.Transient()
		return c.node(ev, ev.Zxid, false)
	case events.Exists:
		if ev.Kind != events.ReplyStat {
			break
		}
		c.armed = ev.Code == events.OK || ev.Code == events.NoNode
		created := int64(0)
		if ev.Stat != nil {
			created = ev.Stat.Czxid
		}
		return c.node(ev, created, c.seen != 0 && created > c.seen) && c.checked
	}
	switch ev.Kind {
	case events.ConnectionSuspended, events.ConnectionLost:
		c.checked, c.armed = false, false
	case events.WatchCreated, events.WatchDeleted, events.WatchChanged:
		fired := c.armed && ev.Path == c.path
		c.armed = c.armed && ev.Path != c.path
		return fired && c.gate == (ev.Kind == events.WatchCreated) && ev.Kind != events.WatchChanged
	}
	return false
}

// node notes whether the node exists, and reports whether that, or that it is another one, lets the call through.
func (c *callChecker) node(ev events.Event, zxid int64, another bool) bool {
	if c.gate {
		return ev.Code == events.OK || ev.Code == events.NoAuth
	}
	if ev.Code == events.OK {
		c.seen = cmp.Or(c.seen, zxid)
	}
	return ev.Code == events.NoNode || ev.Code == events.OK && another
}

// only checks that a write is what the call was asked for.
func (c *callChecker) only(j *judge, id events.ID, request events.Request) {
	asked := false
	switch q := request.(type) {
	case events.Multi:
		asked = c.task == events.CommandAwait && len(q.Ops) == 1 && q.Ops[0].Verb == "check"
		c.checked = true
	case events.Create:
		of := slices.Contains(ancestors(c.path), q.Path)
		asked = c.task == events.CommandSet && of && (q.Path != c.path || q.Mode == events.Persistent)
	case events.Delete:
		asked = c.task == events.CommandRemove && q.Path == c.path
	}
	if !asked {
		j.breaks(callOnly, id, "%s sends %s", c.task, request)
	}
}
