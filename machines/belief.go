package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// timing has the times by which belief is counted: those of the ensemble, of the session and of its heartbeats. Its
// arithmetic is that of promises 3 and 4: how often belief is confirmed, and how long a confirmation lasts.
type timing struct {
	tick            time.Duration
	tickAssumed     bool          // tick is not configured
	tickLearned     bool          // a granted timeout made it larger
	tickDoubted     bool          // it is configured, and was warned of
	asked           time.Duration // the session timeout that is asked for; 0 in logs that do not have it
	syncLimit       int
	observerMasters bool

	timeout        time.Duration // the shortest that the session was granted
	granted        time.Duration // what it was granted on this connection
	timeoutsDiffer bool          // it was warned that servers grant different ones
	since          int64         // when the present uninterrupted heartbeats began; 0: there are none
}

// period returns the time between two heartbeats, the g of promise 4. Two of them fit into the first
// belief, however little of the timeout the tick leaves for that. But they do not follow each other
// closer than the slack or leastPeriod, and if there is no room for belief, there is no reason to hurry.
func (t *timing) period() time.Duration {
	usual := t.timeout / 4
	if t.bySync() {
		usual = t.timeout / 8
	}
	if t.room() <= 0 {
		return max(usual, leastPeriod)
	}
	return max(min(usual, max(t.room()/2, t.slack())), leastPeriod)
}

// room returns how long a session surely exists after its first confirmation, while heartbeats
// have not run for a third of the timeout yet.
func (t *timing) room() time.Duration { return t.roomOf(t.timeout) }

// roomOf is room for another timeout.
func (t *timing) roomOf(timeout time.Duration) time.Duration {
	return timeout - timeout/3 - t.lag() - slackOf(timeout)
}

// healthy reports whether the session's timeout is long enough for any belief.
func (t *timing) healthy(events.Event) bool { return t.room() > 0 }

// bySync reports whether confirmations of leader strength suffice between two of quorum strength. That
// is so if belief that depends on one ends before another leader can expire the session, even if this
// leader was deposed as long ago as is possible without its noticing. A disconnect is not relied on:
// the client notices it late, and rides it out on demand.
func (t *timing) bySync() bool {
	return t.timeout/2 <= t.timeout-t.deposedAnswerTime()-t.slack()
}

// deposedAnswerTime returns the longest time for which a deposed leader keeps answering.
func (t *timing) deposedAnswerTime() time.Duration { return time.Duration(t.syncLimit+2) * t.tick }

// lag returns how long a server may take to report a session to the ensemble's leader.
func (t *timing) lag() time.Duration { return ReportLag(t.tick, t.observerMasters) }

// slack returns a margin for the difference of two clocks' rates and for scheduling.
func (t *timing) slack() time.Duration { return slackOf(t.timeout) }

func slackOf(timeout time.Duration) time.Duration { return timeout / 40 }

// maxSilence returns how long the ensemble's leader may go unheard before it is taken
// to have stood still. A session does not expire within that time.
func (t *timing) maxSilence() time.Duration { return max(t.period(), t.timeout/3) }

// settling returns how long a leader that stood still may need until it has the
// reports of all servers, or has ended the sessions that ran out meanwhile: the lag,
// and half a tick for the answers.
func (t *timing) settling() time.Duration { return t.lag() + t.tick/2 }

// sessionLife returns how long the session surely exists after a confirmed request was sent, at sent,
// after a contact that the ensemble's leader knew of. It assumes that pings and heartbeats leave when
// they are due. They did not if this process was paused, and then the leader has heard nothing of the
// session for as long.
func (t *timing) sessionLife(sent, contact int64) time.Duration {
	third := t.timeout / 3
	reach := max(t.period(), third)
	if t.since != 0 && sent-t.since >= int64(third) {
		reach = t.period()
	}
	if contact != 0 {
		reach = max(reach, time.Duration(sent-contact)-t.lag())
	}
	life := t.timeout - reach - t.lag() - t.slack()
	if t.bySync() { // the leader that answered may have been deposed
		life = min(life, t.timeout-t.deposedAnswerTime()-t.slack())
	}
	return life
}

// beliefSpan returns how long belief holds after a confirmed request was sent, the D of promise 3.
func (t *timing) beliefSpan(sent, contact int64) time.Duration {
	return min(t.timeout/2, t.sessionLife(sent, contact))
}
