package world

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// This file says what keeps a client from being served. Checks need it that are about the
// participants that could have led.

// usualLag is more than a follower lags behind if nothing is wrong.
const usualLag = 30 * time.Millisecond

// Serves reports whether the ensemble serves: it has a leader with a quorum, and commits at
// its usual speed.
func (e *Ensemble) Serves() bool {
	l := e.Leader()
	return l != nil && l.Leads() && l.fit() && e.HasQuorum() && e.quorumDisk(e.acknowledging()) == 0 &&
		e.slow.most == 0 && e.w.now >= e.slow.until
}

// fit reports whether a server takes part in the present term, and nothing delays it.
func (s *Server) fit() bool {
	return s.InTerm() && s.lag <= usualLag && (s.master == nil || s.master.fit())
}

// Unhindered reports whether nothing is wrong with the process and its link: the process
// runs, its loop is not slow, and if it is connected, its server is fit and the connection
// delivers. A process without a connection is unhindered, since it can dial. It is not if the
// connection that it dials delivers nothing, or if it has seen more than the ensemble has, as
// after a restored backup.
func (c *Client) Unhindered() bool {
	if c.Paused() || c.loopDelay > 0 || c.pauseInStep > 0 || c.w.now < c.x.throttledUntil || c.RefusesMultis() {
		return false
	}
	if wire := c.x.conn; wire != nil {
		return !wire.stalls() && wire.server.fit()
	}
	unanswered := c.x.nextUnanswered || c.x.nextUnheard || c.x.dialling != nil && c.x.dialling.stalls()
	return !unanswered && c.x.lastZxid <= c.w.ens.committed.Zxid()
}

// stalls reports whether one direction of a connection delivers nothing at present.
func (c *Conn) stalls() bool { return c.up.stalled > c.w.now || c.down.stalled > c.w.now }

// sayNothing are codes that do not say whether a write was carried out. The last has no name.
var sayNothing = []zkmem.Code{-7, -4, -1, -2, -3, -5, -13, -122, -9999}

// codeThatSaysNothing returns one of them.
func (t *participantDice) codeThatSaysNothing() zkmem.Code {
	return sayNothing[t.roll(codeDice).IntN(len(sayNothing))]
}

// reported returns the code of an answer.
func (x *executor) reported(a *Packet) events.Code {
	code := codeOf(a.result)
	if code != events.OK || !Writes(a.Request) || onlyChecks(a.Request) || !x.misreport &&
		!x.w.observer.Happens(AnsweredByCode) {
		return code
	}
	x.misreport = false
	a.Children, a.stat, a.path = nil, nil, ""
	return codeOf(zkmem.Result{Err: x.c.dice.codeThatSaysNothing()})
}

// postpone answers a create by such a code, and has it carried out later, while the session lives.
func (s *Server) postpone(l *Server, a *Packet, who zkmem.Caller, op zkmem.Op) bool {
	if _, creates := a.Request.(events.Create); !creates || !s.ens.w.observer.Happens(CarriedOutLate) {
		return false
	}
	code := s.dice.codeThatSaysNothing()
	l.awaitSync(l.zxid, func() { s.fromLeader(func() { a.refuse(code) }) })
	s.ens.w.After(Between(s.dice.roll(codeDice), 0, s.ens.w.script.Timeout/2), func() {
		// After the end of a connection, a look on the next one has to be right.
		heard := a.Code == codeOf(zkmem.Result{Err: code}) && a.Code != events.ConnectionLoss
		if l := s.ens.Leader(); heard && l != nil && l.Leads() && l.Up() && !l.closing[who.Session] {
			l.propose(who, op, a, nil)
		}
	})
	return true
}

// onlyChecks reports whether a transaction changes nothing.
func onlyChecks(r events.Request) bool {
	multi, ok := r.(events.Multi)
	return ok && !slices.ContainsFunc(multi.Ops, func(op events.Op) bool { return op.Verb != "check" })
}

// refusedMultis are transactions that servers refuse by a code that is not the client's fault: on one connection, as
// ZooKeeper before 3.5.4 did with SESSIONMOVED, or on all of a client.
type refusedMultis struct {
	code  zkmem.Code
	conn  *Conn // nil: on all
	until int64
}

// RefuseMultis has servers refuse a client's transactions for a while, on its present connection.
func (c *Client) RefuseMultis(code zkmem.Code, lasts time.Duration) {
	if c.x.conn != nil {
		c.x.refusing = refusedMultis{code, c.x.conn, c.w.now + int64(lasts)}
	}
}

// RefuseMultisEverywhere has servers refuse a client's transactions for a while, on every connection.
func (c *Client) RefuseMultisEverywhere(code zkmem.Code, lasts time.Duration) {
	c.x.refusing = refusedMultis{code, nil, c.w.now + int64(lasts)}
}

// RefusesMultis reports whether servers refuse a client's transactions on every connection.
func (c *Client) RefusesMultis() bool {
	return c.x.refusing.conn == nil && c.w.now < c.x.refusing.until
}

// refuses returns the code by which an operation is refused on this connection, 0 if it is not.
func (c *Conn) refuses(op zkmem.OpCode) zkmem.Code {
	if r := c.x.refusing; op == zkmem.OpMulti && c.w.now < r.until && (r.conn == nil || r.conn == c) {
		return r.code
	}
	return 0
}

// noteCreated notes the nodes that a transaction created. Of two that one create asked for, the last is the reply's.
func (a *Packet) noteCreated(paths []string) {
	if _, one := a.Request.(events.Create); !one {
		a.Children = append(a.Children, paths...)
	} else if len(paths) > 0 {
		a.path = paths[len(paths)-1]
	}
}

// opsOf returns the operations of a transaction; none if the request is no transaction.
func opsOf(r events.Request) []events.Op {
	switch r := r.(type) {
	case events.Multi:
		return r.Ops
	case events.Create:
		return r.Ops()
	}
	return nil
}
