package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// leaderContact is when the ensemble's leader was heard, and which answers count therefore: one that has stood still
// says nothing about the session until it has settled.
type leaderContact struct {
	timing

	// known is when the last contact was sent of which the leader surely had a report at an answer; 0: it has
	// touched the session at the attach.
	known      int64
	heard      int64 // when the last answer of the ensemble's leader or quorum came
	heardSent  int64 // and when its request was sent
	countsFrom int64 // only answers to later requests confirm, because the leader had stood still
}

// confirming reports whether a reply is a success.
func (c *leaderContact) confirming(ev events.Event) bool { return ev.Code == events.OK }

// noteAnswer notes an answer of the ensemble's leader or quorum, counted or not.
func (c *leaderContact) noteAnswer(ev events.Event) {
	c.heard, c.heardSent, c.known = ev.At, max(c.heardSent, ev.SentAt), max(c.known, ev.Contact)
}

// stoodStill reports whether the ensemble's leader may have stood still before an
// answer, because it was silent for longer than maxSilence. Then the answer says nothing
// about the session: a leader that wakes commits the writes that wait before it looks at its
// sessions, whose last reports are from before it stopped. Any standstill is too long if
// this process was paused, so that all that the leader surely knew of the session at the
// previous answer is older than the timeout.
func (c *leaderContact) stoodStill(ev events.Event) bool {
	return time.Duration(ev.At-c.heard) > c.maxSilence() ||
		c.known != 0 && time.Duration(ev.At-c.known) > c.timeout-c.slack()
}

// uncounted reports whether an answer is a confirmation that does not count: the leader
// may have stood still before it, or had not settled when the request was sent.
func (c *leaderContact) uncounted(ev events.Event) bool {
	return c.confirming(ev) && (c.stoodStill(ev) || ev.SentAt < c.countsFrom)
}

// askAt returns when to ask for a confirmation while the leader settles: as soon as
// one counts, and a period after the last request at the latest, so that the leader
// does not seem to stand still again.
func (c *leaderContact) askAt(now int64) int64 {
	return max(now, min(c.countsFrom, c.heardSent+int64(c.period())))
}

// unsettled reports whether an event on a connection falls into the time in which the leader
// settles, or answers a request that was sent then. It reports false for an answer
// that took longer than maxSilence: to wait would not help.
func (c *leaderContact) unsettled(ev events.Event) bool {
	late := ev.SentAt != 0 && time.Duration(ev.At-ev.SentAt) > c.maxSilence()
	return !late && (ev.At < c.countsFrom || ev.SentAt != 0 && ev.SentAt < c.countsFrom)
}
