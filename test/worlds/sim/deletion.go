package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// deletionDir is the directory of the nodes that are deleted.
const deletionDir = "/app/deletions"

// deletionRole is the role of the guaranteed deletion. Its programs delete nodes until they
// are gone, or give up, while others create, write and replace the nodes. A deletion deletes
// one node, the one that it saw first, and its answer is true of that one.
var deletionRole = &role{
	recipe:   "deletion",
	separate: true,
	dirs:     dirTraits{own: deletionDir, public: true},
	handles:  handleTraits{most: 3},
	program:  deletionProgram{},
	writes:   &writeChecks{isWrite: isDeletion, committed: deletionCommitted, answered: deletionAnswered},
	states: stateTraits{
		final: []engine.State{""},
		wakes: map[engine.State]waking{"reading": answered, "removing": answered, "pausing": timed},
	},
	plants: plantedDeletions,
}

type deletionProgram struct{ callProgram }

func (deletionProgram) target(u *user) string { return u.path }

func (deletionProgram) act(u *user, n int) {
	d := u.dice()
	switch {
	case n < 4 && !u.call.running:
		u.path = deletionDir + "/" + string("ab"[d.IntN(2)])
		u.c.w.checks.historyOf(u.path)
		version := int32(-1)
		if world.OneIn(d, 4) {
			version = u.c.w.stateOf(u.path).number()
		}
		u.ops = []events.Op{{Verb: "delete", Path: u.path, Version: version}}
		u.beginCall(events.CommandStart, nil)
	case n < 9:
		u.c.w.changeNode(d, deletionDir+"/"+string("ab"[d.IntN(2)]))
	case n == 9:
		u.giveUp()
	case n == 10:
		u.askAgain(events.CommandStart)
	case n == 11 && u.ops != nil && world.OneIn(d, 4):
		u.beginCall("", nil)
	}
}

// changeNode has somebody create a node, write to it, create a child below it, delete
// it, or replace it.
func (w *harness) changeNode(d *rand.Rand, path string) {
	if w.healed {
		return
	}
	dir, _ := split(path)
	data := fmt.Append(nil, w.Now())
	create := func(path string) {
		w.ens.Operate(zkmem.Op{Code: zkmem.OpCreate, Path: path, Data: data, ACL: zkmem.OpenACL()})
	}
	create("/app")
	create(dir)
	switch n := d.IntN(12); {
	case n < 5:
		create(path)
	case n < 9:
		w.ens.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: path, Data: data, Version: zkmem.AnyVersion})
	case n == 9 && world.OneIn(d, 2):
		create(path + "/below")
	default:
		w.deleteTree(path)
		if n > 9 {
			create(path)
		}
	}
}

func isDeletion(_ *writeCall, r events.Request) bool {
	m, multi := r.(events.Multi)
	return multi && m.Ops[0].Verb == "delete"
}

// deletionLooked notes which node a deletion saw first, and the zxid of its last read.
// A read behind a check that was refused does not count.
func (k *checks) deletionLooked(u *user, r events.Record) {
	ev := r.Event
	if u.role.recipe != "deletion" || ev.Kind != events.ReplyStat || ev.Code != events.OK ||
		u.classOf(r.From) != events.ClassBusy {
		return
	}
	if d := k.writeCallOf(u.c, r.Machine); d != nil {
		if d.lastLook = ev.Zxid; d.target == 0 {
			d.target = ev.Stat.Czxid
		}
	}
}

// deletionCommitted checks that the deleted node is the one that was seen first.
// Others may have replaced it between the read and the delete: ZooKeeper compares versions.
func deletionCommitted(k *checks, d *writeCall, p *world.Proposal) {
	c := k.historyOf(d.path)
	if was := c.states[len(c.states)-2].stat; was != nil && was.Czxid != d.target && was.Czxid <= d.lastLook {
		k.fail("a replaced node stays", "%s saw %x, and deletes %x", d, d.target, was.Czxid)
	}
}

func deletionAnswered(k *checks, d *writeCall, a events.Answer) {
	switch {
	case a.Code == events.OK && !k.historyOf(d.path).wasGone(d):
		k.fail("a deleted node is gone", "%s was told that it is done, and the node has existed since it asked", d)
	case a.Code == events.BadVersion && d.ops[0].Version == -1:
		k.fail("a refusal is the ensemble's", "%s was answered %q, and any version would have done", d, a.Code)
	case a.Code != events.BadVersion:
		k.checkRefusal(d, a.Code)
	}
}

// wasGone reports whether the node that a deletion is about was away at some moment
// since it began. Another node in its place does not count.
func (c *nodeHistory) wasGone(d *writeCall) bool {
	since := c.statesSince(d.at)
	return slices.ContainsFunc(since, func(v nodeState) bool {
		return v.stat == nil || v.stat.Czxid != since[0].stat.Czxid
	})
}

func inDeletion(name string, m func() mutate.Mutation) Plant {
	return Plant{Name: "deletion: " + name, Shape: inDir(deletionDir), Mutations: inOne("deletion", m)}
}

var plantedDeletions = []Plant{
	syncForCheck("deletion", deletionDir),
	inDeletion("it takes any node at its path", func() mutate.Mutation {
		return withGuard("vanished", func(_ any, ev events.Event, _ func(events.Event) bool) bool {
			return ev.Code == events.NoNode
		})
	}),
	inDeletion("a delete whose answer was lost was not done", func() mutate.Mutation {
		return withGuard("wasSent", never)
	}),
	inDeletion("a write meanwhile keeps the node", func() mutate.Mutation { return withGuard("written", never) }),
	inDeletion("a refused delete counts as done", func() mutate.Mutation { return withGuard("gone", always) }),
	inDeletion("an outage ends it", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"look": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				if ev.Kind != events.ConnectionAttached {
					do(ev)
				}
			}}}
	}),
}
