package sim

import (
	"math/rand/v2"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// heartbeats is what a process's loop knows of its heartbeats.
type heartbeats struct {
	pending    map[uint64]bool // requests of the session machine
	attachedAt int64           // when the connection began, by the executor
	timeout    int64           // the longest that was granted
}

// posting notes when a connection begins.
func (h *heartbeats) posting(now int64, ev events.Event) {
	if ev.Kind == events.ConnectionAttached {
		h.attachedAt, h.timeout = now, max(h.timeout, ev.Timeout)
	}
}

// fed notes the session machine's replies.
func (h *heartbeats) fed(env events.Envelope) {
	switch env.Event.Kind {
	case events.ConnectionAttached, events.ConnectionSuspended:
		h.pending = map[uint64]bool{}
	case events.ReplyMulti, events.ReplySync, events.ReplyStat:
		if env.To == events.SessionMachine {
			delete(h.pending, env.Event.Request)
		}
	}
}

// nextHeartbeat checks that a confirmation is asked for at least once a period, which is a quarter of the
// timeout or less: by a heartbeat, or by a write, from its sending on. While a heartbeat is pending, no other
// is sent.
func (k *checks) nextHeartbeat(c *client, out []engine.Addressed) {
	for _, a := range out {
		if r, request := a.Effect.(events.Request); request && a.From == events.SessionMachine {
			c.heartbeats.pending[r.Header().Request] = true
		}
	}
	if len(c.heartbeats.pending) > 0 {
		return
	}
	last := max(c.confirmed, c.heartbeats.attachedAt)
	for _, a := range out {
		t, timer := a.Effect.(events.SetTimer)
		if !timer || a.From != events.SessionMachine || t.Name != "heartbeat" || t.After == 0 {
			continue
		}
		if t.After <= max(time.Duration(c.heartbeats.timeout)/16, 25*time.Millisecond) { // the last one was refused
			continue
		}
		if due := c.Clock() + int64(t.After); due > last+c.heartbeats.timeout/4 {
			k.fail("a confirmation is asked for in every period",
				"client %d sends its next heartbeat %s after the last request that confirmed, with a timeout of %s",
				c.ID(), time.Duration(due-last), time.Duration(c.heartbeats.timeout))
		}
	}
}

// leadersWrite is what happens in worlds of writing: all leaders write, again and again, and connections end.
const leadersWrite = "leaders write"

// writingFault is that as a fault.
var writingFault = fault{leadersWrite, 0, (*harness).writeAll, 0}

func (w *harness) writeAll(*rand.Rand) bool {
	written := false
	for _, c := range w.clients {
		for _, u := range c.users {
			written = !c.Dead() && u.role != observerRole && u.write() || written
		}
	}
	return written
}

// shapeWriting makes worlds in which leaders write several times in each period.
func shapeWriting(p *Plan) {
	p.Faults = append(p.Faults, Rate{leadersWrite, p.Timeout / 16})
	p.often(10, "access taken away", "operator deletes a place")
}

// shapeCuts makes such worlds in which connections end.
func shapeCuts(p *Plan) {
	shapeWriting(p)
	p.often(20, "cut")
}

// plantedHeartbeats are about writes that take a heartbeat's place.
var plantedHeartbeats = []Plant{
	{Name: "the next heartbeat is due a period after a write's answer, not its sending",
		Mutations: inOne("session", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"extendBelief": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
					before := *field[int64](model, "written")
					do(ev)
					if written := field[int64](model, "written"); *written != before {
						*written = ev.At
					}
				}}}
		})},
	{Name: "a write that failed confirms", Wrote: func(c *client, a *world.Packet) {
		if a.Code != events.OK && a.SentAt != 0 {
			c.Post(events.SessionMachine,
				events.Event{Kind: events.ConnectionConfirmed, Session: a.Request.Header().Session, SentAt: a.SentAt})
		}
	}},
	{Name: "a write of an older session confirms", Shape: shapeCuts, Posted: confirmsLate},
	{Name: "the check of an own node is put off by writes", Shape: shapeWriting,
		Mutations: inOne("session", func() mutate.Mutation {
			return withGuard("confirmedByWrite", func(model any, ev events.Event, holds func(events.Event) bool) bool {
				*field[int64](model, "checkedAt") = ev.At
				return holds(ev)
			})
		})},
}

// confirmsLate has the writes' confirmations come after others that were posted later, without their
// session's number.
func confirmsLate(c *client, id events.ID, ev *events.Event) bool {
	if ev.Kind != events.ConnectionConfirmed || ev.Session == 0 {
		return true
	}
	late := *ev
	late.Session = 0
	c.RunAfter(c.w.Timeout/4, func() { c.Post(id, late) })
	return false
}
