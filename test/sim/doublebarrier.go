package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/mutate"
	"github.com/incumbent-go/incumbent/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The double barrier: programs that enter, leave, and give up either. In a healed
// world all who live get inside, if they are enough.
func init() {
	roles = append(roles, &role{
		recipe: "doublebarrier", home: "/app/double", keeps: []string{machines.ReadyNode}, most: 2,
		options: func(u *user, _ *rand.Rand) map[string]string {
			return map[string]string{"quantity": fmt.Sprint(u.c.w.quantity())}
		},
		act: actMember, answers: (*user).passes, cancel: (*user).giveStayUp,
		spot: func(u *user) string {
			for _, path := range u.stay.nodes {
				if u.c.w.ens.Truth().Exists(path) {
					return path
				}
			}
			return ""
		},
		owns:   func(u *user, _ string) bool { return true },           // names are never used again
		healed: func(u *user) { u.c.RunAfter(2*u.c.w.Tick, u.stayOn) }, // when an operator has cleared up
		tend:   endLeaves, unsettled: (*user).locked,
		wakes: map[engine.State]waking{
			"entering": answered, "counting": answered, "opening": answered, "parting": answered, "withdrawing": answered,
			"waiting": needs(2), "emptying": needs(1), "pausing": timed,
		},
		plants: plantedDoubleBarriers,
	})
}

// stay is one round of a member, as its program knows it.
type stay struct {
	entered      uint64 // the command that asked to enter; 0 is none
	enter, leave uint64 // the commands that are open
	cancelled    bool   // the enter's context has ended
	inside       bool
	since        int64 // when it was told that it is inside, by the world's clock
	leaves       int64 // when it asked to leave
	life         int   // the ensemble's, when it asked to enter
	nodes        []string
	robbed       bool // others deleted its node
	last         bool // it is the last round of a healed world
}

// quantity is how many have to be there, for all members of a world.
func (w *harness) quantity() int { return 2 + int(w.Seed)%2 }

func actMember(u *user, n int) {
	s := &u.stay
	switch {
	case n < 6 && !s.inside && s.enter == 0 && s.leave == 0:
		u.goIn()
	case n < 6 && s.inside && s.leave == 0 && !u.c.w.calm:
		u.goOut()
	case n == 8 && !u.c.w.calm:
		u.giveStayUp()
	case n == 11 && !s.inside && s.enter == 0: // a context that ended just after the answer
		u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: s.entered})
	case n == 11: // one of another handle
		u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: 1})
	case n == 10 && s.inside && s.leave == 0: // both are refused
		u.c.Ask(u.id, events.CommandEnter, events.Event{})
	case n == 10 && !s.inside && s.enter == 0:
		u.c.Ask(u.id, events.CommandLeave, events.Event{})
	}
}

func (u *user) goIn() {
	if !u.closing {
		u.stay = stay{life: u.c.w.ens.Life()}
		u.stay.entered = u.c.Ask(u.id, events.CommandEnter, events.Event{})
		u.stay.enter = u.stay.entered
	}
}

func (u *user) goOut() {
	u.stay.leaves = u.c.w.Now()
	u.stay.leave = u.c.Ask(u.id, events.CommandLeave, events.Event{})
}

// giveStayUp ends the context of an enter or a leave.
func (u *user) giveStayUp() bool {
	s := &u.stay
	number := max(s.entered, s.leave)
	if number == 0 || u.c.Paused() {
		return false
	}
	s.cancelled = true
	s.inside = s.inside && s.leave != 0
	u.c.Post(u.id, events.Event{Kind: events.CommandCancel, Work: number})
	return true
}

// passes takes the answer of an enter or a leave.
func (u *user) passes(a events.Answer) {
	s, w := &u.stay, u.c.w
	switch a.Command {
	case s.enter:
		s.enter = 0
		if a.Code == events.OK && !s.cancelled {
			s.inside, s.since = true, w.Now()
			w.checks.entered(u)
		}
	case s.leave:
		s.leave, s.inside = 0, false
		if a.Code == events.OK {
			w.checks.left(u)
		}
	}
	switch {
	case s.enter != 0:
	case w.calm && s.inside:
		u.c.RunAfter(w.Tick, u.stayOn)
	case s.inside:
	case w.calm:
		s.last = false
		u.c.RunAfter(w.Tick, u.stayOn)
	case a.Code == events.Cancelled && world.OneIn(u.dice(), 2):
		u.goIn()
	}
}

// stayOn is what the program does in a healed world: it leaves the round that it
// is in, and enters a last one.
func (u *user) stayOn() {
	s := &u.stay
	switch {
	case u.c.w.ending || u.closing || s.last || s.enter != 0 || s.leave != 0:
	case s.inside:
		u.goOut()
	default:
		u.goIn()
		u.stay.last = true
	}
}

// endLeaves ends the waits for members who are not on their way out.
func endLeaves(w *harness) {
	for _, u := range w.users("doublebarrier") {
		if u.stay.leave != 0 {
			u.c.Run(func() { u.giveStayUp() })
		}
	}
}

// locked says that a member is not inside, though enough are there.
func (u *user) locked() string {
	there := 0
	for _, o := range u.c.w.users("doublebarrier") {
		if !o.closing {
			there++
		}
	}
	if s := u.stay; !u.closing && there >= u.c.w.quantity() && !(s.inside && s.leave == 0) {
		return fmt.Sprintf("is not inside, and %d are there", there)
	}
	return ""
}

// users are a recipe's handles in the processes that live and do not leave.
func (w *harness) users(recipe string) (all []*user) {
	for _, c := range w.clients {
		for _, u := range c.users {
			if u.role.recipe == recipe && !c.Dead() && !c.leaving {
				all = append(all, u)
			}
		}
	}
	return all
}

// enters keeps which nodes a member asks for.
func (k *checks) enters(u *user, path string) {
	u.stay.nodes = append(u.stay.nodes, path)
	k.makers[path] = u
}

// gathered looks at a barrier after every transaction: whoever stands in it while
// the quantity does may go in.
func (k *checks) gathered() {
	home := roleOf("doublebarrier").home
	if !slices.Contains(k.w.Homes, home) {
		return
	}
	names := slices.DeleteFunc(k.w.ens.Children(home), func(name string) bool { return name == machines.ReadyNode })
	for _, name := range names {
		if len(names) >= k.w.quantity() {
			k.enough[home+"/"+name] = true
		}
	}
}

// entered: a member is let in that stood among enough, in a node of this round.
func (k *checks) entered(u *user) {
	s := &u.stay
	if s.life != k.w.ens.Life() || s.robbed || slices.ContainsFunc(s.nodes, func(path string) bool { return k.enough[path] }) {
		return
	}
	k.fail("nobody is let in before enough are there", "%s is inside, and %q never stood among %d", u.name(), s.nodes, k.w.quantity())
}

// left: nobody is out before all others are who were inside when it asked.
func (k *checks) left(u *user) {
	for _, o := range k.w.users("doublebarrier") {
		s := &o.stay
		if o == u || !s.inside || s.leave != 0 || s.cancelled || o.closing || s.since > u.stay.leaves || s.life != k.w.ens.Life() || u.stay.life != k.w.ens.Life() {
			continue
		}
		for _, path := range s.nodes {
			if k.w.ens.Truth().Exists(path) {
				k.fail("nobody is out before all others", "%s has left, and %s is inside with %s", u.name(), o.name(), path)
			}
		}
	}
}

// removed: nobody deletes another's node. A deletion may come late, from an earlier
// session of the same process.
func (k *checks) removed(path string, p *world.Proposal) {
	u := k.makers[path]
	switch {
	case u == nil || p.Txn.Code == zkmem.OpCloseSession:
	case p.Operator:
		u.stay.robbed = true
	case k.w.of(p.Txn.Session) != u.c:
		k.fail("a node is deleted by its own process", "session %x deleted %s of %s", p.Txn.Session, path, u.name())
	}
}

var plantedDoubleBarriers = []Plant{
	{Name: "doublebarrier: a stale ready lets through", Shape: in("/app/double"), Mutations: inOne("doublebarrier", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{"noteReady": func(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			if ev.Stat != nil {
				stat := *ev.Stat
				stat.Czxid = 1 << 62
				ev.Stat = &stat
			}
			do(ev)
		}}}
	})},
	{Name: "doublebarrier: one too few is enough", Shape: in("/app/double"), Mutations: inOne("doublebarrier", func() mutate.Mutation {
		return instead("enough", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
			ev.Children = append(slices.Clone(ev.Children), "another")
			return holds(ev)
		})
	})},
	{Name: "doublebarrier: the ready node is made without a look at the members", Shape: func(p *Plan) {
		in("/app/double")(p)
		p.often(30, "operator deletes a place")
		p.often(10, "lag")
	}, Stepped: of("doublebarrier", func(e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi {
			m.Ops = slices.DeleteFunc(slices.Clone(m.Ops), func(op events.Op) bool { return op.Verb == "check" })
			return m
		}
		return e
	})},
	{Name: "doublebarrier: who leaves lists, and asks nothing before", Shape: func(p *Plan) { in("/app/double")(p); p.often(6, "lag") }, Stepped: of("doublebarrier", func(e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi && len(m.Ops) == 1 && m.Ops[0].Path == roleOf("doublebarrier").home {
			return nil
		}
		return e
	})},
	{Name: "doublebarrier: it leaves without waiting", Shape: in("/app/double"), Mutations: inOne("doublebarrier", func() mutate.Mutation { return instead("alone", always) })},
	{Name: "doublebarrier: an enter that is given up leaves its node", Shape: in("/app/double"), Mutations: inOne("doublebarrier", func() mutate.Mutation {
		return instead("mayHaveNode", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
			return ev.Kind != events.CommandCancel && holds(ev)
		})
	})},
	{Name: "doublebarrier: who goes is no reason to look again", Shape: in("/app/double"), Mutations: inOne("doublebarrier", func() mutate.Mutation {
		return instead("isAwaited", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
			return ev.Kind != events.WatchDeleted && holds(ev)
		})
	})},
}
