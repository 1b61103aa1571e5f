package sim

import (
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedNodes mistake what is known of the own node: by which request, under which token, and
// whether it is the only one.
var plantedNodes = []Plant{
	{Name: "other nodes with the own GUID are left", Stepped: createTwice, Mutations: inLines(func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"adopt": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				lowest := ""
				line, _ := machines.Line(ev.Children, *field[string](model, "label"))
				for _, p := range line {
					if p.GUID == *field[string](model, "guid") && lowest == "" {
						lowest = p.Name
					}
				}
				ev.Children = []string{lowest}
				do(ev)
				*field[bool](model, "purged") = true
			}}}
	})},
	{Name: "a token below the floor is accepted", Shape: func(p *Plan) { p.often(1, "token floor") },
		Mutations: inLines(func() mutate.Mutation {
			return withGuard("unacceptable", withoutFloor)
		})},
	{Name: "a create of the connection before confirms", Posted: holdCreate, Stepped: answerHeld,
		Mutations: inOne("session", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"attach": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					do(ev)
					*field[int64](model, "attachedAt") = 0
				}}}
		})},
	{Name: "a waiting place watches the first in line", Mutations: inLines(func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"queueUp": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				before, _ := ahead(model, ev.Children)
				ev.Children = []string{before[0].Name, ownName(model)}
				do(ev)
				*field[bool](model, "nextInLine") = false
			}}}
	})},
}

// createTwice sends every create of a latch's or selector's node a second time, as a client does that does not
// look whether a lost request was carried out.
func createTwice(c *client, out []engine.Addressed) (all []engine.Addressed) {
	for _, a := range out {
		all = append(all, a)
		e, ok := a.Effect.(events.Create)
		if u := c.user(a.From); ok && u != nil && (u.role.recipe == "latch" || u.role.recipe == "selector") {
			e.Request += 1 << 32 // a request that nobody awaits
			all = append(all, engine.Addressed{From: a.From, Effect: e})
		}
	}
	return all
}

// holdCreate keeps the reply to a create that was carried out, if the connection ended before it came.
func holdCreate(c *client, id events.ID, ev *events.Event) bool {
	if ev.Kind != events.ReplyCreate || ev.Code != events.ConnectionLoss || c.user(id) == nil {
		return true
	}
	dir, name := split(ev.Path)
	for _, made := range c.w.ens.Children(dir) {
		if _, stat, err := c.w.ens.Committed().Get(dir + "/" + made); err == nil &&
			strings.HasPrefix(made, name) && name != "" {
			reply := *ev
			reply.Code, reply.Text, reply.Path, reply.Zxid = events.OK, "", dir+"/"+made, stat.Czxid
			if c.oldReply == nil {
				c.oldReply = map[events.ID]events.Event{}
			}
			c.oldReply[id] = reply
			return false
		}
	}
	return true
}

// answerHeld sends the replies that were kept, on the next connection.
func answerHeld(c *client, out []engine.Addressed) []engine.Addressed {
	for _, a := range out {
		if n, ok := a.Effect.(events.Notify); ok && n.What == events.Reconnected {
			for _, u := range c.users {
				if reply, held := c.oldReply[u.id]; held {
					delete(c.oldReply, u.id)
					c.Post(u.id, reply)
				}
			}
		}
	}
	return out
}
