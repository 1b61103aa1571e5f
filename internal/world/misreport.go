package world

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

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
