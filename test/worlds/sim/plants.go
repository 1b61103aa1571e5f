package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// Plant is a bug that is put in on purpose, between the executor and the engine. Each
// hook may be nil.
type Plant struct {
	Name string
	Seed int64 // a world that finds it
	// Configured changes what the clients' configuration says of the ensemble.
	Configured func(*world.Layout)
	// Shape makes worlds in which the bug matters. Without it most worlds do.
	Shape func(*Plan)
	// Posted sees an event on its way into the inbox; false drops it.
	Posted func(*client, events.ID, *events.Event) bool
	// Fed sees an event as the engine gets it.
	Fed func(*client, *events.Envelope)
	// Stepped sees a step's effects, and returns those to perform.
	Stepped func(*client, []engine.Addressed) []engine.Addressed
	// Sent sees a request that leaves.
	Sent func(*client, *world.Packet)
	// Committed sees the operations of a guarded write, and returns those to send.
	Committed func(*client, *guardedWrite, []events.Op) []events.Op
	// Wrote sees the outcome of a guarded write.
	Wrote func(*client, *world.Packet)
	// Mutations are what is wrong with the charts, by recipe. They are made for each client
	// again, so that they may have state.
	Mutations func() map[string]mutate.Mutation
	// RepeatsWrites sends a guarded write again if its answer was lost.
	RepeatsWrites bool
	// IgnoresPauses computes AloneUntil as if the process had never been paused.
	IgnoresPauses bool
	// WallClock makes the process's clock follow the wall clock wherever it is set.
	WallClock bool
	// QueuesRequests keeps requests for the next connection, whichever session it has.
	QueuesRequests bool
	// CountsUnanswered counts a frame that was sent as a contact, answered or not.
	CountsUnanswered bool
	// ProbeIgnoresZxid has a probe learn only that the session lives, not the ensemble's
	// zxid.
	ProbeIgnoresZxid bool
	// RevivesDeadline moves a deadline that was seen to pass.
	RevivesDeadline bool
	// LapseWaits posts a lapse of belief behind what waits in the loop.
	LapseWaits bool
	// ClockStops stops the process's clock while it is paused.
	ClockStops bool
	// SeesCounters has the session compare zxids by their lower halves.
	SeesCounters bool
	// DialsOneServer has the session dial the server again that it lost.
	DialsOneServer bool
}

func (w *harness) planted(has func(*Plant) bool) bool { return w.plant != nil && has(w.plant) }

// editEffects returns a Stepped that changes or drops one effect.
func editEffects(change func(*client, events.ID,
	events.Effect) events.Effect) func(*client, []engine.Addressed) []engine.Addressed {
	return func(c *client, out []engine.Addressed) []engine.Addressed {
		var kept []engine.Addressed
		for _, a := range out {
			if a.Effect = change(c, a.From, a.Effect); a.Effect != nil {
				kept = append(kept, a)
			}
		}
		return kept
	}
}

// isOwn reports whether a path is a node of this machine, by the name in it.
func (c *client) isOwn(id events.ID, path string) bool {
	u := c.user(id)
	if u == nil {
		return false
	}
	data, _, err := c.w.ens.Committed().Get(path)
	return err == nil && string(data) == u.name() || c.created[path] == id
}

// noteCreated notes the nodes that a machine created.
func (c *client) noteCreated(id events.ID, ev events.Event) {
	u := c.user(id)
	if u == nil || !u.queues() || ev.Kind != events.ReplyCreate || ev.Code != events.OK {
		return
	}
	if _, fits := machines.ParsePlace(base(ev.Path), u.role.labels()...); fits {
		c.created[ev.Path] = id
		u.made = append(u.made, ev.Path)
	}
}

// heartbeatCall reports whether a request is a heartbeat.
func heartbeatCall(id events.ID, e events.Effect) (events.Call, bool) {
	if id != events.SessionMachine {
		return events.Call{}, false
	}
	r, ok := e.(events.Request)
	if !ok {
		return events.Call{}, false
	}
	return r.Header(), true
}

func base(path string) string {
	_, name := split(path)
	return name
}
