package journal

import (
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
)

const (
	maxOutageLines = 20 // more participants than this share two lines about an outage
	maxOutagePaths = 5  // that the second line names
)

// Member is a participant of a client.
type Member interface {
	Path() string
	Class() events.Class // of the machine's state
	Leads() bool
}

// Outages finds out which participants of a client an outage affects: a lost connection, a
// session that is over, a deadline that passed for all. It decides how the log has that. If
// more than maxOutageLines are affected, their own lines are at debug level, and one line
// says that the outage began and one that it is over. Participants call it on the loop's
// goroutine, and so does the connection; its timer does not. It never blocks.
type Outages struct {
	Log     *Logger
	Now     func() int64         // the loop's clock
	Timeout func() time.Duration // of the session
	Members iter.Seq[Member]     // all of the client, whatever their states are

	mu      sync.Mutex
	present *outageNow // nil: there is no outage
}

// outageNow is one outage.
type outageNow struct {
	affected  map[Member]events.Class // of the last state of each
	unsettled int                     // those that do not lead, and are not in line or closed
	away      bool                    // there is no connection
	led       bool                    // a participant led when it was affected
	since     int64                   // the loop's clock
	logged    bool                    // the first line was written
	limit     *time.Timer             // when the wait for those that are not settled ends
}

// settled has the classes of states after which an outage affects a participant no longer, and of each the one that it
// is counted with.
var settled = map[events.Class]events.Class{
	events.ClassLeading: events.ClassLeading,
	events.ClassQueued:  events.ClassQueued, events.ClassStandby: events.ClassQueued,
	events.ClassClosed: events.ClassClosed, events.ClassIdle: events.ClassClosed,
}

// Entered takes the class of a participant's new state.
func (o *Outages) Entered(p Member, is events.Class) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.present; now != nil {
		if before, affected := now.affected[p]; affected {
			now.set(p, before, is)
			o.endIfSettled()
		}
	}
}

// Disconnected begins an outage that affects all participants, or goes on with it. It
// reports whether any of them led when the outage began.
func (o *Outages) Disconnected() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil {
		o.begin()
	}
	o.present.stop()
	o.present.away = true
	for p := range o.started() {
		o.present.add(p)
	}
	return o.present.led
}

// Reconnected notes that there is a connection again. What is not settled within a session
// timeout from now is reported as it is then.
func (o *Outages) Reconnected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil {
		return
	}
	o.present.away = false
	o.wait()
	o.endIfSettled()
}

// Ended takes an end of a term that ends all terms of the client. The term is over only after this call. An outage
// begins, unless there is one. Why adds to a line why the term ended.
func (o *Outages) Ended(why func(*zerolog.Event)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil {
		o.begin()
		for p := range o.started() {
			if p.Leads() {
				o.present.add(p)
			}
		}
		o.wait()
	}
	o.logBegin(why)
}

// Level returns the level of a participant's line: lower if two lines about the outage
// replace it.
func (o *Outages) Level(p Member, level zerolog.Level) zerolog.Level {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present == nil || len(o.present.affected) <= maxOutageLines {
		return level
	}
	if _, affected := o.present.affected[p]; !affected {
		return level
	}
	o.logBegin(nil)
	return zerolog.DebugLevel
}

// Close ends the wait of an outage: nothing is logged after the client's end.
func (o *Outages) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.present != nil {
		o.present.stop()
		o.present = nil
	}
}

// The caller of the methods below holds the lock.

func (o *Outages) begin() {
	o.present = &outageNow{affected: map[Member]events.Class{}, since: o.Now()}
}

// wait sets the time when the outage is reported as over although some are not settled.
func (o *Outages) wait() {
	now := o.present
	now.stop()
	now.limit = time.AfterFunc(o.Timeout(), func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.present == now && !now.away {
			o.end()
		}
	})
}

// endIfSettled ends the outage if it affects nobody any longer. Without a connection, that is when
// all have closed.
func (o *Outages) endIfSettled() {
	if o.present.unsettled == 0 && (!o.present.away || !o.anyStarted()) {
		o.end()
	}
}

// started returns the participants that have started and not closed.
func (o *Outages) started() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for p := range o.Members {
			is := p.Class()
			if is != events.ClassLatent && is != events.ClassClosed && !yield(p) {
				return
			}
		}
	}
}

func (o *Outages) anyStarted() bool {
	for range o.started() {
		return true
	}
	return false
}

func (o *Outages) end() {
	o.present.stop()
	if o.present.logged {
		o.logEnd()
	}
	o.present = nil
}

// logBegin writes the first of the two lines, once. Why is that of the first term that ended; nil
// if none has.
func (o *Outages) logBegin(why func(*zerolog.Event)) {
	now := o.present
	if now.logged || len(now.affected) <= maxOutageLines {
		return
	}
	now.logged = true
	led := 0
	for p := range now.affected {
		if p.Leads() {
			led++
		}
	}
	participants := len(now.affected)
	o.Log.Log(zerolog.WarnLevel, "outage", func(e *zerolog.Event) {
		e.Int("participants", participants).Int("led", led)
		if why != nil {
			why(e)
		}
	})
}

// logEnd writes the second of the two lines.
func (o *Outages) logEnd() {
	now := o.present
	counts, paths := map[events.Class]int{}, []string{}
	for p, is := range now.affected {
		counts[settled[is]]++
		if settled[is] == "" {
			paths = append(paths, p.Path())
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	paths = paths[:min(len(paths), maxOutagePaths)]
	level := zerolog.InfoLevel
	if now.unsettled > 0 {
		level = zerolog.WarnLevel
	}
	took := time.Duration(o.Now() - now.since)
	participants, unsettled := len(now.affected), now.unsettled
	o.Log.Log(level, "outage over", func(e *zerolog.Event) {
		e.Int("participants", participants).Int("leading", counts[events.ClassLeading]).
			Int("queued", counts[events.ClassQueued]).Int("ended", counts[events.ClassClosed]).
			Int("unsettled", unsettled).Int64("outage_ms", took.Milliseconds())
		if unsettled > 0 {
			e.Strs("paths", paths)
		}
	})
}

// add makes the outage affect a participant, as it is now.
func (n *outageNow) add(p Member) {
	if _, affected := n.affected[p]; affected {
		return
	}
	n.led = n.led || p.Leads()
	n.set(p, events.ClassLeading, p.Class()) // as if it had been settled before
}

// set notes a participant's new state.
func (n *outageNow) set(p Member, before, is events.Class) {
	if settled[before] == "" {
		n.unsettled--
	}
	if settled[is] == "" {
		n.unsettled++
	}
	n.affected[p] = is
}

// stop stops the timer.
func (n *outageNow) stop() {
	if n.limit != nil {
		n.limit.Stop()
	}
}
