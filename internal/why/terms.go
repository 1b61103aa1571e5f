package why

import (
	"slices"
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
	shares     bool    // it holds together with others of its kind: a reader's
	workDoneAt int64   // when the last work returned after the stop; 0: it has not, or there was none
	next       *Term   // of the machine
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
		Elected: r.Seq, ElectedAt: ev.At, Row: r.Row, by: ev.Kind, until: ev.ValidUntil,
		untilSeq: r.Seq, listed: l.listings[r.Machine]}
	if t.until == 0 {
		t.until = l.session.deadline
	}
	if s := l.session.current; s != nil && t.Session == 0 {
		t.Session = s.number
	}
	if m.recipe == "selector" { // its function is called without being granted
		l.workBegan(r)
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
	for _, h := range l.headless {
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
	if r.From == "leading" && len(l.open[r.Machine]) == 0 && r.Machine != events.SessionMachine {
		l.addHeadless(r)
	}
	if r.From == "" || r.From == "leading" || r.From == "downgrading" {
		return
	}
	for _, t := range l.open[r.Machine] {
		t.Stopped, t.StoppedAt = r.Seq, r.Event.At // at the latest
	}
	delete(l.open, r.Machine)
}
