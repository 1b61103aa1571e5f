package incumbent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
)

// Term is one uninterrupted period of leadership.
type Term struct {
	Path    string // the participant's own node
	Token   int64  // the node's czxid: grows from leader to leader, see Leadership.Token
	Session int64  // the number of the client's ZooKeeper session, from 1
}

// heldTerm is a term that the loop begins and ends. Its work may be stopped before its end:
// at the deadline, see belief.Watch.
type heldTerm struct {
	Term
	holder    *participant // whose term it is
	guards    []events.Op  // the operations of Leadership.Write's guard; nil: the own node exists
	began     int64        // the loop's clock
	zkSession int64        // ZooKeeper's id of the session; 0: not known
	shard     string       // of Shards
	fences    bool         // it is none yet: the one that led last is fenced under it
	over      atomic.Bool

	nodeGone bool // under mu: ended because its node, or the session, is gone
	released bool // under mu: ended because the work under it had returned

	mu     sync.Mutex
	reason error
	under  *termWork // nil: no work was given out, and none has to end
}

// end ends the term. The loop calls it once, on its goroutine.
func (t *heldTerm) end(lost *LostError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	why := events.Reason(lost.Reason)
	t.reason, t.nodeGone = lost, why.Successible()
	t.released = why == events.ReasonReturned || why == events.ReasonRevoked
	t.over.Store(true)
	t.stop(lost)
	t.expectReturn(lost.why())
}

// lapse stops the work because the deadline has passed. The loop ends the term later.
func (t *heldTerm) lapse(lost *LostError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop(lost)
	t.expectReturn(lost.why())
}

// stop cancels the contexts of all work, once; the grace of the work begins. The caller
// holds the lock.
func (t *heldTerm) stop(reason error) {
	w := t.changedWork()
	if w.stopped != nil {
		return
	}
	w.stopped, w.stopAt = reason, clock.Instant()
	for _, l := range w.works {
		l.stop(reason)
	}
	t.holder.client.deadlines.Remove(t)
}

// gone reports whether the term ended because its node was deleted or its session ended.
func (t *heldTerm) gone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nodeGone
}

// lossErr returns why the term ended, nil if the holder ended it.
func (t *heldTerm) lossErr() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released || !t.over.Load() {
		return nil
	}
	return t.reason
}

// hold returns the Leadership of one piece of work. Done is called once with it, when the work has returned, or with
// ErrWorkRunning if its grace ended before, which may be before hold returns.
func (t *heldTerm) hold(parent context.Context, c *Client, done func(l *Leadership, late error)) *Leadership {
	ctx, cancel := context.WithCancelCause(parent)
	l := &Leadership{client: c, term: t, ctx: ctx, cancel: cancel, from: caller.Stack(), returned: make(chan struct{})}
	var once sync.Once
	l.done = func(late error) {
		once.Do(func() {
			t.mu.Lock()
			w := t.work()
			w.works = slices.DeleteFunc(w.works, func(other *Leadership) bool { return other == l })
			if len(w.works) == 0 {
				c.deadlines.Remove(t)
				w.allReturned()
			}
			t.mu.Unlock()
			cancel(context.Canceled)
			t.observeReturn(late)
			done(l, late)
			close(l.returned)
		})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.changedWork()
	w.works = append(w.works, l)
	switch {
	case w.stopped != nil:
		l.stop(w.stopped)
		t.expectReturn(w.why)
	case len(w.works) == 1:
		c.deadlines.Add(t)
	}
	return l
}

// lapseEvent returns the session machine's event for when a reader has found that the last
// deadline had passed.
func (c *Client) lapseEvent(session int64) events.Event {
	ev := events.Event{Kind: events.BeliefLapsed, Session: session}
	if last := c.core.Belief.Published(session); last != nil {
		ev.Paused = int64(c.pauses.Since(last.At))
	}
	return ev
}

// lapsed returns why work is stopped at the deadline of a session: the pause of this process
// that explains it, if one does. The machine ends the term later, for the same reason.
func (c *Client) lapsed(session int64) (why Reason, paused time.Duration) {
	if last := c.core.Belief.Published(session); last != nil {
		paused = c.pauses.Since(last.At)
		if events.PauseExplains(paused, time.Duration(c.core.Clock.Now()-last.At), time.Duration(last.Until-last.At)) {
			return ReasonOwnPause, paused
		}
	}
	return ReasonLapsed, 0
}

func (t *heldTerm) place() Place {
	place := t.holder.place(t.Path, t.Token, t.Session)
	place.SessionID, place.Shard = t.zkSession, t.shard
	return place
}

// watchDeadlines prepares the watch that stops work at its deadline.
func (c *Client) watchDeadlines() {
	w := &c.deadlines
	w.Deadline, w.Now, w.Timeout = &c.core.Belief, c.core.Clock.Now, c.core.Timeout
	w.Wake = func() { c.core.Loop.Wake() }
	w.Session = func(t *heldTerm) int64 { return t.Session }
	w.Lapse = func(t *heldTerm) (stop func()) {
		why := c.lostByClock(t)
		return func() { t.lapse(why) }
	}
	if c.core.Invariants != nil {
		w.Check = func(other, added *heldTerm) {
			if other.holder == added.holder {
				c.core.Invariants.Broken(added.holder.base.Machine, "a grant",
					"there is work under the terms with tokens %d and %d", other.Token, added.Token)
			}
		}
	}
}

// checkBegin checks that the participant has no other term, and no work of an earlier one.
func (p *participant) checkBegin(t *heldTerm) {
	if p.client.core.Invariants == nil {
		return
	}
	p.mu.Lock()
	last, present := p.last, p.term
	p.mu.Unlock()
	token, working := int64(0), 0
	if present != nil {
		token = present.Token
	}
	if last != nil {
		working = last.working()
	}
	p.client.core.Invariants.Begins(t, p.base.Machine, token, working)
}

// checkRead checks what a reader of the term's deadline finds.
func (t *heldTerm) checkRead() {
	if !t.over.Load() {
		t.holder.client.core.Invariants.Read(t, t.holder.base.Machine, t.Session, t.Token)
	}
}

// pairs returns what checks that the calls of one listener come in pairs; nil if nothing is
// checked.
func (p *participant) pairs() func(change) {
	broken, leads := p.client.core.Invariants.Of(&p.base.Machine), false
	if broken == nil {
		return nil
	}
	return func(c change) {
		if began := c.lost == nil; began == leads {
			broken("a call of a listener", "leadership began: %t, and before: %t", began, leads)
		}
		leads = !leads
	}
}

// working returns how many pieces of work have not returned.
func (t *heldTerm) working() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.work().works)
}

// lost returns the error of a term that ends now, or whose deadline has passed. This process
// did not run for as long as paused says, if that is why.
func (c *Client) lost(t *heldTerm, reason Reason, paused time.Duration) *LostError {
	now := c.core.Clock.Now()
	until := c.core.Belief.End(t.Session, now)
	return &LostError{
		Reason: reason, What: t.holder.what, Path: t.holder.Path(),
		Node: t.Path, Token: t.Token, Session: t.Session, Paused: paused,
		Led:           time.Duration(max(until-t.began, 0)),
		BelievedUntil: clock.Wall(until - now),
	}
}

// lostByClock returns the error of a term whose deadline has passed, before the loop ends it:
// a pause of this process is named if it explains that.
func (c *Client) lostByClock(t *heldTerm) *LostError {
	why, paused := c.lapsed(t.Session)
	return c.lost(t, why, paused)
}

// The log's lines about a participant. All but closed have the level that outages gives
// them; those about locks that go as planned are at debug level, because a busy lock has
// thousands. All are written on the loop's goroutine.

// logTerm logs that a term began, or why it ended.
func (p *participant) logTerm(t *heldTerm, lost *LostError) {
	text, level := p.termLine(lost)
	if level = p.client.outages.Level(p, level); !p.client.core.Log.Takes(level) {
		return
	}
	p.client.core.Log.Log(level, text, func(e *zerolog.Event) {
		p.identity(e).Str("node", fault.Path(t.Path)).Int64("token", t.Token)
		if t.shard != "" {
			e.Str("shard", t.shard)
		}
		journal.AddSession(e, t.Session, t.zkSession)
		if lost != nil {
			e.Str("reason", string(lost.Reason)).Str("why", lost.why()).Int64("led_ms", lost.Led.Milliseconds())
			journal.AddInstant(e, "believed_until", lost.BelievedUntil)
			journal.AddPause(e, lost.Paused)
		}
	})
}

// termLine returns the text and the level of the line about a term's beginning or end.
func (p *participant) termLine(lost *LostError) (string, zerolog.Level) {
	began, planned, unplanned, level := "leading", "no longer leading", "no longer leading", zerolog.InfoLevel
	switch {
	case p.what == whatShards:
		began, planned, unplanned = "owns a shard", "no longer owns a shard", "no longer owns a shard"
	case p.holdsOnce():
		began, planned, unplanned, level = p.what+" held", p.what+" released", p.what+" lost", zerolog.DebugLevel
	}
	switch {
	case lost == nil:
		return began, level
	case lost.Reason.Planned():
		return planned, level
	}
	return unplanned, zerolog.WarnLevel
}

// logQueued logs, once for each own node, that others are ahead.
func (p *participant) logQueued(n events.Notify) {
	if n.Path == p.queued {
		return
	}
	p.queued = n.Path
	p.client.observed.emit(Queued{p.place(n.Path, n.Token, n.Session), n.Ahead, n.Behind})
	p.client.core.Log.Log(p.client.outages.Level(p, p.plannedLevel()), "queued", func(e *zerolog.Event) {
		p.identity(e).Str("node", fault.Path(n.Path)).Int("ahead", n.Ahead).Str("behind", fault.Path(n.Behind))
	})
}

// logClosed logs that a participant that was started has closed.
func (p *participant) logClosed() {
	level := p.client.outages.Level(p, p.plannedLevel())
	if !p.client.core.Log.Takes(level) {
		return
	}
	err := p.Err()
	p.client.core.Log.Log(level, "closed",
		func(e *zerolog.Event) { addFailure(p.identity(e), err) })
}

// logLineTrouble logs why the participant cannot lead for now.
func (p *participant) logLineTrouble(err error) {
	p.client.core.Log.Log(p.client.outages.Level(p, zerolog.WarnLevel), troubleTexts[p.what], func(e *zerolog.Event) {
		if errors.Is(err, ErrNoAuth) {
			e.Str("hint",
				"an access list of the line, or of a node above it, does not admit this client: see Config.ACL")
		}
		addFailure(p.identity(e), err)
	})
}

// troubleTexts are the log's texts for failures, by what cannot be led or held.
var troubleTexts = map[string]string{
	whatLeadership: "cannot lead for now",
	whatLock:       "cannot take the lock for now",
	whatPermits:    "cannot take the permits for now",
	whatItems:      "cannot run the job's items for now",
	whatShards:     "cannot own shards for now",
}

// plannedLevel is the level of lines about what goes as planned.
func (p *participant) plannedLevel() zerolog.Level {
	if p.holdsOnce() {
		return zerolog.DebugLevel
	}
	return zerolog.InfoLevel
}

// identity adds which participant a line is about.
func (p *participant) identity(e *zerolog.Event) *zerolog.Event {
	return e.Str("path", fault.Path(p.Path())).Str("id", fault.Path(p.name))
}

// place returns what events say of the participant.
func (p *participant) place(node string, token, session int64) Place {
	return Place{Path: p.Path(), Recipe: p.base.Recipe(), ID: p.name, Node: node, Token: token,
		Session: session, SessionID: p.client.core.Attachment(session).ID}
}

// observeBegin reports that a term began.
func (p *participant) observeBegin(t *heldTerm) {
	began := TermBegan{Place: t.place()}
	if p.waits.since != 0 {
		began.Waited = time.Duration(t.began - p.waits.since)
	}
	if p.waits.vacated != 0 {
		began.Takeover = time.Duration(t.began - p.waits.vacated)
		p.client.meters.TookOver(p.base.Recipe(), began.Takeover)
	}
	p.waits = waits{}
	if p.client.observed.on() {
		p.client.observed.emit(began)
	}
}

// waits has when a participant's wait began, by the loop's clock, which alone uses it.
type waits struct {
	since   int64 // when the own node was asked for
	vacated int64 // when the node ahead was seen to be deleted; 0: it was not
}

// finishRun lets Run return; the first reason counts.
func (p *participant) finishRun(err error) {
	select {
	case p.runs().ending <- err:
	default:
	}
}

// noteFailure takes the machine's notices about failures; on the loop's goroutine.
func (p *participant) noteFailure(n events.Notify) {
	p.base.NoteTrouble(n)
	select {
	case p.runs().failed <- struct{}{}:
	default:
	}
	if n.What == events.Failed && calls.EndsRun(n.Code) {
		p.finishRun(asError(n.Code, n.Text))
	}
}
