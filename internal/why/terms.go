package why

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Open reports whether the log does not have the term's end.
func (t *Term) Open() bool { return t.Stopped == 0 }

// rightUntil returns until when, by the log's clock, the participant had the right to believe
// as far as the log shows: the deadline, or the end that came before it.
func (t *Term) rightUntil() int64 {
	end := t.until
	if t.Stopped != 0 {
		end = min(end, t.StoppedAt)
	}
	if t.brokenAt != 0 {
		end = min(end, t.brokenAt)
	}
	return max(end, t.ElectedAt)
}

// begin notes the beginning of a term.
func (l *Log) begin(r events.Record, path string, token int64) {
	ev := r.Event
	m := l.machineOf(r.Machine)
	t := &Term{Log: l, Machine: r.Machine, Recipe: m.recipe, Dir: dirOf(path), Node: path, Token: token,
		Session: ev.Session,
		Elected: r.Seq, ElectedAt: ev.At, Row: r.Row, by: ev.Kind, until: ev.ValidUntil,
		untilSeq: r.Seq, listed: l.listings[r.Machine]}
	if t.until == 0 {
		t.until = l.session.deadline
	}
	if s := l.session.current; s != nil && t.Session == 0 {
		t.Session = s.number
	}
	if m.lastTerm != nil {
		m.lastTerm.next = t
	}
	m.lastTerm = t
	l.terms = append(l.terms, t)
	l.open[r.Machine] = append(l.open[r.Machine], t)
}

// end notes the end of a term.
func (l *Log) end(r events.Record, n events.Notify) {
	ev := r.Event
	for i, t := range l.open[r.Machine] {
		if t.Token != n.Token || t.Node != n.Path {
			continue
		}
		l.closeTerm(r.Machine, i)
		t.Stopped, t.StoppedAt, t.uncertain = r.Seq, ev.At, nil
		t.stopKind, t.stopCode, t.paused = ev.Kind, ev.Code, time.Duration(ev.Paused)
		t.Reason = n.Reason
		t.worksLeft = l.machineOf(r.Machine).works
		return
	}
}

// closeTerm takes a term out of those that have not ended.
func (l *Log) closeTerm(id events.ID, i int) {
	if l.open[id] = slices.Delete(l.open[id], i, i+1); len(l.open[id]) == 0 {
		delete(l.open, id)
	}
}

// workReturned notes that a piece of work has returned.
func (l *Log) workReturned(r events.Record) {
	m := l.machineOf(r.Machine)
	m.works = max(m.works-1, 0)
	m.workEnded(r)
	if t := m.lastTerm; t != nil && t.Stopped != 0 && t.worksLeft > 0 {
		t.worksLeft--
		t.workDoneAt = r.Event.At
	}
}

// moveDeadline notes a new deadline for all terms of the client.
func (l *Log) moveDeadline(r events.Record, until int64) {
	l.session.deadline, l.session.granted = until, until
	for _, h := range l.truncated {
		if h.goes {
			h.at = max(h.at, until)
		}
	}
	for _, open := range l.open {
		for _, t := range open {
			switch {
			case until != 0:
				t.until, t.untilSeq, t.brokenAt = until, r.Seq, 0
			case t.brokenAt == 0:
				t.brokenAt = r.Event.At
			}
		}
	}
}

// beginGap notes that records are missing: whether a term that has not ended goes on is open
// until a record shows it.
func (l *Log) beginGap(h *hole) {
	l.gaps = append(l.gaps, h)
	l.session.afterGap, l.session.newGap = true, true
	l.breakStays(h)
	l.breakWork()
	for _, open := range l.open {
		for _, t := range open {
			if t.uncertain == nil {
				t.uncertain = h
			}
		}
	}
}

// resumeAfterGap finds out which terms a gap ended, and which deadline holds after it.
func (l *Log) resumeAfterGap(r events.Record) {
	if !l.session.afterGap {
		return
	}
	if l.session.newGap && r.Event.ValidUntil > 0 {
		l.session.newGap = false
		l.moveDeadline(r, max(r.Event.ValidUntil, l.session.deadline))
	}
	leads := l.class(r.Machine, r.From) == events.ClassLeading
	if leads && len(l.open[r.Machine]) == 0 {
		l.addTruncated(r)
	}
	if r.From == "" || leads {
		return
	}
	for _, t := range l.open[r.Machine] {
		t.Stopped, t.StoppedAt = r.Seq, r.Event.At // at the latest
	}
	delete(l.open, r.Machine)
}

// how says by what event a term began.
func (t *Term) how() string {
	if t.Recipe == shardRecipe {
		return "its claim was confirmed"
	}
	switch t.by {
	case events.WatchDeleted:
		return "its watch on the node ahead fired"
	case events.ReplyChildren:
		return "a listing showed it first"
	case events.ReplyMulti, events.ReplySync, events.ConnectionConfirmed:
		return "the quorum confirmed its place"
	case events.ReplyStat:
		return "a read showed that nothing is ahead"
	case events.TimerFired:
		return "its next check of the line showed it"
	}
	return string(t.by)
}

// workEnd returns when the last work ended as far as the log shows, and whether it does: work
// that watches its context ended with the term.
func (t *Term) workEnd() (int64, bool) {
	if t.worksLeft > 0 {
		return t.Log.last, false
	}
	return max(t.StoppedAt, t.workDoneAt), true
}

// timeout returns the session timeout of the term.
func (t *Term) timeout() time.Duration {
	if s := t.Log.sessionNumbered(t.Session); s != nil && s.timeout > 0 {
		return s.timeout
	}
	return 15 * time.Second
}

// root returns the event from outside that ended the term.
func (t *Term) root() brief {
	chain := t.Log.chain(t.Stopped)
	if len(chain) == 0 {
		return brief{}
	}
	if t.stopKind == events.ConnectionUnconfirmed || t.stopKind == events.ConnectionLost ||
		t.stopKind == events.ConnectionSuspended {
		return chain[min(1, len(chain)-1)] // what is behind that only asked
	}
	return chain[0]
}

func (t *Term) ref(seq uint64) Ref { return Ref{t.Log.Name, seq} }
