package play

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
)

// Bug is a bug that a script plants by name, between the machines and the ensemble. The promise is the one that it
// breaks.
type Bug struct {
	Name    string `json:"name"`
	Text    string `json:"text"`
	Promise string `json:"promise"`

	posting func(*run, *world.Client, events.ID, *events.Event)
	sent    func(*world.Packet)
}

var bugs = []Bug{
	{Name: "reads-confirm", Text: "A read counts as a confirmation: heartbeats ask the client's server, and not " +
		"the ensemble", Promise: withNode, sent: readInstead},
	{Name: "late-deadline", Text: "Belief counts from when the answer came, and not from when the request left",
		Promise: halfTimeout, posting: countFromReply},
	{Name: "create-refused", Text: "A create whose answer was lost counts as refused, and is sent again",
		Promise: onePlace, posting: refuseLost},
	{Name: "all-first", Text: "Everybody is first: the places of others are not seen", Promise: oneLeader,
		posting: hideOthers},
}

// bugNamed returns a bug, nil for none.
func bugNamed(name string) *Bug {
	i := slices.IndexFunc(bugs, func(b Bug) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &bugs[i]
}

// readInstead sends a read in the place of a heartbeat.
func readInstead(a *world.Packet) {
	if a.ID == events.SessionMachine {
		a.Feigned = events.Exists{Path: "/"}
	}
}

func countFromReply(_ *run, c *world.Client, _ events.ID, ev *events.Event) {
	if ev.SentAt != 0 {
		ev.SentAt = c.Clock()
	}
}

func refuseLost(_ *run, _ *world.Client, _ events.ID, ev *events.Event) {
	if ev.Kind == events.ReplyCreate && ev.Code.Unknown() {
		ev.Code = events.NotSent
	}
}

// hideOthers takes the places of other sessions out of a listing that has one of the client's own.
func hideOthers(r *run, c *world.Client, id events.ID, ev *events.Event) {
	if ev.Kind != events.ReplyChildren || ev.Code != events.OK || id != c.Main() {
		return
	}
	others := func(name string) bool {
		_, stat, err := r.w.Ensemble().Committed().Get(ev.Path + "/" + name)
		return err != nil || stat.EphemeralOwner != c.SessionID()
	}
	if own := slices.DeleteFunc(slices.Clone(ev.Children), others); len(own) > 0 {
		ev.Children = own
	}
}
