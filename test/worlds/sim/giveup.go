package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// deletionRefused does what the library does if a participant may not delete its node: it ends
// the session, which deletes the node, unless something depends on the session. If the handle
// goes on, it waits for a session timeout first.
func (u *user) deletionRefused(code events.Code) {
	now := u.c.Clock()
	if u.refusedAt == 0 {
		u.refusedAt = now
	}
	goesOn := !code.Refusal() || !u.closing && !u.role.program.callMachines()
	if goesOn && now-u.refusedAt < int64(u.c.w.Timeout) || u.c.needsSession() {
		return
	}
	u.c.Post(events.SessionMachine, events.Event{Kind: events.CommandEndSession})
}

// needsSession reports whether a handle leads, or has work that has not returned.
func (c *client) needsSession() bool {
	return slices.ContainsFunc(c.users, func(u *user) bool { return u.leads || len(u.works) > 0 })
}

// giveUpSession has a client end its session and begin the next. It does so to get rid
// of a node that it may not delete. A real client does it only if nothing depends on the
// session. Here it may come at any moment, because a term may begin just after a real
// client has looked.
func (w *harness) giveUpSession(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil || c.leaving {
		return false
	}
	c.Run(func() { c.Post(events.SessionMachine, events.Event{Kind: events.CommandEndSession}) })
	return true
}
