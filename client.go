package incumbent

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/belief"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/flightlog"
	"github.com/incumbent-go/incumbent/internal/handles"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/meters"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/zkio"
)

// Client owns one connection to an ensemble; all handles are made from it. All its methods
// are safe to call from any goroutine.
type Client struct {
	base    context.Context // what the work of selectors started without a context derives from
	config  *Config         // behind a pointer: fmt shows no secret of it, whatever handle is printed
	core    handles.Core
	handles handles.Registry[receiver]
	sources sources.Sources // of simulations and tests; zero in programs
	session *sessionHandle
	stop    func()        // ends the loop, and then the recorder
	ended   chan struct{} // closed when the loop has ended

	recorder *flightlog.Recorder // nil if nothing is written all the time
	ring     *flightlog.Ring     // nil unless the last records are kept in memory

	believed    atomic.Pointer[events.Deadline] // the last that was not "nothing"
	deadlines   belief.Watch[*heldTerm]
	certificate journal.Certificate
	pauses      clock.Pauses
	outages     journal.Outages
	observed    observed      // what Config.Observe gets
	meters      meters.Meters // what Stats reports

	callsDropped atomic.Uint64 // of listeners and hooks

	passedOver journal.PassedOver // what was logged of children that lines pass over; used by the loop
	workGrace  atomic.Int64       // CloseOptions.WorkGrace, nanoseconds; 0: none
	ending     chan struct{}      // full while a Close ends the session
}

// receiver is a handle as the client sees it: all that the loop, zkio and Close ask of any kind of handle. What only
// some kinds have, bareHandle answers for the others. What the loop calls, on its goroutine, must not block.
type receiver interface {
	notice(events.Notify)
	answer(events.Answer)
	entered(events.Entered)
	// listed takes a reply that shows what is in the queue.
	listed(*events.Event)

	// payload returns what the user gave, by its number. Creates is whether it is for a create that is not in a multi.
	payload(n uint64, creates bool) []byte
	// accessLists returns the access lists of nodes that a request creates, if the user gave some.
	accessLists(events.Request) [][]zkio.ACL
	// keep takes data of a reply that are for the user. zkio calls it, before the machine gets the reply.
	keep(request uint64, kept zkio.Kept)

	// Phase returns the machine's state, "" if no user has a handle of it.
	Phase() string
	Close(context.Context) error
	// seal prevents new work.
	seal()
	// needsSession reports whether the end of the session would take something from the user now: a term, a hold,
	// permits, a place inside a double barrier, or work that has not returned.
	needsSession() bool
	// leftUndone returns an error that names what goes on after Close and is not deleted with the session.
	leftUndone() error
	// asParticipant returns the participant in a line, and asDeletion the guaranteed deletion: nil if it is none.
	asParticipant() *participant
	asDeletion() *Deletion
}

// bareHandle is the part of every handle that answers for what its kind has not. A machine that has a user's data sent,
// or read for the user, has a handle that gives or takes them: it would be a mistake to go on without.
type bareHandle struct{}

func (bareHandle) payload(uint64, bool) []byte             { panic("incumbent: a handle has no data to send") }
func (bareHandle) keep(uint64, zkio.Kept)                  { panic("incumbent: a handle takes no data") }
func (bareHandle) accessLists(events.Request) [][]zkio.ACL { return nil }
func (bareHandle) listed(*events.Event)                    {}
func (bareHandle) seal()                                   {}
func (bareHandle) needsSession() bool                      { return false }
func (bareHandle) leftUndone() error                       { return nil }
func (bareHandle) asParticipant() *participant             { return nil }
func (bareHandle) asDeletion() *Deletion                   { return nil }

// String returns the name of the ensemble.
func (c *Client) String() string {
	c.opened()
	return "incumbent.Client(" + c.config.Servers + ")"
}

// Format prints the same as String for every verb: the fields change, and hold credentials.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// executor hands the loop's effects to handles and to zkio.
type executor struct{ *Client }

// Execute is called on the loop's goroutine.
func (c executor) Execute(id events.ID, effect events.Effect) {
	switch e := effect.(type) {
	case events.Deadline:
		if e.Until != 0 || e.Alone != 0 {
			c.believed.Store(&e)
		}
		before := c.core.Belief.Present()
		if c.core.Belief.Publish(e, c.core.Clock.Now()) {
			c.core.Loop.PostFirst(events.Envelope{To: events.SessionMachine, Event: c.lapseEvent(e.Session)})
		}
		c.core.Invariants.Published(before)
	case events.Notify:
		c.observed.delivering()
		if !c.receive(id, func(r receiver) { r.notice(e) }) {
			c.logOpened(e)
		}
	case events.Answer:
		c.answer(id, e)
	case events.Entered:
		if !c.receive(id, func(r receiver) { r.entered(e) }) && e.Class == events.ClassClosed {
			c.core.IO.Forget(id) // a machine that another opened: it has no handle that forgets it
		}
	case events.Create:
		if e.Payload != 0 {
			e.Data = c.payload(id, e.Payload, true)
			effect = e
		}
		c.sendCreating(id, effect.(events.Request))
	case events.Multi:
		if slices.ContainsFunc(e.Ops, hasPayload) {
			e.Ops = slices.Clone(e.Ops)
			for i, op := range e.Ops {
				if op.Payload != 0 {
					e.Ops[i].Data = c.payload(id, op.Payload, false)
				}
			}
			effect = e
		}
		c.sendCreating(id, effect.(events.Request))
	default:
		c.core.IO.Execute(id, effect)
	}
}

func hasPayload(op events.Op) bool { return op.Payload != 0 }

// sendCreating sends a request that may create nodes.
func (c executor) sendCreating(id events.ID, r events.Request) {
	c.core.IO.ExecuteWith(id, r, c.accessLists(id, r))
}

// payload returns what a user gave to a handle: machines know only its number.
func (c *Client) payload(id events.ID, n uint64, creates bool) (data []byte) {
	c.receive(id, func(r receiver) { data = r.payload(n, creates) })
	return data
}

// accessLists returns the access lists of nodes that a request creates, if its handle has them.
func (c *Client) accessLists(id events.ID, r events.Request) (lists [][]zkio.ACL) {
	c.receive(id, func(h receiver) { lists = h.accessLists(r) })
	return lists
}

// receive calls f with the machine's handle. It returns false if the machine has none.
func (c *Client) receive(id events.ID, f func(receiver)) bool {
	r, has := c.handles.Of(id)
	if has {
		f(r)
	}
	return has
}

// keep gives data of a reply to the handle that sent the request, for the user: no machine and no log has them.
func (c *Client) keep(id events.ID, request uint64, kept zkio.Kept) {
	c.receive(id, func(r receiver) { r.keep(request, kept) })
}

// register opens a machine of a recipe and gives it a name.
func (c *Client) register(recipe engine.Recipe, r func(events.ID) receiver, open events.Event) (events.ID, error) {
	c.opened()
	c.core.Loop.Learn(recipe)
	open.Kind, open.Recipe = events.CommandOpen, recipe.Name()
	id, opened := c.handles.Open(open.Recipe, r, func(id events.ID) {
		open.Seed = c.newSeed()
		c.core.Post(id, open)
	})
	if !opened {
		return "", calls.AsError(open.Recipe, open.Path, errClientClosed)
	}
	return id, nil
}

// opened panics if Open did not return the Client. A handle that no client made has such a
// Client: nil.
func (c *Client) opened() { c.asCore().Opened() }

// check calls opened, and panics if the context is nil.
func (c *Client) check(ctx context.Context) { c.asCore().Check(ctx) }

// asCore returns the client's core; nil for a nil Client.
func (c *Client) asCore() *handles.Core {
	if c == nil {
		return nil
	}
	return &c.core
}

func (c *Client) newSeed() string {
	if c.sources.Seed != nil {
		return c.sources.Seed()
	}
	return newSeed()
}

// onIOEvent takes an event of zkio and posts it to the loop.
func (c *Client) onIOEvent(env events.Envelope) {
	if env.Event.Kind == events.ConnectionAttached {
		c.core.Attach(env.Event)
	}
	c.core.Loop.Post(env)
}

// SessionTimeout returns the timeout that the ensemble granted, 0 before the first
// connection. It may differ from Config.SessionTimeout. If servers grant different ones, it is
// the last, and belief and all waits count with the shortest of the session.
func (c *Client) SessionTimeout() time.Duration {
	return c.core.Attached().Granted
}

// SessionID returns ZooKeeper's id of the session, 0 before the first connection: the Owner of
// the client's own places in a line. The ensemble's log and incumbent status show it in
// hexadecimal. A client that lost its session keeps the old id until it has another.
func (c *Client) SessionID() int64 {
	return c.core.Attached().ID
}

// warnOfGrant logs that the first server grants a shorter session timeout than Config asks for. A line of its own says
// so if it is too short to lead.
func (c *Client) warnOfGrant(granted time.Duration) {
	asked, belief := c.config.SessionTimeout, c.core.Budget()
	if granted >= asked.Truncate(time.Millisecond) || belief <= 0 {
		return
	}
	c.core.Log.Log(zerolog.WarnLevel, fmt.Sprintf("the server grants a session timeout of %s, not the %s that are "+
		"asked for: a leader believes for %s after a heartbeat at first. Raise maxSessionTimeout on the servers, or "+
		"ask for less; incumbent doctor shows what follows", granted, asked, belief), nil)
}

// serverAskedAfter is how long after its first connection a client asks what the server is. One that is open for less
// does not ask.
const serverAskedAfter = 2 * time.Second

// askServer asks a server for its release and role, by the word srvr, which servers answer unless that was taken off
// their whitelist. A release that is not supported is warned of. Nothing waits for the answer.
func (c *Client) askServer(server string) {
	if c.core.IsClosed() || !c.sources.AskServer {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-c.core.Closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	is, err := c.core.IO.AskServer(ctx, server)
	if err != nil || c.core.IsClosed() {
		return
	}
	c.core.Log.Log(zerolog.DebugLevel, "server", func(e *zerolog.Event) {
		e.Str("server", fault.Path(server)).Str("release", is.Release.String()).Str("mode", is.Mode)
	})
	if is.Release.Before(zkio.OldestRelease) {
		c.core.Log.Log(zerolog.WarnLevel, fmt.Sprintf("the server is ZooKeeper %s: releases before %s are supported "+
			"only as far as they were tried; incumbent doctor shows what follows", is.Release, zkio.OldestRelease), nil)
	}
}

// logOpened logs the notices of machines that others have opened, which have no handle: that a node of an attempt that
// was given up is deleted, and what a line passes over.
func (c *Client) logOpened(n events.Notify) {
	switch n.What {
	case events.Warning:
		c.core.Log.Log(zerolog.WarnLevel, n.Text, func(e *zerolog.Event) { e.Str("path", fault.Path(n.Path)) })
	case events.PassedOver:
		c.passedOver.Log(c.core.Log, n)
	}
}
