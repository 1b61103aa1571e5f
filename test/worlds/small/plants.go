package small

import (
	"reflect"

	"github.com/incumbent-go/incumbent/events"
)

// Plant is a bug put in on purpose, between the world and the engine. Each hook
// may be nil. A hook may look at the client and must not change it.
type Plant struct {
	Name  string
	Alone bool // it shows with one participant; else with two
	// Fed sees an event as the engine gets it; false drops it.
	Fed func(*client, *events.Event) bool
	// Asked sees an effect, and returns the one to perform; nil drops it.
	Asked func(*client, events.Effect) events.Effect

	Reads   bool // a server answers the check of a node by itself
	Hurries bool // work is told to have returned as soon as its term ends
	Queues  bool // creates wait for the next connection, whichever session's

	Kinds []string // the faults among which it shows; nil: all
	// Used by LivenessPlants.
	Frozen string // the timer of this name is set, and comes no nearer
	Busy   bool   // an attempt to connect may fail, however many have failed
}

// Plants are the bugs that a search has to find.
var Plants = []Plant{
	{Name: "no watch on the own node", Asked: func(c *client, e events.Effect) events.Effect {
		if g, ok := e.(events.Get); ok && g.Path == c.own() {
			g.Watch = false
			return g
		}
		return e
	}},
	{Name: "no watch on the predecessor", Asked: func(c *client, e events.Effect) events.Effect {
		if g, ok := e.(events.Get); ok && g.Path != c.own() {
			g.Watch = false
			return g
		}
		return e
	}},
	{Name: "the predecessor's deletion is not passed on", Fed: func(c *client, ev *events.Event) bool {
		return ev.Kind != events.WatchDeleted || ev.Path == c.own()
	}},
	{Name: "a watch spent by a change of data is not set again", Fed: func(c *client, ev *events.Event) bool {
		return ev.Kind != events.WatchChanged
	}},
	{Name: "a missing predecessor is a reason to enrol again", Fed: func(c *client, ev *events.Event) bool {
		if ev.Kind == events.ReplyStat && ev.Code == events.NoNode {
			ev.Path = c.own()
		}
		return true
	}},
	{Name: "no look-up after a lost create", Fed: func(c *client, ev *events.Event) bool {
		if ev.Kind == events.ReplyCreate && ev.Code.Unknown() {
			ev.Code = events.NotSent
		}
		return true
	}},
	{Name: "the GUID is forgotten before the look behind an answer that says nothing", Kinds: Refusals[byCode:],
		Fed: func(c *client, ev *events.Event) bool {
			if ev.Kind == events.ReplyChildren && c.model().IsValid() && c.model().FieldByName("unknown").Bool() {
				ev.Children = nil
			}
			return true
		}},
	{Name: "nobody else in line is looked at", Fed: func(c *client, ev *events.Event) bool {
		if ev.Kind == events.ReplyChildren && len(ev.Children) > 1 {
			for _, name := range ev.Children {
				if dir+"/"+name == c.own() {
					ev.Children = []string{name}
				}
			}
		}
		return true
	}},
	{Name: "a read counts as a confirmation", Reads: true},
	{Name: "belief lasts half a timeout longer", Asked: lastingBelief},
	{Name: "the end of a session is not told", Alone: true, Fed: func(c *client, ev *events.Event) bool {
		return ev.Kind != events.ConnectionLost
	}},
	{Name: "the pause between two sessions never ends", Alone: true,
		Asked: func(c *client, e events.Effect) events.Effect {
			if t, ok := e.(events.SetTimer); ok && t.Name == "rest" {
				return nil
			}
			return e
		}},
	{Name: "work is not awaited", Hurries: true},
	{Name: "requests wait for another session", Queues: true},
}

// lastingBelief has belief last for half a timeout longer.
func lastingBelief(_ *client, e events.Effect) events.Effect {
	switch e := e.(type) {
	case events.Deadline:
		if e.Until != 0 {
			e.Until += int64(timeout / 2)
		}
		return e
	case events.SetTimer:
		if e.Name == "deadline" {
			e.After += timeout / 2
		}
		return e
	}
	return e
}

// own returns the path of the node that a client's machine takes for its own.
func (c *client) own() string {
	m := c.model()
	if !m.IsValid() {
		return ""
	}
	return m.FieldByName("ownPath").String()
}

// model returns what a client's latch knows; the zero value where there is no latch.
func (c *client) model() reflect.Value { return c.modelOf(latch) }

// modelOf returns what a machine knows; the zero value where there is none.
func (c *client) modelOf(id events.ID) reflect.Value {
	m := reflect.ValueOf(c.engine).Elem().FieldByName("machines").MapIndex(reflect.ValueOf(id))
	if !m.IsValid() {
		return reflect.Value{}
	}
	return m.Elem().FieldByName("Model").Elem().Elem()
}
