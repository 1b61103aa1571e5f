package why

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// noting gives records to Read, and notes before some of them.
type noting struct {
	each
	notes map[uint64][]events.Note // by the seq of the record behind them; 0: at the end
	take  func(events.Note)
	end   *events.End
}

func (n *noting) EachNote(take func(events.Note)) { n.take = take }

func (n *noting) End() *events.End { return n.end }

func (n *noting) Next() (events.Record, error) {
	r, err := n.each.Next()
	for _, note := range n.notes[r.Seq] {
		n.take(note)
	}
	return r, err
}

// scene is a crafted log with notes.
type scene struct {
	*crafted
	notes map[uint64][]events.Note
	end   *events.End
	dump  string
}

func newScene() *scene { return &scene{crafted: newCrafted(1, 100), notes: map[uint64][]events.Note{}} }

// note adds a note before the next record.
func (s *scene) note(n events.Note) {
	at := uint64(len(s.records) + 1)
	s.notes[at] = append(s.notes[at], n)
}

// session adds a record of the session machine.
func (s *scene) session(ev events.Event, from, to string) {
	ev.Session = 1
	s.add(events.SessionMachine, ev, from, to)
}

// caused marks the last record as sent by the one before.
func (s *scene) caused() {
	last := &s.records[len(s.records)-1]
	last.Cause, last.Internal = last.Seq-1, true
}

// drop ends the connection, and the term with it.
func (s *scene) drop(at int64, end events.ConnectionEnd) {
	s.session(events.Event{Kind: events.ConnectionSuspended, At: at, Code: events.ConnectionLoss, End: end,
		Text: "zk1:2181: words of another version"}, "connected", "suspended")
	s.stop(1, at, events.ConnectionSuspended)
	s.caused()
}

func (s *scene) lost(at int64, code events.Code) {
	s.session(events.Event{Kind: events.ConnectionLost, At: at, Code: code}, "suspended", "resting")
}

// over ends the session, and the term with it.
func (s *scene) over(at int64, code events.Code) {
	s.lost(at, code)
	s.add("latch-1", events.Event{Kind: events.ConnectionLost, At: at, Session: 1, Code: code}, "leading", "draining",
		"notify stopped "+s.own+" token=1")
	s.caused()
}

// ends ends the term by an event of any kind.
func (s *scene) ends(ev events.Event, reason events.Reason) {
	ev.Session = 1
	s.add("latch-1", ev, "leading", "draining", "notify stopped "+s.own+" token=1")
	s.because(reason)
}

func (s *scene) read(t *testing.T, name string) *Log {
	t.Helper()
	l, err := Read(name, events.Header{Dump: s.dump}, &noting{each: each{s.records}, notes: s.notes, end: s.end})
	if err != nil || len(l.terms) != 1 {
		t.Fatal(err, len(l.terms))
	}
	return l
}

func clockNote(at, jumped, slept int64) events.Note {
	return events.Note{Clock: &events.ClockNote{At: at * ms, Jumped: jumped * ms, Slept: slept * ms}}
}

func lateNote(at, by int64) events.Note {
	return events.Note{Late: &events.Late{At: at * ms, By: by * ms}}
}

// unconfirmed ends the term at its deadline, by a timer of the session machine.
func (s *scene) unconfirmed(at, paused int64) {
	s.session(events.Event{Kind: events.TimerFired, At: at, Paused: paused * ms}, "connected", "connected")
	s.stop(1, at, events.ConnectionUnconfirmed)
	if s.records[len(s.records)-1].Event.Paused = paused * ms; paused > 0 {
		s.because(events.ReasonOwnPause)
	}
	s.caused()
}
