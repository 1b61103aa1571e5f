package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/mutate"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// job is what the job elections are about; office is where its marker, its seal
// and the line for the right to write it are.
const (
	job    = "/app/job"
	office = job + "/leader/election"
)

// The job election: as the latch, by a marker of a fixed name. The latch that it
// opens for itself is checked with it.
func init() {
	roles = append(roles, &role{
		recipe: "jobelection", home: office, path: job, rooms: []string{office, office + "/latch"}, apart: true, named: true, keeps: []string{"latch"},
		act: actLatch, told: worksWhenGranted,
		spot:      func(*user) string { return machines.JobMarker(job) },
		rests:     []engine.State{"leading", "standby", "closed", ""},
		unsettled: leaderless,
		wakes: map[engine.State]waking{
			"looking": answered, "checking": answered, "marking": answered, "confirming": answered,
			"standby": needs(1), "queueing": needs(1), "leading": needs(1),
			"draining": working, "pausing": timed,
			"leaving": latched,
		},
		sores: map[engine.State][]ambush{
			"looking": {{"a lasting marker", 1, func(u *user) bool { return u.c.w.lasting(machines.JobMarker(job), zkmem.Persistent) }}},
			"leading": {{"delete the seal", 1, (*user).unseal}, tooLate},
			"leaving": usual("throttle"),
		},
		plants: plantedJobs,
	})
}

// unseal deletes what tells one term from the next.
func (u *user) unseal() bool {
	for _, name := range u.c.w.ens.Children(office) {
		if strings.HasPrefix(name, "seal-") {
			u.c.w.meddle(zkmem.Op{Code: zkmem.OpDelete, Path: office + "/" + name, Version: zkmem.AnyVersion})
		}
	}
	return true
}

// innerWakes are those of the latch that a candidate opens: no work runs under it.
var innerWakes = with(lineWakes, map[engine.State]waking{"draining": nil})

// leaderless says that a job has no leader, or several.
func leaderless(u *user) string {
	if u.c.w.has("token floor") {
		return ""
	}
	leaders, stand := 0, 0
	for _, o := range u.c.w.users(u.role.recipe) {
		switch o.c.Engine().State(o.id) {
		case "leading":
			leaders++
			stand++
		case "standby":
			stand++
		}
	}
	if stand > 0 && leaders != 1 {
		return fmt.Sprintf("stands for a job with %d leaders", leaders)
	}
	return ""
}

var plantedJobs = []Plant{
	{Name: "jobelection: any marker is its own", Shape: in(office), Mutations: inOne("jobelection", func() mutate.Mutation { return instead("mayLeadByMarker", anyOwner) })},
	{Name: "jobelection: takes office without a confirmation", Shape: in(office), Mutations: inOne("jobelection", func() mutate.Mutation {
		return instead("mayLeadByMarker", believing(func(events.Event) bool { return true }))
	})},
	{Name: "jobelection: the marker's end is no reason to look", Shape: in(office), Mutations: inOne("jobelection", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{"look": deafTo(events.WatchDeleted)}}
	})},
	{Name: "jobelection: closing, it leaves the marker", Shape: in(office), Mutations: inOne("jobelection", func() mutate.Mutation {
		return mutate.Mutation{Guards: map[string]guarding{"mustClean": never, "hasMarkerOrLatch": never}}
	})},
	{Name: "jobelection: it leads on by another's marker", Shape: in(office), Mutations: inOne("jobelection", func() mutate.Mutation {
		return mutate.Mutation{Guards: map[string]guarding{"unchanged": always}, Actions: map[string]acting{}}
	}), Posted: func(c *client, id events.ID, ev *events.Event) bool {
		u := c.user(id)
		return u == nil || u.role.recipe != "jobelection" || ev.Kind != events.WatchDeleted
	}},
	{Name: "jobelection: the marker is deleted whosever it is", Shape: oftenDeleted, Stepped: of("jobelection", func(e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi && m.Ops[len(m.Ops)-1].Verb == "delete" {
			m.Ops = []events.Op{{Verb: "delete", Path: machines.JobMarker(job), Version: -1}}
			return m
		}
		return e
	})},
	{Name: "jobelection: the seals of others are left", Shape: oftenDeleted, Stepped: of("jobelection", func(e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi && m.Ops[0].Path != machines.JobMarker(job) {
			m.Ops = slices.DeleteFunc(slices.Clone(m.Ops), func(op events.Op) bool { return op.Verb == "delete" && op.Version == -1 && m.Ops[0].Verb == "check" })
			return m
		}
		return e
	})},
	{Name: "jobelection: writes are guarded by the marker alone", Shape: oftenDeleted, Committed: func(_ *client, g *guard, ops []events.Op) []events.Op {
		if g.u.role.named {
			ops = slices.Delete(slices.Clone(ops), 1, 2)
		}
		return ops
	}},
	{Name: "jobelection: the heartbeat asks for the marker alone", Shape: func(p *Plan) { oftenDeleted(p); p.often(3, "ambush") }, Stepped: edit(func(_ *client, id events.ID, e events.Effect) events.Effect {
		if m, multi := e.(events.Multi); multi && id == events.SessionMachine && len(m.Ops) > 1 {
			m.Ops = []events.Op{{Verb: "check", Path: m.Ops[0].Path, Version: -1}}
			return m
		}
		return e
	})},
	{Name: "jobelection: a marker that was given another seal is not read again", Shape: oftenDeleted, Mutations: inOne("jobelection", func() mutate.Mutation {
		return mutate.Mutation{Guards: map[string]guarding{"resealed": func(model any, ev events.Event, holds func(events.Event) bool) bool {
			if holds(ev) {
				*field[bool](model, "sealed") = true
			}
			return false
		}}}
	})},
}

// oftenDeleted are worlds of jobs whose operators delete nodes again and again.
func oftenDeleted(p *Plan) {
	in(office)(p)
	p.often(6, "operator deletes a place", "cut")
}
