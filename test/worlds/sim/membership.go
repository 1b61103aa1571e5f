package sim

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// membershipRole is the role of the membership. Its programs are told who is in a group. Each
// list was true at some moment, in the order of the history. In a healed world the last one is
// true now.
var membershipRole = &role{
	recipe:  "membership",
	dirs:    dirTraits{own: persistentDir},
	program: membershipProgram{},
	states: stateTraits{wakes: map[engine.State]waking{
		"listing": answered, "watching": needs(1), "absent": needs(1), "pausing": timed,
	}},
	plants: plantedMemberships,
}

type membershipProgram struct{ handleProgram }

func (membershipProgram) noticed(u *user, n events.Notify) {
	if n.What == events.Members {
		u.c.w.checks.membersTold(u, n.Names)
	}
}

func (membershipProgram) unsettled(u *user) string {
	if now := list(u.c.w.ens.Children(persistentDir)); !u.closing && !u.c.leaving &&
		(!u.group.told || u.group.names != now) {
		return "was told of other members than there are"
	}
	return ""
}

// group is what the program of a membership was told last.
type group struct {
	told       bool
	names      string
	index      int   // the index of that state in the history
	session    int64 // the session of the process then
	generation int   // the ensemble's generation then
}

// list returns a state of a group as text, for comparing.
func list(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), " ") }

// groupCommitted notes who is in the group now.
func (k *checks) groupCommitted() {
	if !slices.Contains(k.w.OwnDirs, persistentDir) {
		return
	}
	if now := list(k.w.ens.Children(persistentDir)); now != k.groups[len(k.groups)-1] {
		k.groups = append(k.groups, now)
	}
}

// membersTold checks that a list was true, and not before the last one. A new session
// may be told by a server that lags further behind.
func (k *checks) membersTold(u *user, names []string) {
	g, was := list(names), 0
	if u.group.session == u.c.SessionID() && u.group.generation == k.w.ens.Generation() {
		was = u.group.index
	}
	i := slices.Index(k.groups[was:], g)
	if i < 0 {
		k.fail("each list of members was true",
			"%s was told of %q, which were never together since what it was told before", u.name(), names)
		return
	}
	u.group = group{true, g, was + i, u.c.SessionID(), k.w.ens.Generation()}
}

var plantedMemberships = []Plant{
	{Name: "membership: a change is not looked at", Shape: inDir(persistentDir),
		Mutations: inOne("membership", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{"read": ignoring(events.WatchChildren)}}
		})},
	{Name: "membership: the directory is listed without a watch", Shape: inDir(persistentDir),
		Stepped: effectsOf("membership", func(e events.Effect) events.Effect {
			if c, children := e.(events.Children); children {
				c.Watch = false
				return c
			}
			return e
		})},
	{Name: "membership: members never leave", Shape: inDir(persistentDir),
		Mutations: inOne("membership", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"tell": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					for _, name := range *field[[]string](model, "names") {
						if !slices.Contains(ev.Children, name) {
							ev.Children = append(slices.Clone(ev.Children), name)
						}
					}
					do(ev)
				}}}
		})},
	{Name: "membership: what was told once is not told again", Shape: inDir(persistentDir),
		Mutations: inOne("membership", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"tell": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					if len(ev.Children) != 2 || len(*field[[]string](model, "names")) == 0 {
						do(ev)
					}
				}}}
		})},
}
