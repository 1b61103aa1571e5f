package sim

import (
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const (
	semaphoreDir = "/app/semaphore"
	leaseDir     = semaphoreDir + "/leases"
	lockDir      = semaphoreDir + "/locks"
	permitLimit  = 3
)

// semaphoreRole is the role of the semaphore. Its programs acquire some of three permits,
// work, and release them. They try, give up, and sometimes set another limit. At no zxid is
// there a permit too many, whatever an operator did. In a healed world every call ends.
var semaphoreRole = &role{
	recipe:   "semaphore",
	separate: true,
	line:     lineTraits{together: true},
	dirs:     dirTraits{own: semaphoreDir, sub: []string{lockDir, leaseDir}},
	handles:  handleTraits{most: 2},
	program:  semaphoreProgram{},
	states: stateTraits{
		final: []engine.State{""},
		wakes: map[engine.State]waking{
			"probing": answered, "looking": answered, "taking": answered, "confirming": answered,
			"full": needs(2), "queueing": hasLatch, "leaving": hasLatch, "leading": needs(1), "draining": working,
			"pausing": timed,
		},
		faults: map[engine.State][]string{
			"taking": {"cut"}, "confirming": {"delete the own node", "throttle"}, "pausing": {"cut, and no answer"},
		},
	},
	plants: plantedSemaphores,
}

type semaphoreProgram struct{ holdProgram }

func (semaphoreProgram) target(u *user) string { return u.newest(lockDir, leaseDir) }

// hasLatch is the waking of a state that waits for a reply, a timer, or a latch of its own.
func hasLatch(c *client, id events.ID, owed, _ int) bool {
	return !c.Attached() || owed >= 1 || c.latchOf(id) != ""
}

// semaphoreLatchWakes wake a latch whose opener puts its node into a transaction.
var semaphoreLatchWakes = with(lineWakes, map[engine.State]waking{
	"waiting": needs(1), "blocked": needs(1), "leading": nil, "draining": nil,
})

// latchOf returns the latch that queues for a machine, "" for none.
func (c *client) latchOf(opener events.ID) events.ID {
	for _, id := range c.Engine().Machines() {
		if strings.HasPrefix(string(id), "latch-"+string(opener)+"-") {
			return id
		}
	}
	return ""
}

// newest returns the newest node of the handle in some directories, "" for none.
func (u *user) newest(dirs ...string) (path string) {
	last := int64(0)
	for _, dir := range dirs {
		for _, name := range u.c.w.ens.Children(dir) {
			data, stat, err := u.c.w.ens.Committed().Get(dir + "/" + name)
			if err == nil && string(data) == u.name() && stat.Czxid > last {
				path, last = dir+"/"+name, stat.Czxid
			}
		}
	}
	return path
}

func (semaphoreProgram) act(u *user, n int) {
	d := u.dice()
	switch {
	case n < 6:
		permits, own := 1+d.IntN(permitLimit), permitLimit
		if world.OneIn(d, 8) {
			own = permitLimit + 1
		}
		u.beginCall(events.CommandAwait,
			map[string]string{"limit": fmt.Sprint(own), "permits": fmt.Sprint(permits),
				"try": fmt.Sprint(world.OneIn(d, 3))})
	case n == 6 && world.OneIn(d, 3):
		u.askAgain(events.CommandAwait)
	case n == 7:
		u.giveUp()
	case n == 8 && world.OneIn(d, 2):
		u.c.w.setLimit(permitLimit + d.IntN(4)/3)
	case n == 8 || n == 10:
		u.write()
	case n == 11 && world.OneIn(d, 4):
		u.beginCall("", nil)
	}
}

// setLimit has somebody set the limit.
func (w *harness) setLimit(limit int) {
	w.ens.Operate(zkmem.Op{Code: zkmem.OpSetData, Path: leaseDir, Data: machines.FormatLimit(limit),
		Version: zkmem.AnyVersion})
}

// permitsCommitted checks that a call takes all its permits in one transaction, under
// the limit that it was told, and not one too many.
func (k *checks) permitsCommitted(p *world.Proposal) {
	made := 0
	for _, op := range p.Txn.Ops {
		if op.Code == zkmem.OpCreate && strings.HasPrefix(op.Path, leaseDir+"/") {
			made++
			delete(k.ended, op.Path) // the directory was created again, and the name came again
		}
	}
	u := k.asker(p)
	if made == 0 || u == nil || k.w.ens.Generation() > 0 {
		return
	}
	data, _, _ := k.w.ens.Committed().Get(leaseDir)
	agreed, _ := machines.ParseLimit(data)
	if want := u.call.options["permits"]; want != fmt.Sprint(made) {
		k.fail("all permits or none", "%s wants %s permits, and makes %d", u.name(), want, made)
	}
	if own := u.call.options["limit"]; own != fmt.Sprint(agreed) {
		k.fail("one limit for all", "%s takes permits under a limit of %s, and %d is agreed", u.name(), own, agreed)
	}
	held := 0
	for _, name := range k.w.ens.Children(leaseDir) {
		// without copies that an operator made
		if _, stat, _ := k.w.ens.Committed().Get(leaseDir + "/" + name); stat.EphemeralOwner != 0 {
			held++
		}
	}
	if held > agreed {
		k.fail("no permit too many", "%s makes %d permits, and then there are %d of %d", u.name(), made, held, agreed)
	}
}

// tryFinds checks that a try that finds others in the line of locks does not join it.
func (k *checks) tryFinds(u *user, r events.Record) {
	if line, _ := machines.Line(r.Event.Children, machines.LockLabel); len(line) > 0 && u.role.recipe == "semaphore" &&
		u.classOf(r.From) == events.ClassBusy && u.classOf(r.To) == events.ClassQueued {
		k.fail("a try that finds others writes nothing", "%s found others in line, and joins it", u.name())
	}
}

// asker returns the handle whose machine asked for a transaction, nil for none.
func (k *checks) asker(p *world.Proposal) *user {
	if p.Origin == nil {
		return nil
	}
	for _, c := range k.w.clients {
		if c.SessionID() == p.Txn.Session {
			return c.user(p.Origin.ID)
		}
	}
	return nil
}

// noPermitLeft checks that a call that has ended holds no permits, if its session goes on.
func (k *checks) noPermitLeft(u *user) {
	if u.role.recipe != "semaphore" || k.w.ens.Generation() > 0 || u.c.Ending() || u.c.sessionEnds || k.othersChanged {
		return
	}
	if path := u.newest(lockDir, leaseDir); path != "" {
		if _, stat, _ := k.w.ens.Committed().Get(path); stat.EphemeralOwner == u.c.SessionID() {
			k.fail("nothing is left", "%s is over, and %s is there", u.name(), path)
		}
	}
}

// inSemaphore plants a change of a transaction in a semaphore's machine.
func inSemaphore(change func(m events.Multi) events.Multi) func(*client, []engine.Addressed) []engine.Addressed {
	return effectsOf("semaphore", func(e events.Effect) events.Effect {
		if m, ok := e.(events.Multi); ok {
			return change(m)
		}
		return e
	})
}

// takes reports whether a transaction creates permits.
func takes(m events.Multi) bool { return m.Ops[len(m.Ops)-1].Verb == "create" }

var plantedSemaphores = []Plant{
	{Name: "semaphore: only the permit that is n before is watched", Shape: inDir(semaphoreDir),
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			if u == nil || u.role.recipe != "semaphore" {
				return true
			}
			switch ev.Kind {
			case events.ReplyChildren:
				if line, _ := machines.Line(ev.Children, machines.LeaseLabel); len(line) > 0 {
					u.call.options["before"] = line[0].Name
				}
			case events.WatchChildren:
				return !c.w.ens.Committed().Exists(leaseDir + "/" + u.call.options["before"])
			}
			return true
		}},
	{Name: "semaphore: permits are not counted", Shape: inDir(semaphoreDir),
		Mutations: inOne("semaphore", func() mutate.Mutation { return withGuard("tooFewPermits", never) })},
	{Name: "semaphore: one more than the limit", Shape: inDir(semaphoreDir),
		Mutations: inOne("semaphore", func() mutate.Mutation {
			return withGuard("enoughPermits", func(model any, ev events.Event, holds func(events.Event) bool) bool {
				return holds(ev) || len(ev.Children) <= *field[int](model, "limit")
			})
		})},
	{Name: "semaphore: the lock's node is checked by its name alone, before", Shape: inDir(semaphoreDir),
		Stepped: inSemaphore(func(m events.Multi) events.Multi {
			if takes(m) {
				m.Ops = m.Ops[1:]
			}
			return m
		})},
	{Name: "semaphore: another limit is no reason to refuse", Shape: inDir(semaphoreDir),
		Mutations: inOne("semaphore", func() mutate.Mutation { return withGuard("disagrees", never) })},
	{Name: "semaphore: the limit is not checked again", Shape: func(p *Plan) { inDir(semaphoreDir)(p); p.Clients = 5 },
		Stepped: inSemaphore(func(m events.Multi) events.Multi {
			if takes(m) && m.Ops[1].Verb == "check" {
				m.Ops[1].Version = -1
			}
			return m
		})},
	{Name: "semaphore: permits are taken one after another", Shape: inDir(semaphoreDir),
		Stepped: inSemaphore(func(m events.Multi) events.Multi {
			if takes(m) {
				m.Ops = m.Ops[:3]
			}
			return m
		})},
	{Name: "semaphore: one permit is given back", Shape: inDir(semaphoreDir),
		Stepped: inSemaphore(func(m events.Multi) events.Multi {
			if m.Ops[0].Verb == "delete" && !takes(m) {
				m.Ops = m.Ops[:1]
			}
			return m
		})},
	{Name: "semaphore: a lost reply means that nothing was taken", Shape: inDir(semaphoreDir),
		Mutations: inOne("semaphore", func() mutate.Mutation { return withGuard("recovered", never) })},
	{Name: "semaphore: a try queues behind others", Shape: inDir(semaphoreDir),
		Mutations: inOne("semaphore", func() mutate.Mutation { return withGuard("lineOccupied", never) })},
	{Name: "semaphore: the node that the latch holds went with the permits' transaction", Shape: func(p *Plan) {
		inDir(semaphoreDir)(p)
		p.often(6, "cut after apply", "throttled")
	}, Mutations: inOne("semaphore", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"adopt": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				*field[string](model, "spent") = *field[string](model, "latchNode")
				do(ev)
			}}}
	})},
}
