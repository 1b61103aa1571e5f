package handles

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/belief"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/zkio"
)

// Core is a client as its handles see it.
type Core struct {
	Timeouts
	Log        *journal.Logger
	Loop       *engine.Loop
	IO         *zkio.Adapter
	Clock      engine.Clock
	Belief     belief.Deadline // the loop publishes it: until when leadership may be believed, and in which session
	Invariants *belief.Checks  // nil: they are not checked
	Commands   calls.Client
	Closed     chan struct{} // nil: no client was opened
	Places     Places

	Absence func() error       // why there is no connection at this moment; nil if there is one
	Closing func() bool        // whether Close was called
	Remove  func(id events.ID) // the handle of a machine

	Refusal    func(code events.Code, text string) error // the error that users see; nil for success
	AddFailure func(line *zerolog.Event, err error)      // with its code; nothing for nil
	Troubled   func(h *Handle, err error)                // a handle's failure was noted
	Recovered  func(h *Handle, after time.Duration)      // a handle's failures have ended, after so long

	states map[events.Entered]*events.Entered // those of machines; used by the loop
}

// Opened panics if no client was opened. A handle that no client made has such a Core: nil.
func (c *Core) Opened() {
	if c == nil || c.Closed == nil {
		caller.Misuse("was called on a zero value or without a client: Open makes a Client, and the Client makes " +
			"handles")
	}
}

// Check calls Opened, and panics if the context is nil.
func (c *Core) Check(ctx context.Context) {
	c.Opened()
	caller.NeedContext(ctx)
}

// Post posts an event to a machine. It returns false if the loop has ended.
func (c *Core) Post(id events.ID, ev events.Event) bool {
	return c.Loop.Post(events.Envelope{To: id, Event: ev})
}

// Forget removes the handle of a machine that has closed.
func (c *Core) Forget(id events.ID) {
	c.Remove(id)
	c.IO.Forget(id)
}

// State returns a state of a machine, the same for all handles. On the loop's goroutine.
func (c *Core) State(now events.Entered) *events.Entered {
	state := c.states[now]
	if state == nil {
		kept := now // only here, so that a state that is known allocates nothing
		state = &kept
		if c.states == nil {
			c.states = map[events.Entered]*events.Entered{}
		}
		c.states[now] = state
	}
	return state
}

// Believes reports whether the deadline of this session is in the future.
func (c *Core) Believes(session int64) bool { return c.Belief.Holds(session, c.Clock.Now) }

// IsClosed reports whether the client has been closed.
func (c *Core) IsClosed() bool {
	select {
	case <-c.Closed:
		return true
	default:
		return false
	}
}

// ClosingTime returns how long a close waits for the deletion of a node once no work
// runs: a session timeout. The close of a client keeps half of that for the session itself.
func (c *Core) ClosingTime() time.Duration {
	if c.Closing() {
		return c.Timeout() / 2
	}
	return c.Timeout()
}

// Explain does what calls.Explain does.
func (c *Core) Explain(ctx context.Context, op, path string, err error, why func() error) error {
	return calls.Explain(ctx, op, path, err, why, c.Absence)
}

// Deliver passes an answer to the call that waits for it, or to all if there is no machine.
func (c *Core) Deliver(to *calls.Commands, a events.Answer) {
	if a.Code == events.NotOpened {
		to.Refuse(fault.Because("the machine refused to open: "+a.Text, fault.ErrClosed))
		return
	}
	to.Deliver(a.Command, calls.Reply{Err: c.Refusal(a.Code, a.Text)})
}

// NoReply is why a request that no machine sends has no result.
func (c *Core) NoReply() error { return cmp.Or(c.Absence(), errors.New("no reply has come")) }
