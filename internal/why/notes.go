package why

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// text says what happened to a log's wall clock; the clock of its loop may also have stood still, or run on.
func (j jump) text(name, at string) string {
	if j.by < 0 {
		return name + "'s wall clock was set back by " + span(-j.by) + " at " + at + ", or its loop's clock ran on"
	}
	return name + "'s wall clock was set forward by " + span(j.by) + " at " + at + ", or its loop's clock stood still"
}

// takeNotes has the reader give the lines that are no records to the log.
func (l *Log) takeNotes(r Reader) {
	each := func(before func(events.Note)) func(events.Note) {
		return func(n events.Note) {
			if before != nil {
				before(n)
			}
			l.addNote(n)
		}
	}
	switch r := r.(type) {
	case *events.Reader:
		r.Notes = each(r.Notes)
	case *events.Segments:
		r.Notes = each(r.Notes)
	case interface{ EachNote(func(events.Note)) }:
		r.EachNote(l.addNote)
	}
}

// takeEnd notes how the log ended.
func (l *Log) takeEnd(r Reader) {
	if t, ok := r.(interface{ Torn() bool }); ok {
		l.Torn = t.Torn()
	}
	if e, ok := r.(interface{ End() *events.End }); ok {
		l.lastLine = e.End()
	}
}

func (l *Log) addNote(n events.Note) {
	switch {
	case n.Checkpoint != nil:
		l.takeCheckpoint(*n.Checkpoint)
	case n.Late != nil:
		l.late = max(l.late, time.Duration(n.Late.By))
	case n.Write != nil:
		l.writes = append(l.writes, *n.Write)
	case n.Clock != nil && (n.Clock.Jumped != 0 || n.Clock.Slept != 0):
		l.jumps = append(l.jumps,
			jump{l.lastSeq, n.Clock.At, time.Duration(n.Clock.Jumped), time.Duration(n.Clock.Slept)})
	}
}

// takeLate notes that the loop was late, if a note said so and the process ran meanwhile.
func (l *Log) takeLate(r events.Record) {
	if l.late == 0 {
		return
	}
	if ev := r.Event; ev.Kind == events.TimerFired && ev.Paused == 0 {
		l.lateness = append(l.lateness, pause{r.Seq, ev.At, l.late})
	}
	if !r.Internal {
		l.late = 0
	}
}

// sleptBetween returns the longest time in which the machine slept, that was noticed between two
// instants, and the record before the note of it.
func (l *Log) sleptBetween(from, to int64) (most jump) {
	for _, j := range l.jumps {
		if j.at >= from && j.at <= to && j.slept > most.slept {
			most = j
		}
	}
	return most
}

// aheadBetween returns by how much the wall clock went ahead of the loop's between two instants at most.
func (l *Log) aheadBetween(from, to int64) (most jump) {
	for _, j := range l.jumps {
		if j.at >= from && j.at <= to && j.by > most.by {
			most = j
		}
	}
	return most
}
