package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// jobPath is the job, and electionDir has the leader's marker, its seal and the line
// for the right to write them.
const (
	jobPath     = "/app/job"
	electionDir = jobPath + "/leader/election"
)

// jobElectionRole is the role of the job election. Its programs do what those of the latch do,
// by a marker of a fixed name. The latch that a machine opens for itself is checked with it.
var jobElectionRole = &role{
	recipe:   "jobelection",
	separate: true,
	line:     lineTraits{fixedName: true},
	dirs: dirTraits{own: electionDir, sub: []string{electionDir, electionDir + "/latch"}, node: jobPath,
		stays: []string{"latch"}},
	program: jobElectionProgram{},
	states: stateTraits{
		final: []engine.State{"leading", "standby", "closed", ""},
		wakes: map[engine.State]waking{
			"looking": answered, "checking": answered, "marking": answered, "confirming": answered,
			"standby": needs(1), "queueing": needs(1), "leading": needs(1),
			"draining": working, "pausing": timed,
			"leaving": hasLatch,
		},
		faults: map[engine.State][]string{
			"looking": {"a lasting marker"},
			"leading": {"delete the seal", "a pause before an await"},
			"leaving": {"throttle"},
		},
	},
	plants: plantedJobs,
}

type jobElectionProgram struct{ latchProgram }

// act leaves out the health checks, which a job election does not have.
func (p jobElectionProgram) act(u *user, n int) {
	if n < 9 {
		p.latchProgram.act(u, n)
	}
}

func (jobElectionProgram) target(*user) string { return machines.JobMarker(jobPath) }

// deleteSeal deletes the node that tells one term from the next.
func (u *user) deleteSeal() bool {
	for _, name := range u.c.w.ens.Children(electionDir) {
		if strings.HasPrefix(name, "seal-") {
			u.c.w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: electionDir + "/" + name,
				Version: zkmem.AnyVersion})
		}
	}
	return true
}

// jobLatchWakes wake the latch that a candidate opens. No work runs under it.
var jobLatchWakes = with(lineWakes, map[engine.State]waking{"draining": nil})

// unsettled returns how many leaders the job has, if not one.
func (jobElectionProgram) unsettled(u *user) string {
	if u.c.w.has("token floor") {
		return ""
	}
	leaders, stand := 0, 0
	for _, o := range u.c.w.usersOf(u.role.recipe) {
		switch o.c.Engine().State(o.id) {
		case "leading":
			leaders++
			stand++
		case "standby":
			stand++
		}
	}
	if stand > 0 && leaders != 1 {
		return fmt.Sprintf("is in a job with %d leaders", leaders)
	}
	return ""
}

var plantedJobs = []Plant{
	{Name: "jobelection: any marker is its own", Shape: inDir(electionDir),
		Mutations: inOne("jobelection", func() mutate.Mutation { return withGuard("mayLeadByMarker", anyOwner) })},
	{Name: "jobelection: a term begins without a confirmation", Shape: inDir(electionDir),
		Mutations: inOne("jobelection", func() mutate.Mutation {
			return withGuard("mayLeadByMarker", ifBelieving(func(events.Event) bool { return true }))
		})},
	{Name: "jobelection: the marker's end is ignored", Shape: inDir(electionDir),
		Mutations: inOne("jobelection", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{"look": ignoring(events.WatchDeleted)}}
		})},
	{Name: "jobelection: closing, it leaves the marker", Shape: inDir(electionDir),
		Mutations: inOne("jobelection", func() mutate.Mutation {
			return mutate.Mutation{Guards: map[string]guarding{"mustClean": never, "hasMarkerOrLatch": never}}
		})},
	{Name: "jobelection: it leads on by another's marker", Shape: inDir(electionDir),
		Mutations: inOne("jobelection", func() mutate.Mutation {
			return mutate.Mutation{Guards: map[string]guarding{"unchanged": always}, Actions: map[string]acting{}}
		}), Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			return u == nil || u.role.recipe != "jobelection" || ev.Kind != events.WatchDeleted
		}},
	{Name: "jobelection: it deletes any marker", Shape: withDeletions,
		Stepped: effectsOf("jobelection", func(e events.Effect) events.Effect {
			if m, multi := e.(events.Multi); multi && m.Ops[len(m.Ops)-1].Verb == "delete" {
				m.Ops = []events.Op{{Verb: "delete", Path: machines.JobMarker(jobPath), Version: -1}}
				return m
			}
			return e
		})},
	{Name: "jobelection: the seals of others are left", Shape: withDeletions,
		Stepped: effectsOf("jobelection", func(e events.Effect) events.Effect {
			if m, multi := e.(events.Multi); multi && m.Ops[0].Path != machines.JobMarker(jobPath) {
				m.Ops = slices.DeleteFunc(slices.Clone(m.Ops), func(op events.Op) bool {
					return op.Verb == "delete" && op.Version == -1 && m.Ops[0].Verb == "check"
				})
				return m
			}
			return e
		})},
	{Name: "jobelection: writes are guarded by the marker alone", Shape: withDeletions,
		Committed: func(_ *client, g *guardedWrite, ops []events.Op) []events.Op {
			if g.u.role.line.fixedName {
				ops = slices.Delete(slices.Clone(ops), 1, 2)
			}
			return ops
		}},
	{Name: "jobelection: the heartbeat checks only the marker", Shape: func(p *Plan) {
		withDeletions(p)
		p.often(3, "ambush")
	}, Stepped: editEffects(func(_ *client, id events.ID, e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi && id == events.SessionMachine && len(m.Ops) > 1 {
			m.Ops = []events.Op{{Verb: "check", Path: m.Ops[0].Path, Version: -1}}
			return m
		}
		return e
	})},
	{Name: "jobelection: a marker that was given another seal is not read again", Shape: withDeletions,
		Mutations: inOne("jobelection", func() mutate.Mutation {
			return mutate.Mutation{Guards: map[string]guarding{
				"resealed": func(model any, ev events.Event, holds func(events.Event) bool) bool {
					if holds(ev) {
						*field[bool](model, "sealed") = true
					}
					return false
				}}}
		})},
}

// withDeletions shapes worlds of jobs in which operators delete nodes again and again.
func withDeletions(p *Plan) {
	inDir(electionDir)(p)
	p.often(6, "operator deletes a place", "cut")
}
