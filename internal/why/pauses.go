package why

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// noted is how much later than an event the recorder may note what the clocks were.
const noted = int64(5 * time.Second)

// pausedFor returns the pause of the process that ended the term: what the event says, or a
// timer that was due in the same moment. A pause of a quarter of the timeout explains a deadline.
func (t *Term) pausedFor() time.Duration {
	if t.paused > 0 || t.Reason != events.ReasonUnconfirmed {
		return t.paused
	}
	for _, p := range t.Log.pauses {
		if p.at >= t.rightUntil() && p.at <= t.StoppedAt && p.long >= t.timeout()/4 &&
			p.at-int64(p.long) <= t.rightUntil() {
			return p.long
		}
	}
	return 0
}

func (h *history) byPause(t *Term, e *Ending) {
	e.Cause, e.Long = CausePaused, t.pausedFor()
	e.Text = "did not run for " + span(e.Long) + " (stopped, throttled, swapped out, or its machine slept)"
	if slept := t.Log.sleptBetween(t.rightUntil()-int64(e.Long), t.StoppedAt+noted); slept.slept >= e.Long/2 {
		e.Cause = CauseSlept
		e.Text = "did not run for " + span(e.Long) + ": its machine slept"
		e.Records = append(e.Records, t.ref(slept.seq))
	}
	if t.stopKind == events.ConnectionSuspended {
		e.Text += ", and lost its connection"
	}
}

// byClock finds out whether a session ran out while the client's clock stood still: it was over before the client
// can have been silent for its timeout, unless what its wall clock shows had passed.
func (h *history) byClock(t *Term, e *Ending) {
	switch e.Cause {
	case CauseSessionExpired, CauseSessionRefused, CauseConnectionClosed, CauseConnectionBroken, CauseDeleted:
	default:
		return
	}
	s := t.Log.sessionNumbered(t.Session)
	if s == nil || s.lost == nil || s.lost.code != events.SessionExpired || s.closeAsked != 0 {
		return
	}
	if end := h.endOfTerm(t); end != nil && (end.by.Kind != txnlog.CloseSession || end.ended.Cxid != 0) {
		return // somebody deleted it
	}
	asked, answered := t.Log.lastWrite(s.id, t.StoppedAt)
	ahead := t.Log.aheadBetween(answered, s.lost.at+noted)
	silent := time.Duration(s.lost.at - asked)
	if answered == 0 || silent >= s.timeout*95/100 || silent+ahead.by < s.timeout*2/3 {
		return
	}
	e.Cause, e.Long = CauseClockJump, ahead.by
	e.Text = "lost its session: " + span(ahead.by) + " went by while its clock stood still (its machine " +
		"slept, or was " +
		"restored from a snapshot)"
	e.Records = append(e.Records, t.ref(ahead.seq), t.ref(s.lost.seq))
}

// lastWrite returns when the last write was asked for that was answered before an instant, and when that was; 0 for
// none.
func (l *Log) lastWrite(session, before int64) (asked, answered int64) {
	for i := l.sights.len() - 1; i >= 0; i-- {
		if w := l.sights.at(i); w.session == session && w.write && w.at <= before {
			return w.sent, w.at
		}
	}
	return 0, 0
}

// wroteBetween reports whether a write was sent and committed between two instants.
func (l *Log) wroteBetween(session, from, to int64) bool {
	for i := l.sights.len() - 1; i >= 0 && l.sights.at(i).at > from; i-- {
		if s := l.sights.at(i); s.session == session && s.write && s.sent >= from && s.at <= to {
			return true
		}
	}
	return false
}

// wroteAfter reports whether a session had a write committed that was sent after an instant.
func (l *Log) wroteAfter(session, at int64) bool {
	return l.wroteBetween(session, at, endless)
}
