package machines

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of the session machine.
const (
	offline    engine.State = "offline"    // not asked to connect yet
	connecting engine.State = "connecting" // no server has confirmed this session yet
	connected  engine.State = "connected"  // a server has; requests go out
	lost       engine.State = "lost"       // the session timeout went by without a server: it must be taken for dead
	resting    engine.State = "resting"    // the session is over; the next one begins after a pause
	ending     engine.State = "ending"     // closeSession is on its way
)

// Timers of the session machine.
const (
	heartbeatTimer = "heartbeat"       // when to ask for the next confirmation
	deadlineTimer  = "deadline"        // when belief ends unless it was confirmed before
	elapsedTimer   = "session-timeout" // when a session without a server must be taken for dead
	restTimer      = "rest"            // the pause before the next session
)

// pauseAfterGiveUp is the pause between sessions once the retry policy has given up:
// a client that was not closed goes on trying.
const pauseAfterGiveUp = 5 * time.Second

// syncsPerCheck is after how many heartbeats that check no node one does, where a
// sync would be enough: servers do not tell whoever may not read its node any more
// that it is gone.
const syncsPerCheck = 3

// session is the connection as a machine: it numbers ZooKeeper sessions, runs
// the heartbeat while somebody leads or is next in line, and alone knows until
// when anything may be believed (promises 2 to 4).
type session struct {
	tick            time.Duration
	syncLimit       int
	observerMasters bool
	rideOut         bool
	retry           Policy
	dice            jitter

	number        int64 // of the current ZooKeeper session; 0 between two
	opened        int64 // numbers given out
	id            int64 // ZooKeeper's own
	timeout       time.Duration
	attached      bool
	attachedAt    int64 // when the present connection began
	everConnected bool  // some session was connected before
	failures      int   // sessions lost in a row without a connection
	lostTold      bool  // LOST was told for the outage that is going on
	closing       uint64
	replaced      bool // the session is being ended, and another is to begin

	heard      int64 // when the ensemble's leader or quorum answered last
	heardSent  int64 // and when that was asked for
	countsFrom int64 // only what is asked for from then on confirms: the leader stood still

	quorum           bool  // a committed write was acknowledged on this connection
	confirmed        int64 // when the last confirmed request was sent
	validUntil       int64
	pendingHeartbeat uint64         // the heartbeat that is not answered yet
	verifying        uint64         // the read behind it
	checkedEntry     heartbeatEntry // whose node it checks
	syncs            int            // heartbeats in a row that checked none
	missedHeartbeats int            // heartbeats in a row that confirmed nothing
	since            int64          // since when heartbeats run without a break; 0: they do not
	heartbeats       heartbeatSet

	// The servers were found to know no containers. It is kept for as long as the client
	// lives, over reconnects and sessions. An ensemble that is being upgraded has servers
	// of both kinds, and a container that a new one let through would be a transaction
	// that an old one cannot read; persistent parents are understood by all.
	noContainers bool

	heartbeat, deadline, elapsed uint64 // running timers
}

// SessionRecipe makes the machine that every loop has once, under the id
// events.SessionMachine. Options: "tick", "syncLimit", "observerMasters", "rideOut",
// "retry".
var SessionRecipe = engine.NewRecipe(sessionChart, newSession)

func newSession(open events.Event) (*session, error) {
	o := options{values: open.Options}
	s := &session{
		tick:            o.duration("tick", 2*time.Second),
		syncLimit:       o.integer("syncLimit", 5),
		observerMasters: o.flag("observerMasters"),
		rideOut:         o.flag("rideOut"),
		retry:           o.policy("retry", BoundedExponential(-1, 200*time.Millisecond, 5*time.Second)),
		dice:            newJitter(open.Seed),
	}
	return s, o.err
}

// Stamp tells an event what is known of the session.
func (s *session) Stamp(ev *events.Event) {
	ev.Attached = s.attached
	if s.quorum || !s.attached {
		ev.ValidUntil = s.validUntil
	}
	if s.unsettled(*ev) {
		ev.AskAt = s.askAt(ev.At)
	}
	ev.NoContainers = s.noContainers && ev.Code == events.NoNode
	if ev.Session == 0 {
		ev.Session = s.number
	}
	switch ev.Kind {
	case events.CommandStart, events.CommandAwait, events.CommandRequeue, events.CommandEnter: // what a participant may begin with
		ev.SessionID = s.id
	}
}

// Current is the session whose answers count.
func (s *session) Current() int64 { return s.number }

// Confirms picks the replies that make a confirmation of quorum strength: a
// committed write, sent on this connection. Reads, pings and errors confirm
// nothing. To keep the log short, writes that come soon after each other count
// once; but no later than half a period after the last that was heard, so that a
// client that writes all the time never seems to have heard nothing.
func (s *session) Confirms(ev events.Event) bool {
	switch ev.Kind {
	case events.ReplyCreate, events.ReplyDelete, events.ReplyMulti:
		half := int64(s.period()) / 2
		return s.attached && ev.Code == events.OK && ev.Session == s.number && ev.SentAt >= s.attachedAt &&
			(ev.At > s.heard+half || ev.SentAt > s.heardSent+half || ev.SentAt >= s.countsFrom && (!s.quorum || ev.At >= s.validUntil))
	}
	return false
}

// noteContainersUnknown notes that parents have to be persistent nodes.
func (s *session) noteContainersUnknown(ev events.Event, out *engine.Outbox) { s.noContainers = true }

func (s *session) healthy(events.Event) bool { return s.beliefSpan(0, 0) > 0 }

// heartbeatDue reports whether the timer that fired is the heartbeat's.
func (s *session) heartbeatDue(ev events.Event) bool { return ev.Request == s.heartbeat }
func (s *session) deadlinePassed(ev events.Event) bool {
	return ev.Request == s.deadline && ev.At >= s.validUntil
}

// late is a confirmation that comes after the deadline: belief was over in
// between, so it has to be won back and not just prolonged.
func (s *session) late(ev events.Event) bool {
	return s.confirming(ev) && s.validUntil != 0 && ev.At >= s.validUntil && !s.heartbeats.empty()
}

func (s *session) confirming(ev events.Event) bool { return ev.Code == events.OK }

func (s *session) timedOut(ev events.Event) bool { return ev.Request == s.elapsed }

func (s *session) ridesOut(events.Event) bool {
	return s.rideOut && s.validUntil != 0 && !s.heartbeats.empty()
}

// connect opens the next ZooKeeper session.
func (s *session) connect(ev events.Event, out *engine.Outbox) {
	s.opened++
	s.number, s.id = s.opened, 0
	out.Effect(events.Connect{Session: s.number})
	if ev.Kind == events.CommandStart {
		out.Answer(ev.Request, events.OK, "")
	}
}

// attach begins a connection: nothing is confirmed on it yet, and what was
// ridden out ends when it would have ended without it.
func (s *session) attach(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.id, s.timeout, s.attached, s.failures = ev.SessionID, time.Duration(ev.Timeout), true, 0
	s.attachedAt = ev.At
	s.heard, s.heardSent, s.countsFrom = ev.At, ev.At, 0 // the leader was asked, and has touched the session
	ridden := s.validUntil
	s.unconfirmed()
	if ridden != 0 && !s.heartbeats.empty() {
		s.validUntil = ridden
		s.watchDeadline(ev, out)
	}
	told := events.Reconnected
	if !s.everConnected {
		told = events.Connected
	}
	s.everConnected, s.lostTold = true, false
	out.Notify(events.Notify{What: told, Session: s.number, Text: ev.Server})
	if !s.healthy(ev) {
		out.Notify(events.Notify{What: events.Failed, Code: events.TimeoutTooShort, Text: fmt.Sprintf(
			"the server granted a session timeout of %s, too short to lead safely with a tick of %s: ask for more, or set the ensemble's real tick", s.timeout, s.tick)})
	}
	out.Tell(events.All, events.Event{Kind: events.ConnectionAttached, Session: s.number, SessionID: s.id, Reattached: ev.Reattached})
	if !s.heartbeats.empty() {
		s.sendHeartbeat(ev, out)
	}
}

// unconfirmed forgets every confirmation of the connection before.
func (s *session) unconfirmed() {
	s.quorum, s.confirmed, s.validUntil, s.since, s.pendingHeartbeat, s.verifying, s.missedHeartbeats = false, 0, 0, 0, 0, 0, 0
}

// suspend is the end of a connection.
func (s *session) suspend(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.attached, s.pendingHeartbeat, s.verifying, s.since = false, 0, 0, 0
	if s.ridesOut(ev) {
		s.watchDeadline(ev, out)
	} else {
		s.unconfirmed()
		out.Deadline(s.number, 0, 0)
	}
	s.elapsed = out.Timer(elapsedTimer, s.timeout)
	out.Notify(events.Notify{What: events.Suspended, Session: s.number, Code: ev.Code, Text: ev.Text})
	out.Tell(events.All, events.Event{Kind: events.ConnectionSuspended, Session: s.number, Code: ev.Code, Text: ev.Text})
}

// giveUp tells LOST: the timeout went by, so the session must be taken for dead.
func (s *session) giveUp(ev events.Event, out *engine.Outbox) {
	s.lostTold = true
	out.Notify(events.Notify{What: events.Lost, Session: s.number, Text: "no server for the whole session timeout"})
}

// lose is the end of a session: what it owned goes with it.
func (s *session) lose(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	lost := s.number
	s.number, s.attached, s.replaced = 0, false, false
	s.unconfirmed()
	s.heartbeats.clear()
	out.Deadline(lost, 0, 0)
	if s.everConnected && !s.lostTold {
		s.lostTold = true
		out.Notify(events.Notify{What: events.Lost, Session: lost, Code: ev.Code, Text: ev.Text})
	}
	out.Tell(events.All, events.Event{Kind: events.ConnectionLost, Code: ev.Code, Text: ev.Text})
	wait, again := s.retry.Next(s.failures, 0, s.dice.next())
	if !again {
		wait = pauseAfterGiveUp
	}
	s.failures++
	out.Timer(restTimer, wait)
}

// report tells why one attempt to connect failed.
func (s *session) report(ev events.Event, out *engine.Outbox) {
	out.Notify(events.Notify{What: events.Failed, Session: s.number, Code: ev.Code, Text: ev.Text})
}

// extendBelief takes a confirmed request: belief holds until a span after it was sent.
func (s *session) extendBelief(ev events.Event, out *engine.Outbox) {
	s.hear(ev)
	if ev.Kind != events.ConnectionConfirmed {
		s.pendingHeartbeat = 0
	}
	if ev.Kind != events.ReplySync {
		s.quorum = true
	}
	if !s.quorum || ev.SentAt <= s.confirmed {
		return
	}
	s.confirmed, s.missedHeartbeats = ev.SentAt, 0
	s.validUntil = ev.SentAt + int64(s.beliefSpan(ev.SentAt, ev.Contact))
	out.Deadline(s.number, s.validUntil, ev.SentAt+int64(s.sessionLife(ev.SentAt, ev.Contact)))
	if !s.heartbeats.empty() {
		s.watchDeadline(ev, out)
	}
}

// renew takes a confirmation that came after the deadline: all belief is over,
// and can only be won again on top of it. The machine tells itself of it behind
// the news, so that every term has been ended before the deadline moves on.
func (s *session) renew(ev events.Event, out *engine.Outbox) {
	s.hear(ev)
	s.expire(ev, out)
	if ev.Kind != events.ConnectionConfirmed {
		s.pendingHeartbeat = 0
	}
	if ev.Kind != events.ReplySync { // which confirms nothing without a write before it
		out.Tell(events.SessionMachine, events.Event{Kind: events.ConnectionConfirmed, Session: ev.Session, SentAt: ev.SentAt, Contact: ev.Contact, Zxid: ev.Zxid})
	}
}

// settle takes an answer that does not count. The next is asked for when one does.
func (s *session) settle(ev events.Event, out *engine.Outbox) {
	if s.stoodStill(ev) {
		s.countsFrom = ev.At + int64(s.settling())
	}
	s.hear(ev)
	if ev.Kind != events.ConnectionConfirmed {
		s.pendingHeartbeat, s.missedHeartbeats = 0, 0
	}
	if !s.heartbeats.empty() {
		s.scheduleHeartbeat(time.Duration(s.askAt(ev.At)-ev.At), out)
	}
}

// watchDeadline keeps one timer at the deadline.
func (s *session) watchDeadline(ev events.Event, out *engine.Outbox) {
	out.StopTimer(s.deadline)
	s.deadline = out.Timer(deadlineTimer, time.Duration(s.validUntil-ev.At))
}

// rearmDeadline winds a deadline timer that rang before the deadline, which moved.
func (s *session) rearmDeadline(ev events.Event, out *engine.Outbox) {
	if ev.Request == s.deadline && s.validUntil != 0 && !s.heartbeats.empty() {
		s.watchDeadline(ev, out)
	}
}

// expire ends all belief: the deadline passed without a confirmation.
func (s *session) expire(ev events.Event, out *engine.Outbox) {
	s.quorum, s.validUntil = false, 0
	out.Deadline(s.number, 0, 0)
	out.Tell(events.All, events.Event{Kind: events.ConnectionUnconfirmed, Session: s.number})
}
