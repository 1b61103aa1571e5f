package why

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

var planned = map[events.Reason]struct {
	cause Cause
	text  string
}{
	events.ReasonClosed:    {CauseClosed, "was closed"},
	events.ReasonResigned:  {CauseResigned, "resigned"},
	events.ReasonReturned:  {CauseReturned, "released it: its work returned"},
	events.ReasonRevoked:   {CauseRevoked, "released it, because another client had asked for it"},
	events.ReasonUnhealthy: {CauseUnhealthy, "stepped down: its health check failed"},
	events.ReasonDisabled:  {CauseDisabled, "stepped down: an operator disabled its server"},
	events.ReasonCannotDeal: {CauseCannotDeal, "stepped down: it could not deal the job's items, because the job's " +
		"configuration or strategy was not known"},
}

// endingOf finds out why a term ended. next is the one that followed, nil for none.
func (h *history) endingOf(t *Term, next *Term) Ending {
	e := Ending{Cause: CauseUnknown, At: t.rightUntil(), Text: "stopped; the log does not show why"}
	if t.Stopped != 0 {
		e.Records = []Ref{t.ref(t.Stopped)}
	}
	p, isPlanned := planned[t.Reason]
	switch {
	case t.uncertain != nil:
		h.byGap(t, &e)
	case t.Open():
		h.byLogsEnd(t, next, &e)
	case t.pausedFor() > 0:
		h.byPause(t, &e)
	case isPlanned:
		e.Cause, e.Text = p.cause, p.text
	case t.Reason == events.ReasonMoved:
		h.byMove(t, &e)
	case t.Reason == events.ReasonDeleted, t.Reason == events.ReasonNodeGone:
		h.byDeletion(t, &e)
	case t.Reason == events.ReasonUnreadable:
		e.Cause = causeOf(t.stopCode)
		e.Text = "stepped down: its own node could not be read: " + string(t.stopCode)
	case t.Reason == events.ReasonNodeChanged:
		e.Cause, e.Text = CauseChanged, "stepped down: another client changed its node"
	case t.Reason == events.ReasonSessionOver:
		h.bySessionsEnd(t, &e)
	case t.Reason == events.ReasonSuspended:
		h.byDisconnect(t, &e)
	case t.Reason == events.ReasonUnconfirmed:
		h.byDeadline(t, &e)
	}
	h.byClock(t, &e)
	return e
}

// byGap says what a gap hides.
func (h *history) byGap(t *Term, e *Ending) {
	g := t.uncertain.gap
	e.Cause, e.At = CauseGap, t.uncertain.before
	e.Text = "stopped where its log has a gap: " + plural(int(g.Count), "record") + " are missing (" +
		oneLine(g.Why) + ")"
	if t.Open() {
		e.Text = "has a log with a gap, and nothing behind it shows whether it led on: " +
			plural(int(g.Count), "record") + " are missing (" + oneLine(g.Why) + ")"
	}
	e.Records = []Ref{t.ref(g.From), t.ref(g.To)}
}

// byLogsEnd finds out why a log ends in a term.
func (h *history) byLogsEnd(t *Term, next *Term, e *Ending) {
	l := t.Log
	e.Records = []Ref{t.ref(l.lastSeq)}
	if h.byLastLine(t, next, e) {
		return
	}
	if why := h.livedOn(t, next); why != "" {
		e.Cause, e.Text = CauseGap, "has a log that ends at its last record although "+why
		return
	}
	if next == nil && h.endOfTerm(t) == nil {
		e.Cause, e.Text = CauseLeads, "still "+t.holds()+" where its log ends"
		return
	}
	e.Cause, e.Long = CauseKilled, time.Duration(e.At-l.last)
	e.Text = "has a log that ends without a close: " + logJustEnds
}

// byDeletion finds out who deleted the node of a term that heard of it.
func (h *history) byDeletion(t *Term, e *Ending) {
	s := t.Log.sessionNumbered(t.Session)
	if end := h.endOfTerm(t); end != nil {
		h.byTransaction(t, s, end, e)
		return
	}
	if l, d := h.deletedBy(t); l != nil {
		e.Cause, e.Text = CauseEvicted, "lost its node: "+l.Name+" deleted it"
		e.Records = append(e.Records, Ref{l.Name, d.seq})
		return
	}
	switch {
	case s == nil:
		e.Text = "lost its node; the log does not show how"
	case t.Log.wroteAfter(s.id, t.StoppedAt), t.Log.ledAgain(t):
		e.Cause = CauseDeleted
		e.Text = "lost its node: another client deleted it, since the session went on (its transaction log has the " +
			"session: --txnlog)"
	case s.lost != nil:
		e.Cause, e.Text = CauseSessionExpired, "lost its session while it was connected: the ensemble ended it"
		e.Records = append(e.Records, t.ref(s.lost.seq))
	default:
		e.Cause, e.Text = CauseDeleted, "lost its node: it was deleted by another client, or with the session"
	}
}

// byTransaction says what the transaction log has of a node's end.
func (h *history) byTransaction(t *Term, s *session, end *life, e *Ending) {
	x := end.ended
	switch {
	case end.by.Kind == txnlog.CloseSession && x.Cxid == 0:
		e.Cause = CauseSessionExpired
		e.Text = "lost its session while it was connected: the ensemble ended session " + hex(x.Session)
	case end.by.Kind == txnlog.CloseSession:
		e.Cause, e.Text = CauseDeleted, "lost its node: somebody closed its session "+hex(x.Session)
	case s != nil && x.Session == s.id:
		e.Cause, e.Text = CauseDeleted, "lost its node: a request of its own session deleted it"
	case h.sessions[x.Session] != nil:
		e.Cause = CauseEvicted
		e.Text = "lost its node: " + h.sessions[x.Session].Name + " deleted it (session " + hex(x.Session) + ")"
	default:
		e.Cause, e.Text = CauseDeleted, "lost its node: session "+hex(x.Session)+" deleted it, whose log is not here"
	}
}
