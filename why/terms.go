package why

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Term is one period in which a participant led, or held a lock.
type Term struct {
	Log     *Log
	Machine events.ID
	Recipe  string
	Dir     string // the line: the directory of the nodes
	Node    string // the own node
	Token   int64
	Session int64 // the number of the client's session

	Elected   uint64 // the seq of the record
	ElectedAt int64  // readings of the log's clock
	Row       string // the transition that made it leader
	by        events.Kind

	Stopped   uint64 // the seq of the record that ended it; 0: none did
	StoppedAt int64
	Reason    events.Reason
	stopKind  events.Kind
	stopCode  events.Code
	paused    time.Duration

	until      int64 // the deadline in force
	untilSeq   uint64
	brokenAt   int64   // when belief ended before the stop, by a deadline that was taken away; 0: it was not
	uncertain  *hole   // the gap that hides its end, or part of it
	listed     listing // the last listing before the election
	workDoneAt int64   // when the last work returned after the stop; 0: it has not, or there was none
	worksLeft  int     // work that had not returned by the end of the log
}

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
	t := &Term{Log: l, Machine: r.Machine, Recipe: m.recipe, Dir: dirOf(path), Node: path, Token: token, Session: ev.Session,
		Elected: r.Seq, ElectedAt: ev.At, Row: r.Row, by: ev.Kind.Current(), until: ev.ValidUntil, untilSeq: r.Seq, listed: l.listings[r.Machine]}
	if t.until == 0 {
		t.until = l.session.deadline
	}
	if s := l.session.current; s != nil && t.Session == 0 {
		t.Session = s.number
	}
	if m.recipe == "selector" { // its function is called without being granted
		m.works++
	}
	l.terms = append(l.terms, t)
}

// end notes the end of a term.
func (l *Log) end(r events.Record, path string, token int64, _ string) {
	ev := r.Event
	for i := len(l.terms) - 1; i >= 0; i-- {
		t := l.terms[i]
		if t.Machine != r.Machine || t.Token != token || t.Node != path || t.Stopped != 0 {
			continue
		}
		t.Stopped, t.StoppedAt = r.Seq, ev.At
		t.stopKind, t.stopCode, t.paused = ev.Kind.Current(), ev.Code, time.Duration(ev.Paused)
		t.Reason = reasonOf(t.stopKind, t.paused, r.Effects)
		t.worksLeft = l.machineOf(r.Machine).works
		return
	}
}

// reasonOf returns why a term ended, by the event that ended it. Only the release of a lock at
// another client's request has no event of its own.
func reasonOf(kind events.Kind, paused time.Duration, effects []string) events.Reason {
	switch kind {
	case events.ConnectionSuspended, events.ConnectionUnconfirmed:
		switch {
		case paused > 0:
			return events.ReasonOwnPause
		case kind == events.ConnectionSuspended:
			return events.ReasonSuspended
		}
		return events.ReasonUnconfirmed
	case events.WatchDeleted:
		return events.ReasonDeleted
	case events.WatchChanged:
		return events.ReasonNodeChanged
	case events.ConnectionLost:
		return events.ReasonSessionOver
	case events.CommandResign, events.CommandRequeue:
		return events.ReasonResigned
	case events.CommandClose:
		return events.ReasonClosed
	case events.HealthChecked:
		return events.ReasonUnhealthy
	case events.WorkReturned:
		for _, e := range effects {
			if contains(e, events.ReasonRevoked.String()) {
				return events.ReasonRevoked
			}
		}
		return events.ReasonReturned
	case events.ReplyStat, events.ReplyChildren, events.ReplyMulti, events.NodeGone:
		return events.ReasonNodeGone
	}
	return events.Reason(kind)
}

// workReturned notes that a piece of work has returned.
func (l *Log) workReturned(r events.Record) {
	m := l.machineOf(r.Machine)
	m.works = max(m.works-1, 0)
	for i := len(l.terms) - 1; i >= 0; i-- {
		t := l.terms[i]
		if t.Machine != r.Machine {
			continue
		}
		if t.Stopped != 0 && t.worksLeft > 0 {
			t.worksLeft--
			t.workDoneAt = r.Event.At
		}
		return
	}
}

// moveDeadline notes a new deadline for all terms of the client.
func (l *Log) moveDeadline(r events.Record, until int64) {
	l.session.deadline = until
	for i := len(l.terms) - 1; i >= 0 && i >= len(l.terms)-1000; i-- {
		t := l.terms[i]
		switch {
		case t.Stopped != 0:
		case until == 0:
			if t.brokenAt == 0 {
				t.brokenAt = r.Event.At
			}
		default:
			t.until, t.untilSeq, t.brokenAt = until, r.Seq, 0
		}
	}
}

// resumeAfterGap finds out which terms a gap ended.
func (l *Log) resumeAfterGap(r events.Record) {
	if !l.session.afterGap {
		return
	}
	h := &l.gaps[len(l.gaps)-1]
	for _, t := range l.terms {
		if t.Stopped == 0 && t.Machine == r.Machine && r.From != "" && r.From != "leading" && r.From != "downgrading" {
			t.Stopped, t.StoppedAt, t.uncertain = r.Seq, r.Event.At, h
			t.Reason = ""
		}
		if t.Stopped == 0 && r.Event.ValidUntil > t.until {
			t.until, t.untilSeq = r.Event.ValidUntil, r.Seq
		}
	}
}
