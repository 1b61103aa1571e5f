package world

import (
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What can be asked about a process.

// Unanswered returns the machines that have not answered a command, one entry for each
// command, in the order in which they were asked.
func (c *Client) Unanswered() (ids []events.ID) {
	for _, number := range slices.Sorted(maps.Keys(c.commands)) {
		ids = append(ids, c.commands[number])
	}
	return ids
}

// ExpectAnswer returns the number of a command that is not sent with Ask, and is
// answered too.
func (c *Client) ExpectAnswer(id events.ID) uint64 {
	c.command++
	c.commands[c.command] = id
	return c.command
}

// ForgetCommand says that nobody waits for the answer of a command.
func (c *Client) ForgetCommand(number uint64) { delete(c.commands, number) }

// LastCommand returns the number of the last command.
func (c *Client) LastCommand() uint64 { return c.command }

// Queued reports whether the inbox has an event for a machine, or for the session's.
func (c *Client) Queued(id events.ID) bool {
	for _, list := range [][]events.Envelope{c.batch, c.inbox} {
		for _, env := range list {
			if env.To == id || env.To == events.SessionMachine {
				return true
			}
		}
	}
	return false
}

// Timed reports whether a machine's timer runs, or has fired and is dealt with next.
func (c *Client) Timed(id events.ID, number uint64) bool {
	return slices.ContainsFunc(c.timers, func(t timer) bool { return t.machine == id && t.number == number }) ||
		slices.ContainsFunc(c.batch, func(env events.Envelope) bool {
			return env.To == id && env.Event.Kind == events.TimerFired && env.Event.Request == number
		})
}

// Timers returns the number of timers that run.
func (c *Client) Timers() int { return len(c.timers) }

// Watches returns the number of watches that the process knows of. A server counts a recursive one
// twice: it tells of the node and of its children.
func (c *Client) Watches() int { return len(c.x.watches.all()) + 2*c.x.watches.treePaths() }

// WatchesOf returns the number of paths that a machine watches.
func (c *Client) WatchesOf(id events.ID) int { return c.x.watches.watched(id) }

// HasTreeWatch reports whether a machine has a recursive watch, or one is being set.
func (c *Client) HasTreeWatch(id events.ID) bool {
	return slices.ContainsFunc(c.x.watches.trees, func(w *treeWaiter) bool { return w.id == id })
}

// Conn returns the connection that is attached, nil for none.
func (c *Client) Conn() *Conn { return c.x.conn }

// Session returns the number of the session that was opened last, as the machines count.
func (c *Client) Session() int64 { return c.x.session }

// SessionID returns ZooKeeper's id of the session, 0 before the first handshake.
func (c *Client) SessionID() int64 { return c.x.id }

// SessionIDs returns the ids of all sessions so far.
func (c *Client) SessionIDs() []int64 { return c.x.ids }

// LastZxid returns the last transaction that the session knows of.
func (c *Client) LastZxid() int64 { return c.x.lastZxid }

// Over reports whether the session has ended on this side.
func (c *Client) Over() bool { return c.x.over }

// Closing reports whether the session's end was asked for.
func (c *Client) Closing() bool { return c.x.closing }

// Ending reports whether the session has ended, or its end was asked for: then its
// nodes go too.
func (c *Client) Ending() bool { return c.x.ending() }

// Send has the executor send a request that is not a machine's. The packet's Done gets
// the reply.
func (c *Client) Send(a *Packet) {
	a.Conn = c.x.conn
	c.x.accept(a)
}

// Attached reports whether the process has a connection.
func (c *Client) Attached() bool { return c.attached }

// Interrupted reports whether the effects of a step are being performed that a pause
// interrupted.
func (c *Client) Interrupted() bool { return c.interrupted }

// Digest returns a hash of all records so far.
func (c *Client) Digest() uint64 { return c.digest }

// PausedUntil returns when the process runs again, by the world's clock.
func (c *Client) PausedUntil() int64 { return c.paused }

// Believed returns the last deadline that was not "nothing".
func (c *Client) Believed() events.Deadline { return c.believed }

// Deadline returns the one that the session machine published last.
func (c *Client) Deadline() events.Deadline { return c.deadline }

// Begun reports whether the program of a script has begun.
func (c *Client) Begun() bool { return c.program != nil && c.program.started }

// Main returns the machine that the program of a script uses now, "" for none.
func (c *Client) Main() events.ID {
	if c.program == nil {
		return ""
	}
	return c.program.id
}

// Left reports whether the program of a script closes, or has closed.
func (c *Client) Left() bool { return c.program != nil && c.program.leaving }

// ID returns the client's number, from 0 on.
func (c *Client) ID() int { return c.id }

// Identity returns the identity that the process proves on every connection. Access lists
// name it, to give it a right or to leave it out.
func (c *Client) Identity() zkmem.Auth { return c.identities[0] }

// Engine returns the process's engine, to be looked at.
func (c *Client) Engine() *engine.Engine { return c.engine }

// Client returns the process at its one end.
func (c *Conn) Client() *Client { return c.x.c }

// Unclaimed returns how many watches for a node's creation the server has kept although it
// said in the same answer that the node is deleted: a watch of its children was
// spent while nobody could read it. The client forgets all watches of such a path.
func (c *Conn) Unclaimed() int { return c.unclaimed }

// Server returns the server at its other end.
func (c *Conn) Server() *Server { return c.server }

// Name returns what clients have in their list of servers.
func (s *Server) Name() string { return s.name() }

// Watches returns the number of watches that the server's connections have set.
func (s *Server) Watches() int {
	n := s.watches.Len()
	if s.treeWatches != s.watches {
		n += s.treeWatches.Len()
	}
	return n
}

// ClockAhead returns by how many milliseconds the server's clock is ahead, as set by
// SetClockAhead.
func (s *Server) ClockAhead() int64 { return s.ahead }

// SetClockAhead sets the server's clock.
func (s *Server) SetClockAhead(ms int64) { s.ahead = ms }

// Committed returns the committed tree. A server's own tree may lag behind it.
func (e *Ensemble) Committed() *zkmem.Tree { return e.committed }

// Proposed returns the leader's tree with everything that was proposed, nil while no
// server leads.
func (e *Ensemble) Proposed() *zkmem.Tree {
	if l := e.Leader(); l != nil && l.Leads() {
		return l.proposed
	}
	return nil
}

// Generation returns how often all data were replaced.
func (e *Ensemble) Generation() int { return e.generation }

// Servers returns all of them.
func (e *Ensemble) Servers() []*Server { return e.servers }

// Now returns the world's time, in nanoseconds from its beginning.
func (w *World) Now() int64 { return w.now }

// Ensemble returns the world's ensemble.
func (w *World) Ensemble() *Ensemble { return w.ens }

// Moments returns the number of things that have happened.
func (w *World) Moments() uint64 { return w.ran }

// Code returns what the quorum answers.
func (p *Proposal) Code() events.Code { return codeOf(p.Result) }
