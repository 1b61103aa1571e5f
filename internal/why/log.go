package why

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Reader is what Read reads: *events.Reader, *events.Segments, or anything else with one client's
// records in their order. After an *events.Gap it can be called again. If it has a method
// EachNote(func(events.Note)), Read learns from it of the lines that are no records, if Torn() bool and
// End() *events.End, how the log ended.
type Reader interface {
	Next() (events.Record, error)
}

// Log is what one client's records say. Make one with Read.
type Log struct {
	Name    string // cited with each sentence, as in "host1:43"
	Header  events.Header
	Records int
	Torn    bool   // the last line had no end
	Damage  string // why the rest of it could not be read, which the caller of Read sets; "": all was
	Clock   string // logs with the same non-empty Clock were written on one clock: the same host, since its start

	wall        int64 // of Header.Start, nanoseconds since 1970; 0 if unknown
	first, last int64 // readings of the loop's clock
	lastSeq     uint64
	closed      bool // the session machine has ended
	tick        time.Duration
	recs        briefs
	gaps        []*hole
	session     sessionState
	sessions    []*session
	machines    map[events.ID]*machine
	terms       []*Term
	open        map[events.ID][]*Term // the terms that have not ended, by machine
	pending     map[timerKey][]int    // deletes without an answer: where they are in deletes
	nodes       map[string]*node
	leases      map[string]*lease       // permits, by path
	itemsAsked  map[timerKey]*itemWrite // transactions about a job's items without an answer
	items       []*itemWrite
	givenBack   map[timerKey][]string // what a semaphore's transactions without an answer delete
	sights      blocks[sight]
	stamps      blocks[stamp]
	pauses      []pause
	lateness    []pause // timers that fired late although the process ran
	timers      map[timerKey]int64
	failures    []failure
	headless    map[events.ID]*headless
	refusals    []failure // of requests for a confirmation, by the ensemble
	listings    map[events.ID]listing
	seen        map[string]map[string]uint64 // by directory and name: the first record whose listing has a node
	owners      map[string]int64             // by path: the session that owns a node
	gone        []sighting                   // watches and reads that show that a node is gone
	deletes     []deletion
	tried       map[string]bool       // what transactions were to create
	jumps       []jump                // of the wall clock, and times in which the machine slept
	late        time.Duration         // a note of it stands before the next record
	lastLine    *events.End           // the last line, if the log was ended in order
	writes      []events.Write        // guarded ones
	absent      map[string][][2]int64 // by directory: between which two numbers of a listing it has no node
	goneSeqs    map[string][]uint64   // the records in gone, by path: see sawGone
	nodesEnded  map[string]bool       // what endedNodes returns
	unread      []uint64              // records with an effect that could not be read
	markers     []marker              // nodes of a job's leaders, as they were seen
}

// hole is a gap in the log.
type hole struct {
	gap           events.Gap
	before, after int64 // readings of the clock at the last record before and the first after
}

// pause is a time in which the process, or its loop, did not run.
type pause struct {
	seq  uint64
	at   int64 // when it was noticed
	long time.Duration
}

type timerKey struct {
	machine events.ID
	number  uint64
}

// failure is what kept a machine from leading.
type failure struct {
	seq     uint64
	at      int64
	machine events.ID
	code    events.Code
	text    string
	givenUp bool // the machine gave its place up for it
}

// machine is one machine of the client, as it was opened.
type machine struct {
	recipe, path, id string
	opener           events.ID
	reads            bool // a read-write lock's reading side
	permits, limit   int  // of a semaphore's acquisition; 0 for other recipes
	kazoo            bool // a semaphore on kazoo's names
	works            int  // pieces of work that run
	stints           []stint
	stays            []*stay
	lastTerm         *Term
}

// session is one ZooKeeper session.
type session struct {
	number, id int64
	timeout    time.Duration
	attached   []attach
	suspended  []loss
	lost       *loss  // it is over
	closeAsked uint64 // the seq of the record that asked for its end; 0: none did
	closed     uint64 // the seq of the answer
}

type attach struct {
	seq    uint64
	at     int64
	server string
}

// loss is the end of a connection or of a session.
type loss struct {
	seq    uint64
	at     int64
	code   events.Code
	end    events.ConnectionEnd // of a connection; "" in logs of older versions
	text   string
	paused time.Duration
}

// sessionState is what holds at the present record.
type sessionState struct {
	current  *session
	deadline int64 // until when the client may believe; 0: not at all
	granted  int64 // the same, by the records of all machines
	afterGap bool
	newGap   bool // no record has had a deadline since
}

// Read reads one client's records to their end. Its error is an *events.DamagedError, or the
// reader's own; the Log then has what was read before. It never fails on a gap.
func Read(name string, header events.Header, r Reader) (*Log, error) {
	l := &Log{Name: name, Header: header, machines: map[events.ID]*machine{}, listings: map[events.ID]listing{},
		open: map[events.ID][]*Term{}, pending: map[timerKey][]int{}, seen: map[string]map[string]uint64{},
		owners: map[string]int64{}, nodes: map[string]*node{}, leases: map[string]*lease{},
		givenBack: map[timerKey][]string{}, timers: map[timerKey]int64{}, tried: map[string]bool{},
		headless: map[events.ID]*headless{}}
	l.itemsAsked = map[timerKey]*itemWrite{}
	if t, err := time.Parse(time.RFC3339Nano, header.Start); err == nil {
		l.wall = t.UnixNano()
	}
	if header.Clock == "boottime" { // of the host, not of the process
		l.Clock = header.Boot
	}
	l.tick, _ = time.ParseDuration(header.Options["tick"])
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

// Span returns the times of the first and the last record, by the host's own clock when the log
// began.
func (l *Log) Span() (first, last time.Time) {
	wall := func(at int64) time.Time { return time.Unix(0, l.wall+at-l.Header.StartAt).UTC() }
	return wall(l.first), wall(l.last)
}

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
	if r.To == "closed" {
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
		if s != nil && s.number == ev.Session && r.From == "connected" {
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
		m := &machine{recipe: ev.Recipe, path: ev.Path, id: string(ev.Data), opener: events.ID(ev.Options["opener"]), reads: ev.Options["reads"] == "true", kazoo: ev.Options["kazoo"] == "true"}
		m.id = cmp.Or(m.id, ev.Options["instance"])
		m.permits, _ = strconv.Atoi(ev.Options["permits"])
		m.limit, _ = strconv.Atoi(ev.Options["limit"])
		l.machines[r.Machine] = m
	case events.WorkReturned:
		l.workReturned(r)
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

// machineOf returns what is known of a machine; of one that was opened before the log begins,
// only what its name says.
func (l *Log) machineOf(id events.ID) *machine {
	m := l.machines[id]
	if m == nil {
		m = &machine{recipe: recipeOf(id)}
		l.machines[id] = m
	}
	return m
}

// rec returns what is kept of a record; its seq is 0 if there is none.
func (l *Log) rec(seq uint64) brief { return l.recs.numbered(seq) }

// chain returns a record and those that caused it, back to what came from outside.
func (l *Log) chain(seq uint64) (all []brief) {
	for seq != 0 && len(all) < 100 {
		r := l.rec(seq)
		if r.seq == 0 {
			break
		}
		all = append(all, r)
		if r.cause >= seq {
			break
		}
		seq = r.cause
	}
	return all
}

// sessionNumbered returns a session, nil for none.
func (l *Log) sessionNumbered(n int64) *session {
	for _, s := range l.sessions {
		if s.number == n {
			return s
		}
	}
	return nil
}
