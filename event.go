package incumbent

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/flightlog"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/machines"
)

// Event is one of the rarer things that happen to a client: see Config.Observe.
type Event struct {
	At         time.Time // by this machine's wall clock
	Client     string    // Config.Name
	Seq, Cause uint64    // of the step in the flight recorder's log; 0 if no step of the loop belongs to the event
	Detail     Detail
}

// Detail says what happened: a ConnectionChanged, Queued, TermBegan, TermEnded, WorkEnded,
// WorkOverdue, Trouble, Recovered, Confirmed, ProcessPaused, ItemDone, RecorderFailed or
// EventsDropped. More types may come with any release: a switch needs a default.
type Detail interface{ detail() }

// ConnectionChanged is a new state of the connection.
type ConnectionChanged struct {
	From, To  ConnectionState
	For       time.Duration // how long it was in the state From
	Server    string        // that is connected now; "" if none is
	Session   int64         // the number of the client's ZooKeeper session, from 1
	SessionID int64         // ZooKeeper's id of it, 0 if it is not known
	Granted   time.Duration // the session timeout, if it is connected
	Err       error         // why there is no connection; nil if there is one
	Paused    time.Duration // for how long this process did not run, if that is why
}

// Place says which participant an event is about.
type Place struct {
	Path, Recipe, ID string // the line's directory, such as "latch", and what LatchOptions.ID says
	Node             string // the own node
	Token            int64  // its czxid
	Session          int64  // the number of the client's ZooKeeper session
	SessionID        int64  // ZooKeeper's id of it, 0 if it is not known
	Shard            string // which shard, of Shards; "" for other recipes
}

// Queued is a participant that has others ahead of it.
type Queued struct {
	Place  Place
	Ahead  int
	Behind string // the node that it waits for
}

// TermBegan is the beginning of a term of leadership, or of a hold of a lock.
type TermBegan struct {
	Place    Place
	Waited   time.Duration // since the own node was asked for; of one node, since it was first looked at; 0 for a shard
	Takeover time.Duration // since the deletion of the node ahead was seen; 0 if none was
}

// TermEnded is the end of a term: Lost has the reason, BelievedUntil and Led.
type TermEnded struct {
	Place Place
	Lost  *LostError
}

// WorkEnded is the return of one piece of work under a term.
type WorkEnded struct {
	Place   Place
	Late    time.Duration // how long it went on after it had to end; 0 if it returned before
	Overran bool          // its LatchOptions.WorkGrace had ended: the participant went on without it
}

// WorkOverdue is work that goes on long after it had to end.
type WorkOverdue struct {
	Place Place
	Err   error // an ErrWorkRunning that names the work
}

// Trouble is a failure of a handle, which goes on trying.
type Trouble struct {
	Path, Recipe string
	Err          error
}

// Recovered is the end of a Trouble.
type Recovered struct {
	Path, Recipe string
	For          time.Duration // since the first failure
}

// Confirmed is the answer to a heartbeat.
type Confirmed struct {
	Strength string        // "sync", "check", or "write": another request that the quorum committed
	Took     time.Duration // from the sending of the request to its answer
	Margin   time.Duration // what was left of belief when it came; 0 if there was none
	Budget   time.Duration // how long belief lasts after the sending of a request that confirms
	Code     events.Code   // why it confirmed nothing; "" if it did
}

// ProcessPaused is a time in which this process did not run: it was stopped, its machine or
// container was suspended, or it got no CPU.
type ProcessPaused struct{ For time.Duration }

// ItemDone is an item of a queue that was handed to the handler of a Consumer.
type ItemDone struct {
	Path   string // the queue's
	Try    int
	Took   time.Duration
	Result string // "done", "failed", or "withdrawn": another consumer may have it
}

// RecorderFailed is the end of the recording: Config.Record failed.
type RecorderFailed struct{ Err error }

// EventsDropped says how many events were dropped before this one: Config.Observe was too slow.
type EventsDropped struct{ Count uint64 }

func (ConnectionChanged) detail() {}
func (Queued) detail()            {}
func (TermBegan) detail()         {}
func (TermEnded) detail()         {}
func (WorkEnded) detail()         {}
func (WorkOverdue) detail()       {}
func (Trouble) detail()           {}
func (Recovered) detail()         {}
func (Confirmed) detail()         {}
func (ProcessPaused) detail()     {}
func (ItemDone) detail()          {}
func (RecorderFailed) detail()    {}
func (EventsDropped) detail()     {}

// ConnectionState is the state of the connection, in Curator's words.
type ConnectionState string

// The states. Suspended says nothing yet about the session. Lost says that the session has
// to be taken for dead. Connected comes once, for the first connection.
const (
	Connecting  ConnectionState = "CONNECTING" // before the first connection; listeners never get it
	Connected   ConnectionState = "CONNECTED"
	Suspended   ConnectionState = "SUSPENDED"
	Reconnected ConnectionState = "RECONNECTED"
	Lost        ConnectionState = "LOST"
)

// observed passes events to Config.Observe, on a goroutine of its own. It never blocks.
type observed struct {
	name  string      // of the client
	f     func(Event) // nil: nobody observes
	mail  async.Mailbox[Event]
	step  stepMark // of the notice that is being delivered; only the loop uses it
	steps []stepMark

	dropped atomic.Uint64
}

// stepMark is the step that an effect is from.
type stepMark struct{ seq, cause uint64 }

// maxUnobserved is how many events wait for Config.Observe at most. A member of shards may own 4096 for a moment, and
// each has three events: of its term, and of its work.
const maxUnobserved = 4 * machines.MaxShards

func (o *observed) init(name string, log *journal.Logger, f func(Event)) {
	o.name, o.f = name, f
	o.mail.Func, o.mail.Panicked = f, log.LogPanic("Config.Observe", "")
	o.mail.Max, o.mail.Dropped = maxUnobserved, &o.dropped
	o.mail.Missing = func(n uint64) Event { return o.event(stepMark{}, EventsDropped{n}) }
}

func (o *observed) on() bool { return o.f != nil }

// emit passes an event about something that the loop has just done; only the loop calls it.
func (o *observed) emit(d Detail) { o.send(o.step, d) }

// emitOutsideStep passes an event that belongs to no step.
func (o *observed) emitOutsideStep(d Detail) { o.send(stepMark{}, d) }

func (o *observed) send(mark stepMark, d Detail) {
	if o.f == nil {
		return
	}
	o.mail.Put(o.event(mark, d))
}

func (o *observed) event(mark stepMark, d Detail) Event {
	return Event{At: clock.Wall(0), Client: o.name, Seq: mark.seq, Cause: mark.cause, Detail: d}
}

// mark notes the step of each notice that it makes; the executor gets them in this order.
func (o *observed) mark(seq, cause uint64, effects []events.Effect) {
	for _, e := range effects {
		if _, notice := e.(events.Notify); notice {
			o.steps = append(o.steps, stepMark{seq, cause})
		}
	}
}

// delivering takes the mark of the notice that is delivered next.
func (o *observed) delivering() {
	if len(o.steps) == 0 {
		return
	}
	o.step = o.steps[0]
	if o.steps = o.steps[1:]; len(o.steps) == 0 {
		o.steps = nil
	}
}

// What a LostError is about.
const (
	whatLeadership = "leadership"
	whatLock       = "lock"
	whatPermits    = "permits"
	whatItems      = "items"
	whatShards     = "the shard"
)

// LostError is the error of every term of leadership, and of every hold of a lock, that has
// ended: the cause of its context, the error of Check, Write and Unlock, and what
// Listener.NotLeader gets. errors.As finds it. It is ErrLeadershipLost; that of a lock or of
// permits is ErrLockLost, too.
type LostError struct {
	Reason  Reason
	What    string        // "leadership", "lock", "permits", "items" or "the shard"
	Path    string        // the directory of the line
	Node    string        // the own node; "" if it was lost before it was held
	Token   int64         // the own node's czxid; 0 if it was lost before it was held
	Session int64         // the number of the client's ZooKeeper session, from 1
	Paused  time.Duration // for how long this process did not run, with ReasonOwnPause; else 0
	Led     time.Duration // from the beginning of the term until BelievedUntil
	// BelievedUntil is the instant until which it was believed, by this machine's wall clock:
	// if the clock ended it, the deadline, however much later the process noticed. It is not
	// after Leadership.AloneUntil, except after a deletion of the own node: that is noticed
	// when the server reports it.
	BelievedUntil time.Time

	detail string // of the failure, for people
}

// Error says what ended, its path and token, and why: "incumbent: leadership of
// /jobs/nightly (token 5) lost: the connection ended, perhaps with the session".
func (e *LostError) Error() string {
	text := "incumbent: " + e.subject()
	if e.Token != 0 {
		text += fmt.Sprintf(" (token %d)", e.Token)
	}
	if e.Reason.Planned() {
		text += " ended: "
	} else {
		text += " lost: "
	}
	text += e.why()
	if e.detail != "" {
		text += ": " + events.Foreign(e.detail, events.MaxText)
	}
	return text
}

func (e *LostError) subject() string {
	if e.What == whatLock {
		return "lock " + fault.Path(e.Path)
	}
	return e.What + " of " + fault.Path(e.Path)
}

// why returns the reason's sentence. A lock has no work that returns, and a pause has a
// length.
func (e *LostError) why() string {
	switch {
	case e.What != whatLeadership && e.Reason == ReasonReturned:
		return "released"
	case e.Reason == ReasonOwnPause && e.Paused > 0:
		return events.PauseText(e.Paused)
	}
	return e.Reason.String()
}

// endsAll reports whether all terms of the client end for this reason.
func (e *LostError) endsAll() bool {
	switch e.Reason {
	case ReasonSuspended, ReasonSessionOver, ReasonUnconfirmed, ReasonOwnPause:
		return true
	}
	return false
}

// addReason adds to a line of the log why the term ended.
func (e *LostError) addReason(line *zerolog.Event) {
	line.Str("reason", string(e.Reason)).Str("why", e.why())
	journal.AddInstant(line, "believed_until", e.BelievedUntil)
	journal.AddPause(line, e.Paused)
}

// Is reports whether target is ErrLeadershipLost, or ErrLockLost for a lock or permits.
func (e *LostError) Is(target error) bool {
	return target == ErrLeadershipLost ||
		target == ErrLockLost && e.What != whatLeadership && e.What != whatItems && e.What != whatShards
}

// LostReason returns the reason in an error that is ErrLeadershipLost or ErrLockLost, and
// "" if there is none.
func LostReason(err error) Reason {
	var lost *LostError
	if errors.As(err, &lost) {
		return lost.Reason
	}
	return ""
}

// addFailure adds an error and its code; nothing for nil.
func addFailure(e *zerolog.Event, err error) {
	var coded *Error
	if errors.As(err, &coded) {
		e.Str("code", string(coded.Code))
	}
	journal.AddErr(e, err)
}

// addCause adds a notice's code, if it has one, and its sentence.
func addCause(e *zerolog.Event, n events.Notify) {
	if n.Code != "" {
		e.Str("code", string(n.Code))
	}
	e.Str("why", fault.Path(n.Text))
	journal.AddPause(e, n.Paused)
}

// RecordSync says when the flight log is forced to the disk. It is for the loss of power:
// what was written survives the end of the process in any case.
type RecordSync int

// The values of RecordSync.
const (
	SyncNever  = RecordSync(flightlog.SyncNever)  // the operating system decides
	SyncTerms  = RecordSync(flightlog.SyncTerms)  // when a term begins or ends
	SyncAlways = RecordSync(flightlog.SyncAlways) // after each write
)

// RecordOptions are the settings of RecordIn. The zero value is a good one.
type RecordOptions struct {
	// Segment is how many bytes a file has, before it is compressed, when the next one
	// begins. Twice the bytes of the checkpoints in the file are added. Default 16 MiB, at
	// least 64 KiB, at most 1 TiB.
	Segment int64
	// Keep is how many bytes all files of the directory may have, those of other clients
	// and of earlier runs included. If they have more, the oldest are deleted. Default
	// 256 MiB, or twice Segment if that is more; at least twice Segment; -1 deletes none.
	// Each file but the first begins with a checkpoint, the state of all machines, unless
	// that has more than an eighth of Keep.
	Keep int64
	// Sync says when the flight log is forced to the disk. Default SyncNever.
	Sync RecordSync
	// Ring, if it is not 0, is how many of the last records are kept, in memory only. They
	// are written into a new file of the directory when a leadership is lost, and by
	// Client.SaveRecord. Open only tries whether a file can be created, and the log says if
	// not. Up to twice as many records are kept, or twice the number of handles if that is
	// more, because the file begins with a checkpoint, which is copied no more often. At most
	// 1,000,000.
	Ring int
}

// FlightLog is where one client records: RecordIn makes one of a directory, RecordTo one of a
// writer. A client of its own needs a FlightLog of its own.
type FlightLog struct {
	writer  io.Writer // of RecordTo
	inDir   bool      // it is of RecordIn
	dir     string
	options RecordOptions
	taken   atomic.Bool
}
