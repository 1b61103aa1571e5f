package wire

import (
	"bytes"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// afterwards reads the log of each client: it replays, and what it says of frames is what the network saw.
func (w *world) afterwards() {
	if !w.plan.records {
		return
	}
	for _, c := range w.clients {
		records, err := recorded(c.log.bytes())
		if err != nil {
			w.fail("the log replays", "%s: %v", c.name, err)
			continue
		}
		c.timesAreTrue(records)
		c.lostInOrder(records)
		c.heartbeatsFirst(records)
		c.refusalsEndNoSession(records)
		c.leadersWatch(records)
	}
}

// recorded replays a log and returns its records.
func recorded(log []byte) (all []events.Record, err error) {
	r, err := events.NewReader(bytes.NewReader(log))
	if err != nil {
		return nil, err
	}
	all = make([]events.Record, 0, bytes.Count(log, []byte("\n")))
	next := func() (events.Record, error) {
		rec, err := r.Next()
		if err == nil {
			all = append(all, rec)
		}
		return rec, err
	}
	_, err = engine.ReplayRecords(next, 0, machines.Recipes()...)
	return all, err
}

// timesAreTrue checks SentAt and Contact of the replies: belief is computed from them.
func (c *client) timesAreTrue(records []events.Record) {
	w := c.w
	for _, rec := range records {
		e := rec.Event
		if e.SentAt == 0 || e.Code != events.OK || rec.Internal || !strings.HasPrefix(string(e.Kind), "reply.") {
			continue
		}
		sent := w.start.Add(time.Duration(e.SentAt - 1))
		if at, known := w.truth.commitOf(e.Zxid); known && e.Kind == events.ReplyMulti && sent.After(at) {
			w.fail("SentAt is before the commit", "%s: %s was sent at %s and committed at %s", c.name, e.Kind,
				sent.Sub(w.start), at.Sub(w.start))
		}
		if contact := w.start.Add(time.Duration(e.Contact - 1)); contact.After(c.contact(sent)) {
			w.fail("the leader knew of the contact",
				"%s: %s sent at %s names a contact at %s; the last that was reported by then was sent at %s",
				c.name, e.Kind, sent.Sub(w.start), contact.Sub(w.start), c.contact(sent).Sub(w.start))
		}
	}
}

// contact returns when the last frame was sent that a server had half a tick before a time: in that time it reported
// it. A handshake is processed by the ensemble's leader itself.
func (c *client) contact(at time.Time) (last time.Time) {
	for _, f := range c.w.seen.frames[c.number] {
		known := f.arrived
		if !f.handshake {
			known = known.Add(tick / 2)
		}
		if !known.After(at) && f.sent.After(last) {
			last = f.sent
		}
	}
	return last
}

// lostInOrder checks that the replies that a lost connection leaves unknown come after its loss, in the order of their
// requests.
func (c *client) lostInOrder(records []events.Record) {
	last, attached := uint64(0), false
	for _, rec := range records {
		switch {
		case rec.Internal:
		case rec.Event.Kind == events.ConnectionAttached:
			attached = true
		case rec.Event.Kind == events.ConnectionSuspended:
			last, attached = 0, false
		case rec.Event.Code == events.ConnectionLoss && rec.Cause != 0 && rec.Event.SentAt != 0:
			if attached {
				c.w.fail("the loss of a connection comes first",
					"%s: the reply to record %d was lost before the connection was", c.name, rec.Cause)
			}
			if rec.Cause < last {
				c.w.fail("lost replies in the order of their requests",
					"%s: the reply to record %d came after that to %d", c.name, rec.Cause, last)
			}
			last = rec.Cause
		}
	}
}

// heartbeatsFirst checks that a heartbeat waits for no other request: it leaves in the instant in which it is asked
// for, unless the loop stands still.
func (c *client) heartbeatsFirst(records []events.Record) {
	asked := map[uint64]time.Duration{} // by seq
	for _, rec := range records {
		asked[rec.Seq] = time.Duration(rec.Event.At)
		e := rec.Event
		if rec.Machine != events.SessionMachine || e.SentAt == 0 || rec.Cause == 0 ||
			!strings.HasPrefix(string(e.Kind), "reply.") {
			continue
		}
		if waited := time.Duration(e.SentAt) - asked[rec.Cause]; waited > time.Millisecond &&
			!c.stoodStill(asked[rec.Cause], time.Duration(e.SentAt)) {
			c.w.fail("a heartbeat waits for no other request", "%s: that of record %d waited for %s", c.name,
				rec.Cause, waited)
		}
	}
}

// refusalsEndNoSession checks that no refused login ends a session that may live. The client may have been silent for
// two thirds of the timeout when it noticed the end of the connection.
func (c *client) refusalsEndNoSession(records []events.Record) {
	var suspended time.Duration
	for _, rec := range records {
		at := time.Duration(rec.Event.At)
		switch {
		case rec.Internal:
		case rec.Event.Kind == events.ConnectionSuspended:
			suspended = at
		case rec.Event.Kind == events.ConnectionLost:
			early := suspended != 0 && at-suspended < c.w.plan.timeout/3
			if rec.Event.Code == events.AuthFailed && early && !c.stoodStill(suspended, at) {
				c.w.fail("a refusal ends no session", "%s: the session was lost %s after its connection: %s",
					c.name, at-suspended, rec.Event.Text)
			}
			suspended = 0
		}
	}
}

// stoodStill reports whether the loop stood still between two times.
func (c *client) stoodStill(from, to time.Duration) bool {
	for _, a := range c.w.plan.acts {
		if a.client == c.number && (a.kind == holdLoop || a.kind == standStill) && a.at < to &&
			a.at+2*a.long+c.w.plan.timeout > from {
			return true
		}
	}
	return false
}
