package why

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// tellNode says what became of the node, and who ended it.
func (r *Report) tellNode(m *Move, add adder) {
	t := m.From
	if m.To != nil && m.To.Node == t.Node && m.To.Token == t.Token {
		m.NodeEnd = NodeStayed
		add("its node stayed, so nobody else could " + t.could())
		return
	}
	node := "node " + shortNode(t.Node)
	if t.Reason == events.ReasonMoved {
		return
	}
	if end := r.h.endOfTerm(t); end != nil {
		r.tellTransaction(m, end, node, add)
		return
	}
	if c := m.Ending.Cause; c == CauseDeleted || c == CauseEvicted {
		m.NodeEnd = NodeDeleted
		return // that was said
	}
	if r.goneEarly(m) {
		add("its " + node + " was gone while it still believed: somebody else deleted it, or the session was ended " +
			"(the ensemble's transaction log has that: --txnlog)")
		return
	}
	s := t.Log.sessionNumbered(t.Session)
	if d := t.deleted(t.Elected); d != nil {
		m.NodeEnd = NodeDeletedByOwn
		add(fmt.Sprintf("it deleted its %s at %s", node, r.time(t.Log, d.at)), t.ref(d.seq), t.ref(d.answer))
		return
	}
	switch {
	case s == nil:
	case s.lost != nil && s.lost.code == events.SessionExpired && s.closeAsked == 0 && !t.Log.ledAgain(t):
		m.NodeEnd = NodeExpired
		switch m.Ending.Cause {
		case CauseSessionExpired, CauseSessionRefused, CauseClockJump, CauseClosed: // that was said
		default:
			add(fmt.Sprintf("its session had expired when it asked again at %s", r.time(t.Log, s.lost.at)),
				t.ref(s.lost.seq))
		}
	case s.closeAsked != 0 && s.closeAsked >= t.Stopped:
		m.NodeEnd = NodeClosed
		add("its "+node+" went with the session that it closed", t.ref(s.closeAsked))
	}
}

// goneEarly reports whether the node of a term was gone while its client still believed, and the logs do not show who
// ended it.
func (r *Report) goneEarly(m *Move) bool {
	c := m.Ending.Cause
	return m.NodeEnd == "" && c != CauseDeleted && c != CauseEvicted && r.h.endOfTerm(m.From) == nil &&
		len(m.Proofs) > 0 && m.Proofs[0].Certainty == Both && m.Proofs[0].Earlier == m.From && m.From.Log != m.To.Log
}

// tellTransaction says what the transaction log has of the node's end.
func (r *Report) tellTransaction(m *Move, end *life, node string, add adder) {
	x, s := end.ended, m.From.Log.sessionNumbered(m.From.Session)
	at := fmt.Sprintf("at %s, zxid %s", clockText(x.Time*milli+r.byClock.shift), hex(x.Zxid))
	switch {
	case end.by.Kind != txnlog.CloseSession:
		m.NodeEnd = NodeDeleted
		if s != nil && s.id == x.Session {
			m.NodeEnd = NodeDeletedByOwn
			add(fmt.Sprintf("its own session %s deleted %s %s", hex(x.Session), node, at))
			return
		}
		add(fmt.Sprintf("session %s%s deleted %s %s", hex(x.Session), r.ofLog(x.Session), node, at))
	case x.Cxid == 0:
		m.NodeEnd = NodeExpired
		add(fmt.Sprintf("the ensemble expired session %s %s, and %s with it", hex(x.Session), at, node))
	default:
		m.NodeEnd = NodeClosed
		add(fmt.Sprintf("its client closed session %s %s, and %s went with it", hex(x.Session), at, node))
	}
}

// ofLog returns " of" and the name of a session's log, "" if that is not here.
func (r *Report) ofLog(id int64) string {
	for _, l := range r.logs {
		if slices.ContainsFunc(l.sessions, func(s *session) bool { return s.id == id }) {
			return " of " + l.Name
		}
	}
	return ""
}
