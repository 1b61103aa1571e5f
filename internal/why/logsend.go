package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// A log that ends in a term is that of a process that was killed, or of one whose recording
// ended before it did. This file tells them apart.

// mostLost is how many transactions may be missing at the end of the log of a process that was
// killed: those whose records it had not written yet.
const mostLost = 2

// byLastLine says what the last line of the log says of its end, and reports whether there is one. The log of a process
// that was killed has none.
func (h *history) byLastLine(t, next *Term, e *Ending) bool {
	end := t.Log.lastLine
	if end == nil {
		return false
	}
	goes := next == nil && h.endOfTerm(t) == nil
	switch dump := t.Log.Header.Dump; {
	case goes && end.Why != events.EndClosed:
		e.Cause, e.Text = CauseLeads, "still "+t.holds()+" where its log ends"
	case end.Why == events.EndRotated:
		e.Cause, e.Text = CauseGap,
			"has a log that ends with the end of a segment: the process was killed there, or the last "+
				"segments are missing"
	case dump != "" || end.Why != events.EndClosed:
		e.Cause, e.Text = CauseGap,
			"has a log that ends with a dump of the records in memory ("+oneLine(cmp.Or(end.Why, dump))+
				"), before its term ended"
	default:
		e.Cause, e.Text = CauseClosed, "was closed, with its client"
	}
	return true
}

// ended reports whether the log ends in a way that says nothing of its process.
func (l *Log) ended() bool {
	return l.Damage != "" || l.lastLine != nil && l.lastLine.Why != events.EndClosed
}

// livedOn returns what shows that the process of an open term lived on after its log's end, or
// that the node did not go as that of a dead process does; "" for nothing.
func (h *history) livedOn(t, next *Term) string {
	l, s := t.Log, t.Log.sessionNumbered(t.Session)
	if l.Damage != "" {
		return "the rest of it could not be read"
	}
	if l.ended() {
		return "the log was ended while it ran"
	}
	if n := h.requestsAfter(l); n > mostLost {
		return "its session went on: the ensemble has " + plural(n, "later transaction") + " of it, so the recording " +
			"ended before, or its end is missing"
	}
	if s == nil || h.replaced {
		return ""
	}
	end := h.endOfTerm(t)
	switch {
	case end == nil:
		return h.goneAtOddTime(t, s, next)
	case end.by.Kind == txnlog.CloseSession && end.ended.Cxid == 0:
		return ""
	case end.ended.Session == s.id:
		return "its own session deleted the node later (zxid " + hex(end.ended.Zxid) +
			"), so the recording ended before, or its end is missing"
	}
	return "the process may have lived on: session " + hex(end.ended.Session) + " deleted its node later (zxid " +
		hex(end.ended.Zxid) + ")"
}

// goneAtOddTime compares when the node was seen to be gone with when the session of a dead
// process expires: a timeout after its last contact, which its last record is not long before.
func (h *history) goneAtOddTime(t *Term, s *session, next *Term) string {
	since := interval{endless, endless}
	for _, l := range h.logs {
		for _, g := range l.gone {
			// The nodes of all leaders of a job have the same path: only one that went after the election counts.
			if l.isEndOf(t, g) && h.clocks.between(t.Log, t.ElectedAt, l, g.at).lo > 0 {
				if at := h.clocks.between(t.Log, t.Log.last, l, g.at); at.known() && at.hi < since.hi {
					since = at
				}
				break
			}
		}
	}
	if since.hi == endless {
		if next == nil {
			return ""
		}
		since = h.clocks.between(t.Log, t.Log.last, next.Log, next.ElectedAt)
	}
	switch timeout := int64(s.timeout); {
	case !since.known():
		return ""
	case since.mid() < 0:
		return "its node was gone " + span(time.Duration(-since.mid())) + " before its log ends: " +
			"another client deleted it, or the clocks are wrong"
	case since.hi < timeout*8/10:
		return "its node was gone " + span(time.Duration(since.mid())) + " later, before the session of a dead " +
			"process expires: the recording ended before the process did, or another client deleted the node"
	case since.lo > 4*timeout:
		return "its node stayed for " + span(time.Duration(since.mid())) + ", longer than that of a dead process " +
			"does: the recording ended before the process did, or the ensemble could not expire the session"
	}
	return ""
}

// requestsAfter returns how many transactions the last session asked for after the log's end.
func (h *history) requestsAfter(l *Log) (n int) {
	if len(l.sessions) == 0 || l.sights.len() == 0 || h.replaced {
		return 0
	}
	id, last := l.sessions[len(l.sessions)-1].id, h.highest[l][l.sights.len()-1]
	for _, t := range h.all {
		if t.Session == id && t.Zxid > last && t.Cxid != 0 && t.Kind != txnlog.CreateSession {
			n++
		}
	}
	return n
}

// ledAgain reports whether a later term began in a term's session: what ended the session later did not end the term.
func (l *Log) ledAgain(t *Term) bool {
	return slices.ContainsFunc(l.terms, func(later *Term) bool {
		return later.Session == t.Session && later.Machine == t.Machine && later.Elected > t.Stopped
	})
}
