package why

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Read reads one client's records to their end. Its error is an *events.DamagedError, or the
// reader's own; the Log then has what was read before. It never fails on a gap.
func Read(name string, header events.Header, r Reader) (*Log, error) {
	l := &Log{Name: name, Header: header, machines: map[events.ID]*machine{}, listings: map[events.ID]listing{},
		open: map[events.ID][]*Term{}, pending: map[timerKey][]int{}, seen: map[string]map[string]uint64{},
		owners: map[string]int64{}, nodes: map[string]*node{}, leases: map[string]*lease{},
		givenBack: map[timerKey][]string{}, timers: map[timerKey]int64{}, tried: map[string]bool{},
		truncated: map[events.ID]*truncatedTerm{}, plansAsked: map[timerKey]plan{}}
	l.itemsAsked = map[timerKey]*itemWrite{}
	if t, err := time.Parse(time.RFC3339Nano, header.Start); err == nil {
		l.wall = t.UnixNano()
	}
	if header.Clock == "boottime" { // of the host, not of the process
		l.Clock = header.Boot
	}
	l.tick, _ = time.ParseDuration(header.Options[machines.OptionTick])
	l.takeNotes(r)
	for {
		rec, err := r.Next()
		var gap *events.Gap
		switch {
		case errors.As(err, &gap):
			l.beginGap(&hole{gap: *gap, before: l.last})
			continue
		case errors.Is(err, io.EOF):
			l.takeEnd(r)
			return l, nil
		case err != nil:
			return l, fmt.Errorf("%s: %w", name, err)
		}
		l.add(rec)
	}
}

// Unreadable returns the log of a file of which nothing can be read, and why.
func Unreadable(name, why string) *Log {
	l, _ := Read(name, events.Header{}, NoRecords{}) // it ends immediately
	l.Damage = why
	return l
}

// NoRecords is a Reader that is at its end.
type NoRecords struct{}

// Next returns io.EOF.
func (NoRecords) Next() (events.Record, error) { return events.Record{}, io.EOF }

// add takes the next record.
func (l *Log) add(r events.Record) {
	ev := r.Event
	if l.Records == 0 {
		l.first = ev.At
	}
	l.Records++
	l.last, l.lastSeq = ev.At, r.Seq
	if ev.ValidUntil > 0 {
		l.session.granted = ev.ValidUntil
	}
	if n := len(l.gaps); n > 0 && l.gaps[n-1].after == 0 {
		l.gaps[n-1].after = ev.At
	}
	l.recs.add(brief{r.Seq, r.Cause, ev.At, r.Machine, ev.Kind, r.Row})
	if ev.Paused > 0 {
		l.pauses = append(l.pauses, pause{r.Seq, ev.At, time.Duration(ev.Paused)})
	}
	l.takeLate(r)
	l.resumeAfterGap(r)
	if r.Machine == events.SessionMachine {
		l.addSession(r)
	}
	l.addEvent(r)
	l.addReply(r)
	l.addMarker(r)
	l.addStay(r)
	for _, effect := range r.Effects {
		l.addEffect(r, effect)
	}
	if r.To != r.From && l.class(r.Machine, r.To) == events.ClassClosed {
		delete(l.listings, r.Machine) // what a term needs of it, it has
		l.closed = l.closed || r.Machine == events.SessionMachine
	}
}

// addSession notes what happens to the connection and its session.
func (l *Log) addSession(r events.Record) {
	ev := r.Event
	s := l.session.current
	lost := loss{r.Seq, ev.At, ev.Code, ev.End, ev.Text, time.Duration(ev.Paused)}
	switch ev.Kind {
	case events.ConnectionAttached:
		if r.Row == events.RowLate || r.Row == events.RowIgnored {
			return
		}
		if s == nil || s.number != ev.Session {
			s = &session{number: ev.Session}
			l.session.current = s
			l.sessions = append(l.sessions, s)
		}
		s.id, s.timeout = ev.SessionID, time.Duration(ev.Timeout)
		s.attached = append(s.attached, attach{r.Seq, ev.At, ev.Server})
	case events.ConnectionSuspended:
		if s != nil && s.number == ev.Session && l.class(r.Machine, r.From) == events.ClassActive {
			s.suspended = append(s.suspended, lost)
		}
	case events.ConnectionLost:
		if s != nil && (s.number == ev.Session || ev.Session == 0) && s.lost == nil {
			s.lost = &lost
		}
	case events.ConnectionClosed:
		if s != nil && s.number == ev.Session && s.closeAsked != 0 {
			s.closed = r.Seq
		}
	}
}

// addEvent notes what happens to machines.
func (l *Log) addEvent(r events.Record) {
	ev := r.Event
	switch ev.Kind {
	case events.CommandOpen:
		m := &machine{recipe: ev.Recipe, path: ev.Path, id: string(ev.Data),
			opener: events.ID(ev.Options[machines.OptionOpener]),
			reads:  ev.Options[machines.OptionReads] == "true", kazoo: ev.Options[machines.OptionKazoo] == "true"}
		m.id = cmp.Or(m.id, ev.Options[machines.OptionInstance])
		m.permits, _ = strconv.Atoi(ev.Options[machines.OptionPermits])
		m.limit, _ = strconv.Atoi(ev.Options[machines.OptionLimit])
		l.machines[r.Machine] = m
	case events.WorkReturned:
		if !l.shardReturned(r) {
			l.workReturned(r)
		}
	case events.WatchDeleted:
		l.gone = append(l.gone, sighting{r.Seq, ev.At, ev.Path})
	case events.TimerFired:
		key := timerKey{r.Machine, ev.Request}
		if due, set := l.timers[key]; set && ev.Paused == 0 && ev.At > due {
			if late := time.Duration(ev.At - due); late > 20*time.Millisecond {
				l.lateness = append(l.lateness, pause{r.Seq, ev.At, late})
			}
		}
		delete(l.timers, key)
	}
}
