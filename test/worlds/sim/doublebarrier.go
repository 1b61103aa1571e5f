package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// doubleBarrierRole is the role of the double barrier. Its programs enter, leave, and give up
// either. In a healed world all that live get inside, if they are enough.
var doubleBarrierRole = &role{
	recipe:  "doublebarrier",
	dirs:    dirTraits{own: doubleBarrierDir, stays: []string{machines.ReadyNode}},
	handles: handleTraits{most: 2},
	program: doubleBarrierProgram{},
	states: stateTraits{wakes: map[engine.State]waking{
		"entering": answered, "counting": answered, "opening": answered, "parting": answered, "withdrawing": answered,
		"waiting": needs(2), "emptying": needs(1), "pausing": timed,
	}},
	plants: plantedDoubleBarriers,
}

const doubleBarrierDir = "/app/double"

type doubleBarrierProgram struct{ handleProgram }

func (doubleBarrierProgram) options(u *user, _ *rand.Rand) map[string]string {
	return map[string]string{"quantity": fmt.Sprint(u.c.w.quantity())}
}

func (doubleBarrierProgram) answered(u *user, a events.Answer) { u.roundAnswered(a) }
func (doubleBarrierProgram) cancel(u *user) bool               { return u.cancelRound() }

// whenHealed waits until an operator has cleared up.
func (doubleBarrierProgram) whenHealed(u *user) func() {
	return func() { u.c.RunAfter(2*u.c.w.Tick, u.playLastRound) }
}

// owns reports true: names are never used again.
func (doubleBarrierProgram) owns(*user, string) bool { return true }

func (doubleBarrierProgram) target(u *user) string {
	for _, path := range u.round.nodes {
		if u.c.w.ens.Committed().Exists(path) {
			return path
		}
	}
	return ""
}

// round is one round of a member, as its program knows it.
type round struct {
	entered         uint64 // the command that asked to enter; 0 is none
	enter, leave    uint64 // the commands without an answer
	cancelled       bool   // the context of the enter has ended
	inside          bool
	since           int64 // when the program was told that it is inside, by the world's clock
	leaves          int64 // when it asked to leave
	generation      int   // the ensemble's generation, when it asked to enter
	nodes           []string
	deletedByOthers bool // others deleted its node
	last            bool // it is the last round of a healed world
}

// quantity returns how many members have to be there, in the whole world.
func (w *harness) quantity() int { return 2 + int(w.Seed)%2 }

func (doubleBarrierProgram) act(u *user, n int) {
	s := &u.round
	switch {
	case n < 6 && !s.inside && s.enter == 0 && s.leave == 0:
		u.enter()
	case n < 6 && s.inside && s.leave == 0 && !u.c.w.healed:
		u.leave()
	case n == 8 && !u.c.w.healed:
		u.cancelRound()
	case n == 11 && !s.inside && s.enter == 0: // a context that ended just after the answer
		u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: s.entered})
	case n == 11: // the command of another handle
		u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: 1})
	case n == 10 && s.inside && s.leave == 0: // both are refused
		u.c.Ask(u.id, events.CommandEnter, events.Event{})
	case n == 10 && !s.inside && s.enter == 0:
		u.c.Ask(u.id, events.CommandLeave, events.Event{})
	}
}

func (u *user) enter() {
	if !u.closing {
		u.round = round{generation: u.c.w.ens.Generation()}
		u.round.entered = u.c.Ask(u.id, events.CommandEnter, events.Event{})
		u.round.enter = u.round.entered
	}
}

func (u *user) leave() {
	u.round.leaves = u.c.w.Now()
	u.round.leave = u.c.Ask(u.id, events.CommandLeave, events.Event{})
}

// cancelRound ends the context of an enter or a leave.
func (u *user) cancelRound() bool {
	s := &u.round
	number := max(s.entered, s.leave)
	if number == 0 || u.c.Paused() {
		return false
	}
	s.cancelled = true
	s.inside = s.inside && s.leave != 0
	u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: number})
	return true
}

// roundAnswered takes the answer of an enter or a leave.
func (u *user) roundAnswered(a events.Answer) {
	s, w := &u.round, u.c.w
	switch a.Command {
	case s.enter:
		s.enter = 0
		if a.Code == events.OK && !s.cancelled {
			s.inside, s.since = true, w.Now()
			w.checks.checkEntered(u)
		}
	case s.leave:
		s.leave, s.inside = 0, false
		if a.Code == events.OK {
			w.checks.checkLeft(u)
		}
	}
	switch {
	case s.enter != 0:
	case w.healed && s.inside:
		u.c.RunAfter(w.Tick, u.playLastRound)
	case s.inside:
	case w.healed:
		s.last = false
		u.c.RunAfter(w.Tick, u.playLastRound)
	case a.Code == events.Cancelled && world.OneIn(u.dice(), 2):
		u.enter()
	}
}

// playLastRound leaves the round that the member is in, and enters the last one.
func (u *user) playLastRound() {
	s := &u.round
	switch {
	case u.c.w.closing || u.closing || s.last || s.enter != 0 || s.leave != 0:
	case s.inside:
		u.leave()
	default:
		u.enter()
		u.round.last = true
	}
}

// operate ends the waits for members that do not leave.
func (doubleBarrierProgram) operate(w *harness) {
	for _, u := range w.usersOf("doublebarrier") {
		if u.round.leave != 0 {
			u.c.Run(func() { u.cancelRound() })
		}
	}
}

// unsettled returns how many members are there, if they are enough and this one is not inside.
func (doubleBarrierProgram) unsettled(u *user) string {
	there := 0
	for _, o := range u.c.w.usersOf("doublebarrier") {
		if !o.closing {
			there++
		}
	}
	if s := u.round; !u.closing && there >= u.c.w.quantity() && !(s.inside && s.leave == 0) {
		return fmt.Sprintf("is not inside, and %d are there", there)
	}
	return ""
}

// usersOf returns a recipe's handles in the processes that live and do not close.
func (w *harness) usersOf(recipe string) (all []*user) {
	for _, c := range w.clients {
		for _, u := range c.users {
			if u.role.recipe == recipe && !c.Dead() && !c.leaving {
				all = append(all, u)
			}
		}
	}
	return all
}

// memberNodeAsked notes which nodes a member asks for.
func (k *checks) memberNodeAsked(u *user, path string) {
	u.round.nodes = append(u.round.nodes, path)
	k.memberNodes[path] = u
}

// barrierCommitted notes after every transaction which members may enter: those that
// exist while enough do.
func (k *checks) barrierCommitted() {
	if !slices.Contains(k.w.OwnDirs, doubleBarrierDir) {
		return
	}
	names := slices.DeleteFunc(k.w.ens.Children(doubleBarrierDir), func(name string) bool {
		return name == machines.ReadyNode
	})
	for _, name := range names {
		if len(names) >= k.w.quantity() {
			k.stoodWithEnough[doubleBarrierDir+"/"+name] = true
		}
	}
}

// checkEntered checks that a member that entered existed with enough others, by a node of this round.
func (k *checks) checkEntered(u *user) {
	s := &u.round
	if s.generation != k.w.ens.Generation() || s.deletedByOthers ||
		slices.ContainsFunc(s.nodes, func(path string) bool { return k.stoodWithEnough[path] }) {
		return
	}
	k.fail("nobody enters before enough are there", "%s is inside, and %q never existed together with %d members",
		u.name(), s.nodes, k.w.quantity())
}

// checkLeft checks that a member does not leave before all that were inside when it asked.
func (k *checks) checkLeft(u *user) {
	for _, o := range k.w.usersOf("doublebarrier") {
		s := &o.round
		if o == u || !s.inside || s.leave != 0 || s.cancelled || o.closing || s.since > u.round.leaves ||
			s.generation != k.w.ens.Generation() || u.round.generation != k.w.ens.Generation() {
			continue
		}
		for _, path := range s.nodes {
			if k.w.ens.Committed().Exists(path) {
				k.fail("nobody leaves before all others", "%s has left, and %s is inside with %s",
					u.name(), o.name(), path)
			}
		}
	}
}

// checkDeleter checks that nobody deletes another member's node. A deletion may come
// late, from an earlier session of the same process.
func (k *checks) checkDeleter(path string, p *world.Proposal) {
	u := k.memberNodes[path]
	switch {
	case u == nil || p.Txn.Code == zkmem.OpCloseSession:
	case p.Operator:
		u.round.deletedByOthers = true
	case k.w.clientOf(p.Txn.Session) != u.c:
		k.fail("a node is deleted by its own process", "session %x deleted %s of %s", p.Txn.Session, path, u.name())
	}
}

var plantedDoubleBarriers = []Plant{
	{Name: "doublebarrier: a stale ready node lets members enter", Shape: inDir(doubleBarrierDir),
		Mutations: inOne("doublebarrier", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"noteReady": func(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					if ev.Stat != nil {
						stat := *ev.Stat
						stat.Czxid = 1 << 62
						ev.Stat = &stat
					}
					do(ev)
				}}}
		})},
	{Name: "doublebarrier: one too few is enough", Shape: inDir(doubleBarrierDir),
		Mutations: inOne("doublebarrier", func() mutate.Mutation {
			return withGuard("quantityReached", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
				ev.Children = append(slices.Clone(ev.Children), "another")
				return holds(ev)
			})
		})},
	{Name: "doublebarrier: the ready node is created without a check of the members", Shape: func(p *Plan) {
		inDir(doubleBarrierDir)(p)
		p.often(30, "operator deletes a place")
		p.often(10, "lag")
	}, Stepped: effectsOf("doublebarrier", func(e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi {
			m.Ops = slices.DeleteFunc(slices.Clone(m.Ops), func(op events.Op) bool { return op.Verb == "check" })
			return m
		}
		return e
	})},
	{Name: "doublebarrier: a member that leaves lists without a check before", Shape: func(p *Plan) {
		inDir(doubleBarrierDir)(p)
		p.often(6, "lag")
	}, Stepped: effectsOf("doublebarrier", func(e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi && len(m.Ops) == 1 && m.Ops[0].Path == doubleBarrierDir {
			return nil
		}
		return e
	})},
	{Name: "doublebarrier: it leaves without waiting", Shape: inDir(doubleBarrierDir),
		Mutations: inOne("doublebarrier", func() mutate.Mutation { return withGuard("alone", always) })},
	{Name: "doublebarrier: an enter that is given up leaves its node", Shape: inDir(doubleBarrierDir),
		Mutations: inOne("doublebarrier", func() mutate.Mutation {
			return withGuard("mayHaveNode", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
				return ev.Kind != events.CommandCancel && holds(ev)
			})
		})},
	{Name: "doublebarrier: a member's end is ignored", Shape: inDir(doubleBarrierDir),
		Mutations: inOne("doublebarrier", func() mutate.Mutation {
			return withGuard("isAwaited", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
				return ev.Kind != events.WatchDeleted && holds(ev)
			})
		})},
}
