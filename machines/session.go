package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// States of the session machine.
const (
	offline    engine.State = "offline"    // not asked to connect yet
	connecting engine.State = "connecting" // no server has confirmed this session yet
	connected  engine.State = "connected"  // a server has; requests go out
	lost       engine.State = "lost"       // no server for the whole session timeout: it is assumed to have expired
	resting    engine.State = "resting"    // the session has ended; the next one begins after a pause
	ending     engine.State = "ending"     // closeSession is pending
)

// Timers of the session machine.
const (
	heartbeatTimer = "heartbeat"       // when to ask for the next confirmation
	deadlineTimer  = "deadline"        // when belief ends, unless it is confirmed before
	elapsedTimer   = "session-timeout" // when a session without a server is assumed to have expired
	restTimer      = "rest"            // the pause before the next session
	idleTimer      = "idle"            // when a client that nobody needs asks whether the ensemble's leader runs
)

// pauseAfterGiveUp is the pause between sessions once the retry policy has given up: a client that was
// not closed keeps trying.
const pauseAfterGiveUp = 5 * time.Second

// syncsPerCheck is how many heartbeats in a row may be syncs, where syncs suffice, before one checks a
// node. A server does not notify a client of a deletion if an access list forbids it to read the node.
const syncsPerCheck = 3

// session is the connection as a machine. It numbers ZooKeeper sessions, and sends heartbeats while a
// machine leads or is next in line. It alone knows until when anything may be believed (promises 2 to
// 4).
type session struct {
	leaderContact
	rideOut bool
	idleFor int // for how many session timeouts a client that nobody needs asks whether the leader runs
	retry   Policy
	jitter  jitter

	number        int64 // of the current ZooKeeper session; 0 between two
	opened        int64 // numbers that were used
	id            int64 // ZooKeeper's id of it
	attached      bool
	attachedAt    int64 // when the present connection began
	everConnected bool  // some session was connected before
	failures      int   // sessions lost in a row without a connection
	lostTold      bool  // the handle was notified of LOST in the present outage
	closing       uint64
	replaced      bool // the session is being ended, and another one follows

	wanted           bool  // a machine that pauses waits for a confirmation that counts
	quorum           bool  // a committed write was acknowledged on this connection
	confirmed        int64 // when the last confirmed request was sent
	validUntil       int64
	aloneUntil       int64          // until when the session surely exists
	paused           int64          // for how long this process did not run since then, as far as events say
	pendingHeartbeat uint64         // the heartbeat that is pending
	verifying        uint64         // the read behind it
	checkedEntry     heartbeatEntry // whose node it checks
	checkedAt        int64          // when the last own node was checked
	written          int64          // when the last write was sent that confirmed the session, no heartbeat
	syncs            int            // heartbeats in a row that checked no node
	missedHeartbeats int            // heartbeats in a row that confirmed nothing
	maxMissed        int            // how many nodes there were to check at the first of them
	heartbeats       heartbeatSet

	unserved

	// The servers were found to know no containers, or the client wants none. That stays true for the client's whole
	// life, over reconnects and sessions. An ensemble that is being upgraded has servers
	// of both kinds, and a container that a new one let through would be a transaction
	// that an old one cannot read; all of them understand persistent parents.
	noContainers bool

	heartbeat, deadline, elapsed uint64 // running timers

	readBacks

	idle      uint64 // the timer of the next sync while nobody needs the client
	idleSync  uint64 // the one that is pending
	idleSince int64  // when the client was needed last, or connected
}

// SessionRecipe makes the session machine. Every loop has one, under the id
// events.SessionMachine. Options: "tick", "tickAssumed" if it is not configured,
// "askedTimeout", "syncLimit", "observerMasters", "rideOut", "persistentParents", "idleFor",
// "retry".
var SessionRecipe = &engine.RecipeOf[session]{Named: "session", Chart: sessionChart, Open: newSession}

func newSession(open events.Event) (*session, error) {
	o := optionsOf(open)
	s := &session{
		rideOut:      o.flag(OptionRideOut),
		noContainers: o.flag(OptionPersistentParents),
		idleFor:      o.integer(OptionIdleFor, 0),
		retry:        o.policy(OptionRetry, BoundedExponential(-1, 200*time.Millisecond, 5*time.Second)),
		jitter:       o.jitter(open.Seed),
	}
	s.timing = timing{
		tick:            o.duration(OptionTick, DefaultTick),
		tickAssumed:     o.flag(OptionTickAssumed),
		asked:           o.duration(OptionAskedTimeout, 0),
		syncLimit:       o.integer(OptionSyncLimit, 5),
		observerMasters: o.flag(OptionObserverMasters),
	}
	return s, o.check()
}

// Stamp adds to an event what is known of the session.
func (s *session) Stamp(ev *events.Event) {
	ev.Attached = s.attached
	if s.quorum || !s.attached {
		ev.ValidUntil = s.validUntil
	}
	if s.attached && s.unsettled(*ev) {
		ev.AskAt = s.askAt(ev.At)
	}
	ev.NoContainers = s.noContainers && ev.Code == events.NoNode
	if ev.Session == 0 {
		ev.Session = s.number
	}
	switch ev.Kind {
	case events.CommandStart, events.CommandAwait, events.CommandRequeue,
		events.CommandEnter: // the first commands of machines that own nodes
		ev.SessionID, ev.Timeout = s.id, int64(s.timeout)
	}
}

// Current returns the number of the session whose answers count.
func (s *session) Current() int64 { return s.number }

// Confirms reports whether a reply is a confirmation of quorum strength: a committed write that was
// sent on this connection. Reads, pings and errors confirm nothing. To keep the log short, writes
// shortly after each other count once. But one counts at the latest half a period after the last that
// did, so that a client that writes all the time does not look as if it had heard nothing.
func (s *session) Confirms(ev events.Event) bool {
	switch ev.Kind {
	case events.ReplyCreate, events.ReplyDelete, events.ReplyMulti:
		half := int64(s.period()) / 2
		return s.attached && ev.Code == events.OK && ev.Session == s.number && ev.SentAt >= s.attachedAt &&
			(ev.At > s.heard+half || ev.SentAt > s.heardSent+half ||
				ev.SentAt >= s.countsFrom && (!s.quorum || ev.At >= s.validUntil))
	}
	return false
}

// noteContainersUnknown notes that parents have to be persistent nodes.
func (s *session) noteContainersUnknown(ev events.Event, out *engine.Outbox) { s.noContainers = true }

// heartbeatDue reports whether the timer that fired is the heartbeat's.
func (s *session) heartbeatDue(ev events.Event) bool { return ev.Request == s.heartbeat }

// deadlinePassed reports whether the timer of the deadline fired, and the deadline has not moved.
func (s *session) deadlinePassed(ev events.Event) bool {
	return ev.Request == s.deadline && ev.At >= s.validUntil
}

// late reports whether a confirmation comes after the deadline: belief ended in between, so it has to
// begin again.
func (s *session) late(ev events.Event) bool {
	return s.confirming(ev) && s.validUntil != 0 && ev.At >= s.validUntil && !s.heartbeats.empty()
}

// timedOut reports whether the session timeout went by without a server.
func (s *session) timedOut(ev events.Event) bool { return ev.Request == s.elapsed }

// ridesOut reports whether belief goes on without a connection, because the user chose so.
func (s *session) ridesOut(events.Event) bool {
	return s.rideOut && s.validUntil != 0 && !s.heartbeats.empty()
}

// connect opens the next ZooKeeper session.
func (s *session) connect(ev events.Event, out *engine.Outbox) {
	s.opened++
	s.number, s.id, s.aloneUntil = s.opened, 0, 0
	out.Effect(events.Connect{Session: s.number})
	if ev.Kind == events.CommandStart {
		out.Answer(ev.Request, events.OK, "")
	}
}

// attach begins a connection. Nothing is confirmed on it yet. Belief that rode the disconnect out ends
// when it would have ended without it. If the tick grows or the timeout becomes shorter, it ends
// immediately, and so does the time in which the session was said to be sure: both were too long.
func (s *session) attach(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	resumed := s.id != 0
	shortened := s.grant(time.Duration(ev.Timeout), resumed, s.number, out)
	s.id, s.attached, s.failures = ev.SessionID, true, 0
	s.attachedAt = ev.At
	s.heard, s.heardSent, s.known, s.countsFrom = ev.At, ev.At, 0, 0 // the leader has touched the session
	ridden := s.validUntil
	s.unconfirmed()
	tooLong := s.learnTick(time.Duration(ev.Timeout), s.number, out) || shortened
	switch {
	case ridden == 0 || s.heartbeats.empty():
	case tooLong:
		s.expire(ev, out)
	default:
		s.validUntil = ridden
		s.watchDeadline(ev, out)
	}
	if resumed && tooLong {
		s.aloneUntil = 0
		out.Deadline(s.number, 0, ev.At)
	}
	what := events.Reconnected
	if !s.everConnected {
		what = events.Connected
	}
	s.everConnected, s.lostTold = true, false
	out.Notify(events.Notify{What: what, Session: s.number, Text: ev.Server})
	if !s.healthy(ev) {
		out.Notify(events.Notify{What: events.Failed, Code: events.TimeoutTooShort, Text: s.tooShort()})
	}
	out.Tell(events.All, events.Event{Kind: events.ConnectionAttached, Session: s.number, SessionID: s.id,
		Timeout: int64(s.timeout), Reattached: ev.Reattached})
	if !s.heartbeats.empty() {
		s.sendHeartbeat(ev, out)
	}
	s.beginIdle(ev, out)
}

// unconfirmed forgets all confirmations of the previous connection.
func (s *session) unconfirmed() {
	s.quorum, s.confirmed, s.validUntil, s.since, s.pendingHeartbeat, s.verifying, s.missedHeartbeats = false, 0, 0, 0,
		0, 0, 0
	s.paused, s.written, s.lastUnserved = 0, 0, 0
}

// suspend handles the end of a connection.
func (s *session) suspend(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	s.attached, s.pendingHeartbeat, s.verifying, s.since, s.idle, s.idleSync = false, 0, 0, 0, 0, 0
	if s.ridesOut(ev) {
		s.paused += ev.Paused
		s.watchDeadline(ev, out)
	} else {
		s.unconfirmed()
		out.Deadline(s.number, 0, 0)
	}
	s.elapsed = out.Timer(elapsedTimer, s.timeout)
	out.Notify(events.Notify{What: events.Suspended, Session: s.number, Code: ev.Code, Text: ev.Text,
		Paused: time.Duration(ev.Paused)})
	out.Tell(events.All, events.Event{Kind: events.ConnectionSuspended, Session: s.number, Code: ev.Code, Text: ev.Text,
		Paused: ev.Paused})
}

// giveUp notifies the handle of LOST: the timeout went by, so the session is assumed to have expired.
func (s *session) giveUp(ev events.Event, out *engine.Outbox) {
	s.lostTold = true
	text, paused := "no server for the whole session timeout", time.Duration(ev.Paused)
	if paused > 0 && paused >= s.timeout/4 { // the timer fires as soon as this process runs
		text += ", and " + events.PauseText(paused) + " of it"
	} else {
		paused = 0
	}
	out.Notify(events.Notify{What: events.Lost, Session: s.number, Text: text, Paused: paused})
}

// lose handles the end of a session: the ensemble deletes what it owned.
func (s *session) lose(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	lost := s.number
	s.number, s.attached, s.replaced, s.idle, s.idleSync = 0, false, false, 0, 0
	s.unconfirmed()
	s.heartbeats.clear()
	out.Deadline(lost, 0, 0)
	if s.everConnected && !s.lostTold {
		s.lostTold = true
		out.Notify(events.Notify{What: events.Lost, Session: lost, Code: ev.Code, Text: ev.Text,
			Paused: time.Duration(ev.Paused)})
	}
	out.Tell(events.All, events.Event{Kind: events.ConnectionLost, Code: ev.Code, Text: ev.Text, Paused: ev.Paused})
	wait, again := s.retry.Next(s.failures, 0, s.jitter.next())
	if !again {
		wait = pauseAfterGiveUp
	}
	s.failures++
	out.Timer(restTimer, wait)
}

// report notifies the handle why an attempt to connect failed.
func (s *session) report(ev events.Event, out *engine.Outbox) {
	out.Notify(events.Notify{What: events.Failed, Session: s.number, Code: ev.Code, Text: ev.Text})
}

// extendBelief notes a confirmed request: belief holds for a span after it was sent. What an earlier
// request has shown stays true, also if a disconnect that belief rode out makes the span shorter.
func (s *session) extendBelief(ev events.Event, out *engine.Outbox) {
	s.noteAnswer(ev)
	counted := s.quorum && ev.At < s.validUntil
	if ev.Kind != events.ConnectionConfirmed {
		s.pendingHeartbeat = 0
	}
	if ev.Kind != events.ReplySync {
		s.quorum = true
	}
	if !s.quorum || ev.SentAt <= s.confirmed {
		return
	}
	s.confirmed, s.missedHeartbeats, s.paused, s.unserved = ev.SentAt, 0, 0, unserved{}
	s.noteWrite(ev)
	s.validUntil = max(s.validUntil, ev.SentAt+int64(s.beliefSpan(ev.SentAt, ev.Contact)))
	s.aloneUntil = max(s.aloneUntil, ev.SentAt+int64(s.sessionLife(ev.SentAt, ev.Contact)))
	out.Deadline(s.number, s.validUntil, s.aloneUntil)
	if !s.heartbeats.empty() {
		s.watchDeadline(ev, out)
	}
	if s.wanted && !counted && ev.At < s.validUntil {
		s.wanted = false
		out.Tell(events.All, events.Event{Kind: events.ConfirmationCounts, Session: s.number})
	}
}

// wantConfirmation notes that a machine waits for a confirmation that counts.
func (s *session) wantConfirmation(events.Event, *engine.Outbox) { s.wanted = true }

// renew handles a confirmation that comes after the deadline. All belief has ended, and may begin
// again only after that. So the machine sends itself the confirmation behind the news, and every term
// has ended before the deadline moves.
func (s *session) renew(ev events.Event, out *engine.Outbox) {
	s.noteAnswer(ev)
	s.expire(ev, out)
	if ev.Kind != events.ConnectionConfirmed {
		s.pendingHeartbeat = 0
	}
	if ev.Kind != events.ReplySync { // which confirms nothing without a write before it
		out.Tell(events.SessionMachine, events.Event{Kind: events.ConnectionConfirmed, Session: ev.Session,
			SentAt: ev.SentAt, Contact: ev.Contact, Zxid: ev.Zxid})
	}
}

// settle handles an answer that does not count. The next heartbeat is sent when its answer will.
func (s *session) settle(ev events.Event, out *engine.Outbox) {
	if s.stoodStill(ev) {
		s.beginSettling(ev)
	}
	s.noteAnswer(ev)
	if ev.Kind != events.ConnectionConfirmed {
		s.pendingHeartbeat, s.missedHeartbeats = 0, 0
	}
	if !s.heartbeats.empty() {
		s.scheduleHeartbeat(time.Duration(s.askAt(ev.At)-ev.At), out)
	}
}

// beginSettling has no answer confirm to a request that is sent before the leader has settled.
func (s *session) beginSettling(ev events.Event) {
	s.countsFrom, s.written = ev.At+int64(s.settling()), 0
}

// watchDeadline keeps one timer at the deadline.
func (s *session) watchDeadline(ev events.Event, out *engine.Outbox) {
	out.StopTimer(s.deadline)
	s.deadline = out.Timer(deadlineTimer, time.Duration(s.validUntil-ev.At))
}

// rearmDeadline starts the deadline's timer again if it fired before the deadline, which had moved.
func (s *session) rearmDeadline(ev events.Event, out *engine.Outbox) {
	if ev.Request == s.deadline && s.validUntil != 0 && !s.heartbeats.empty() {
		s.paused += ev.Paused
		s.watchDeadline(ev, out)
	}
}

// expire ends all belief: the deadline passed without a confirmation.
func (s *session) expire(ev events.Event, out *engine.Outbox) {
	paused := s.pauseBehind(ev)
	s.quorum, s.validUntil, s.written = false, 0, 0
	out.Deadline(s.number, 0, 0)
	out.Tell(events.All, events.Event{Kind: events.ConnectionUnconfirmed, Session: s.number, Paused: int64(paused)})
}

// pauseBehind returns the pause of this process that explains why the deadline passed, 0 if none does.
func (s *session) pauseBehind(ev events.Event) time.Duration {
	paused := time.Duration(s.paused + ev.Paused)
	if !events.PauseExplains(paused, time.Duration(ev.At-s.confirmed), time.Duration(s.validUntil-s.confirmed)) {
		return 0
	}
	return paused
}
