package incumbent

import (
	"slices"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// endSession ends the client's session if nothing else helps: the ensemble refuses to delete the node of
// a participant that leaves its place, or the session was once granted a timeout that is too short to lead.
// All behind it would wait forever.
// It does nothing while the session is needed: the machine tries again, and each refusal
// calls endSession. On the loop's goroutine.
func (c *Client) endSession(path string, refused events.Notify) {
	c.mu.Lock()
	needed := c.closing
	var others []sessionUser
	for _, r := range c.handles {
		if u, ok := r.(sessionUser); ok {
			others = append(others, u)
		}
	}
	c.mu.Unlock()
	if needed || slices.ContainsFunc(others, sessionUser.needsSession) {
		return
	}
	if refused.What == events.ShortGrant {
		c.log.Log(zerolog.WarnLevel,
			"the session is ended: its timeout is too short to lead, and a new one's would not be",
			func(e *zerolog.Event) { addCause(e, refused) })
	} else {
		c.log.Log(zerolog.WarnLevel, "the session is ended: only that deletes a node that holds up its line",
			func(e *zerolog.Event) { addCause(e.Str("path", fault.Path(path)), refused) })
	}
	c.loop.PostFirst(events.Envelope{To: events.SessionMachine, Event: events.Event{Kind: events.CommandEndSession, Session: refused.Session, Code: refused.Code, Text: refused.Text}})
}

// sessionUser is a handle that may need the present session.
type sessionUser interface {
	// needsSession reports whether the end of the session would take something from the
	// user now: a term, a hold, permits, a place inside a double barrier, or work that has
	// not returned.
	needsSession() bool
}
