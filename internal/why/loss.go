package why

import (
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// Words of zkio about the end of a connection, in logs that have no code for it.
const (
	closedByServer = "closed by the server"
	wasSilent      = "silent for too long"
	noAnswer       = "no answer to a request"
)

// byDisconnect finds out why the connection ended.
func (h *history) byDisconnect(t *Term, e *Ending) {
	root, s := t.root(), t.Log.sessionNumbered(t.Session)
	e.Records = []Ref{t.ref(root.seq)}
	if s == nil {
		e.Text = "lost its connection"
		return
	}
	if root.kind == events.CommandEndSession {
		e.Cause, e.Text = CauseSessionEnded, "ended its session, to be rid of a node that it could not delete"
		return
	}
	lost := s.suspendedAt(root.seq)
	if lost == nil {
		e.Text = "lost its connection"
		return
	}
	if h.expiredBefore(t, s, lost) {
		e.Cause, e.Text = CauseSessionExpired,
			"lost its session while it was connected: the ensemble ended it before the client had been silent "+
				"for its timeout"
		if s.lost != nil {
			e.Records = append(e.Records, t.ref(s.lost.seq))
		}
		return
	}
	e.Cause, e.Text = disconnect(lost)
	if e.Cause == CauseSilent {
		e.Long = time.Duration(lost.at - t.Log.lastAnswer(lost.at))
	}
}

// disconnect names the end of a connection.
func disconnect(lost *loss) (Cause, string) {
	why, server := lost.text, lost.server()
	if server != "" {
		_, why, _ = strings.Cut(lost.text, ": ")
		server = " (" + server + ")"
	}
	switch lost.ended() {
	case events.ConnectionEndSilent:
		return CauseSilent, "heard nothing from its server any more" + server + " (a dead link, a server that stood " +
			"still, or one that was cut off from the ensemble's leader while a write was pending)"
	case events.ConnectionEndUnanswered:
		return CauseServerCutOff, "got no answer to a request, although its server sent pings" + server
	case events.ConnectionEndClosed, events.ConnectionEndNotServing:
		return CauseConnectionClosed, "lost its connection: closed at the server's end" + server
	case events.ConnectionEndRefused:
		return causeOf(lost.code), "was refused by its server: " + oneLine(why) + server
	}
	return CauseConnectionBroken, "lost its connection: " + oneLine(why) + server
}

// server returns the address of the server whose connection ended, "" if it is not recorded.
func (lost *loss) server() string {
	server, _, found := strings.Cut(lost.text, ": ")
	if !found {
		return ""
	}
	return oneLine(server)
}

// serverAt returns the address of the server whose connection a session did not have at an instant, or whose was the
// next to end, within one and a half timeouts; "" if there is none.
func (l *Log) serverAt(session, at int64) string {
	s := l.sessionNumbered(session)
	if s == nil {
		return ""
	}
	lost := s.outSince(at)
	if lost == nil {
		lost = s.nextSuspended(at)
	}
	if lost == nil || time.Duration(lost.at-at) > 3*s.timeout/2 {
		return ""
	}
	return lost.server()
}

// ended returns why a connection ended. Logs of older versions have it in words only.
func (lost *loss) ended() events.ConnectionEnd {
	switch {
	case lost.end != "":
		return lost.end
	case contains(lost.text, wasSilent):
		return events.ConnectionEndSilent
	case contains(lost.text, noAnswer):
		return events.ConnectionEndUnanswered
	case contains(lost.text, closedByServer):
		return events.ConnectionEndClosed
	}
	return events.ConnectionEndNetwork
}

// suspendedAt returns the end of a connection that a record has.
func (s *session) suspendedAt(seq uint64) *loss {
	for i := range s.suspended {
		if s.suspended[i].seq == seq {
			return &s.suspended[i]
		}
	}
	return nil
}

// nextSuspended returns the first end of a connection after an instant.
func (s *session) nextSuspended(at int64) *loss {
	for i := range s.suspended {
		if s.suspended[i].at >= at {
			return &s.suspended[i]
		}
	}
	return nil
}

// backBefore reports whether the session was attached again behind the end of a connection, at an instant that is early
// enough.
func (s *session) backBefore(lost *loss, early func(at int64) bool) bool {
	return slices.ContainsFunc(s.attached, func(a attach) bool { return a.seq > lost.seq && early(a.at) })
}

// outSince returns the end of the connection that a session did not have at an instant, nil if it had one.
func (s *session) outSince(at int64) *loss {
	for i := len(s.suspended) - 1; i >= 0; i-- {
		if lost := &s.suspended[i]; lost.at < at {
			if s.backBefore(lost, func(back int64) bool { return back <= at }) {
				return nil
			}
			return lost
		}
	}
	return nil
}

// lastAnswer returns when the last answer came before an instant.
func (l *Log) lastAnswer(at int64) int64 {
	for i := l.sights.len() - 1; i >= 0; i-- {
		if s := l.sights.at(i); s.at < at {
			return s.at
		}
	}
	return l.first
}

// expiredBefore reports whether the session had ended before its connection did: the
// transaction log says so, or the client heard that it was over before it could have expired.
func (h *history) expiredBefore(t *Term, s *session, lost *loss) bool {
	if end := h.endOfTerm(t); end != nil && end.by.Kind == txnlog.CloseSession && end.ended.Session == s.id {
		epoch, known := h.clocks.epochs[epochOf(end.ended.Zxid)]
		if !known {
			return false
		}
		at := h.clocks.read(t.Log, lost.at)[epoch]
		return at.known() && at.lo > (end.ended.Time+1)*milli && end.ended.Cxid == 0
	}
	if s.lost == nil || s.lost.code != events.SessionExpired || s.closeAsked != 0 {
		return false
	}
	for i := t.Log.sights.len() - 1; i >= 0; i-- {
		w := t.Log.sights.at(i)
		if w.session == s.id && w.write && w.at <= lost.at {
			return s.lost.at-w.sent < int64(s.timeout)*95/100
		}
	}
	return false
}

// bySessionsEnd finds out why the session was over.
func (h *history) bySessionsEnd(t *Term, e *Ending) {
	s := t.Log.sessionNumbered(t.Session)
	root := t.root()
	if t.stopCode == events.Closed {
		e.Cause, e.Text = CauseClosed, "was closed, with its client"
		return
	}
	e.Records = append(e.Records, t.ref(root.seq))
	if t.stopCode == events.AuthFailed {
		e.Cause, e.Text = CauseNoRights, "lost its session: the ensemble refused its credentials"
		return
	}
	if s != nil && len(s.suspended) > 0 && s.suspended[len(s.suspended)-1].at > s.attached[len(s.attached)-1].at {
		lost := s.suspended[len(s.suspended)-1]
		_, how := disconnect(&lost)
		e.Cause, e.Text = CauseSessionRefused, how+"; when it reconnected, its session had expired"
		e.Records = append(e.Records, t.ref(lost.seq))
		return
	}
	e.Cause, e.Text = CauseSessionExpired, "lost its session while it was connected: the ensemble ended it"
}

// byDeadline finds out why nothing was confirmed in time.
func (h *history) byDeadline(t *Term, e *Ending) {
	s := t.Log.sessionNumbered(t.Session)
	right := t.rightUntil()
	e.Cause, e.Text = CauseUnconfirmed, "got no confirmation in time, although it was connected"
	if late := t.lateLoop(); late > 0 {
		e.Cause, e.Long = CauseSlowLoop, late
		e.Text = "got no confirmation in time: its own loop was " + span(late) +
			" late (a busy machine, or a blocked loop)"
		return
	}
	if refused := t.refusedCheck(); refused.seq != 0 {
		e.Cause = causeOf(refused.code)
		e.Text = "got no confirmation in time: the ensemble refused the check of a node: " + string(refused.code) +
			" (may this client read its own node?)"
		e.Records = append(e.Records, t.ref(refused.seq))
		return
	}
	if long, seq := t.slowAnswer(right); long > 0 {
		e.Cause, e.Long = CauseSlowEnsemble, long
		e.Text = "got no confirmation in time: an answer took " + span(long) + " (a slow disk, a stop of the " +
			"ensemble's leader, or a server or a link that was cut off for a while)"
		e.Records = append(e.Records, t.ref(seq))
		return
	}
	if s == nil {
		return
	}
	if out := s.outSince(right); out != nil { // it rode that out until its deadline
		cause, how := disconnect(out)
		e.Cause, e.Text = cause, how+"; it had not reconnected when its right to believe ended"
		e.Records = append(e.Records, t.ref(out.seq))
		return
	}
	lost := s.nextSuspended(right)
	if lost != nil && (time.Duration(lost.at-right) > 3*s.timeout/2 || t.Log.wroteBetween(s.id, right, lost.at)) {
		return // another story
	}
	if lost == nil || lost.paused > 0 {
		if s.lost != nil && s.lost.code == events.SessionExpired && lost == nil {
			e.Cause, e.Text = CauseSessionExpired,
				"got no confirmation in time, and then heard that the ensemble had ended its session"
			e.Records = append(e.Records, t.ref(s.lost.seq))
		}
		return
	}
	e.Records = append(e.Records, t.ref(lost.seq))
	e.Long = time.Duration(lost.at - t.Log.lastAnswer(right))
	switch cause, how := disconnect(lost); cause {
	case CauseSilent:
		e.Cause, e.Text = CauseSilent, how+", for "+span(e.Long)+"; it had no confirmation in time"
	case CauseConnectionClosed:
		e.Cause = CauseServerCutOff
		e.Text = "got no confirmation in time: its server answered nothing for " + span(e.Long) +
			" and then closed the connection (cut off from the ensemble's leader, or there was none)"
	case CauseServerCutOff:
		e.Cause, e.Text = cause,
			"got no confirmation in time: it "+how+" (the server was cut off from the ensemble's leader, or "+
				"there was none)"
	default:
		e.Cause, e.Text = cause, "got no confirmation in time, and then "+how
	}
}

// lateLoop returns by how much timers of the client were late before the term's end.
func (t *Term) lateLoop() (most time.Duration) {
	from := t.rightUntil() - int64(t.timeout())/2
	for _, p := range t.Log.lateness {
		if p.at >= from && p.at <= t.StoppedAt && p.long >= t.timeout()/10 {
			most = max(most, p.long)
		}
	}
	return most
}

// refusedCheck returns the last request for a confirmation that was refused since the deadline was moved last.
func (t *Term) refusedCheck() (last failure) {
	for _, f := range t.Log.refusals {
		if f.seq > t.untilSeq && f.at <= t.StoppedAt {
			last = f
		}
	}
	return last
}

// slowAnswer returns how long the slowest answer took that came around the deadline, and was
// asked for before it: so long that it could not count.
func (t *Term) slowAnswer(right int64) (most time.Duration, seq uint64) {
	s := t.Log.sessionNumbered(t.Session)
	for i := firstSight(t.Log, t.untilSeq+1); s != nil && i < t.Log.sights.len(); i++ {
		w := t.Log.sights.at(i)
		if w.session != s.id || w.sent > right {
			break
		}
		if lost := s.nextSuspended(right); lost != nil && lost.at < w.at {
			break
		}
		long := time.Duration(w.at - w.sent)
		if w.sent > 0 && long > most && (w.at >= right || long >= s.timeout/8) {
			most, seq = long, w.seq
		}
	}
	return most, seq
}
