package incumbent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/zkio"
)

// Work is the function that Latch.Run or a selector calls while it leads. Its return gives
// leadership up. It must return when its Leadership.Context ends.
//
// A selector that queues again (AutoRequeue) does so when the work has returned. If the work
// returned no error, its next term may begin at once, or up to 100 ms after the beginning of
// a term that was shorter than that. An error, or a panic, is shown in Selector.Err and the
// log; the next term then waits for a back-off by LatchOptions.Retry.
type Work func(*Leadership) error

// Leadership is one term's leadership, as the work under it uses it.
// All its methods are safe to call from any goroutine.
type Leadership struct {
	client *Client
	term   *heldTerm
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   func(late error) // called once: the work has returned, or is no longer waited for
	work   Work             // what is called with it; its return ends the work. Nil: Release does, or Unlock
	called any              // the user's function, which errors name
	failed string           // the work's error, if the machine gets it; set before done is called
	from   []uintptr        // the stack of the call that asked for it

	returned chan struct{} // closed after done was called
}

// worksFor makes the return of work the end of the work. Called is the function of the user that it calls.
func (l *Leadership) worksFor(work Work, called any) {
	l.term.mu.Lock()
	defer l.term.mu.Unlock()
	l.work, l.called = work, called
}

// stop cancels the context; the work's grace begins.
func (l *Leadership) stop(reason error) {
	l.cancel(reason)
	if grace := l.term.holder.workGrace(); grace > 0 {
		time.AfterFunc(grace, l.abandon)
	}
}

// abandon ends the wait for work that did not return within its grace.
func (l *Leadership) abandon() { l.done(ErrWorkRunning) }

// failureText returns the work's error for the machine. Work that is no longer waited for has none yet.
func (l *Leadership) failureText(late error) string {
	if late != nil {
		return ""
	}
	return l.failed
}

// interrupt cancels the contexts of all work under the term.
func (t *heldTerm) interrupt(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.work().works {
		l.cancel(cause)
	}
	t.expectReturn(strings.TrimPrefix(cause.Error(), "incumbent: "))
}

// interruptOne ends the context of one piece of work, unless that has returned. Its grace begins.
func (t *heldTerm) interruptOne(l *Leadership, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.work(); w.stopped == nil && slices.Contains(w.works, l) {
		l.stop(cause)
		t.expectReturn("the context that bounds it has ended: " + cause.Error())
	}
}

// termWork is the work under a term, guarded by the term's lock. Most terms of a process that has very many have none
// at a time.
type termWork struct {
	stopAt  time.Time     // when the work had to end
	stopped error         // why the work was stopped; nil: it may go on
	works   []*Leadership // that has not returned, in the order in which it was given out
	why     string        // why the work has to return, for people; "": it may go on
	timer   *time.Timer   // runs while the work has to return and has not; nil: it does not
	overdue bool          // the timer has fired
}

// noWork is that of a term without any. Nothing changes it.
var noWork termWork

// work returns the work under the term, to read it. The caller holds the lock.
func (t *heldTerm) work() *termWork {
	if t.under == nil {
		return &noWork
	}
	return t.under
}

// changedWork returns the work under the term, to change it. The caller holds the lock.
func (t *heldTerm) changedWork() *termWork {
	if t.under == nil {
		t.under = &termWork{}
	}
	return t.under
}

// opened and check are Client's.
func (l *Leadership) opened() { l.owner().opened() }

func (l *Leadership) check(ctx context.Context) { l.owner().check(ctx) }

func (l *Leadership) owner() *Client {
	if l == nil {
		return nil
	}
	return l.client
}

// Context ends when the term does, and at ValidUntil even if the rest of this process
// hangs, with a cause that is a *LostError and ErrLeadershipLost. If the machine was
// suspended meanwhile, it ends within an eighth of the session timeout after that. It
// derives from the context with which the leadership was asked for: for work that should
// outlive it, pass context.WithoutCancel of that. Work that does not watch it delays the
// next term: none begins before Release was called, or the function of Run or of a selector
// has returned.
func (l *Leadership) Context() context.Context {
	l.opened()
	return l.ctx
}

// Token returns the own node's czxid. Pass it to every store that the work writes to, and
// let the store refuse tokens lower than it has seen: nothing else protects a store from a
// process that was paused. Tokens grow strictly from leader to leader within one history of
// the ensemble; the terms of one node have the same token; nothing is promised across a
// restore from backup.
func (l *Leadership) Token() int64 {
	l.opened()
	return l.term.Token
}

// Term returns the term under which the work is done.
func (l *Leadership) Term() Term {
	l.opened()
	return l.term.Term
}

// ValidUntil returns the instant until which leadership may be believed without another
// confirmation from the ensemble; the heartbeat moves it on. It is in the past when
// leadership may not be believed.
func (l *Leadership) ValidUntil() time.Time {
	l.opened()
	l.term.checkRead()
	until := l.client.core.Belief.Until(l.term.Session)
	now, left := time.Now(), -time.Nanosecond
	if until != 0 && !l.term.over.Load() {
		left = time.Duration(until - l.client.core.Clock.Now())
	}
	return now.Add(left)
}

// AloneUntil returns the instant before which no other participant can lead unless the own
// node is deleted. It is not before ValidUntil, because a session lives longer than belief
// does. It does not change when leadership is lost, so that work that must stop knows how
// long it has. If the own node or the session is known to be gone, it is in the past.
func (l *Leadership) AloneUntil() time.Time {
	l.opened()
	d := l.client.believed.Load()
	now, left := time.Now(), -time.Nanosecond
	if d != nil && d.Session == l.term.Session && !l.term.gone() {
		left = time.Duration(d.Alone - l.client.core.Clock.Now())
	}
	return now.Add(left)
}

// Check returns nil while the leadership may be believed, and otherwise a *LostError, which
// is ErrLeadershipLost. It compares the clock with the deadline itself, so it is right even
// if the loop is late. It sends no request, and takes no lock while the leadership holds.
// Once it has returned an error it never returns nil again. A process that is paused after
// Check can still act late: only the Token helps.
func (l *Leadership) Check() error {
	l.opened()
	l.term.checkRead()
	switch {
	case l.term.over.Load():
		return l.lost()
	case !l.client.core.Believes(l.term.Session):
		return l.client.lostByClock(l.term)
	}
	return nil
}

func (l *Leadership) lost() error {
	l.term.mu.Lock()
	defer l.term.mu.Unlock()
	return l.term.reason
}

// Release ends the work. It must be called once for every Leadership that Await returned,
// also after it was lost: until then no new term of this participant begins, and Close
// waits. It does not give leadership up: Resign and Close do. Further calls do nothing, and
// neither do calls from a function that Run or a selector calls: its return ends the work.
func (l *Leadership) Release() {
	l.opened()
	if l.work == nil {
		l.done(nil)
	}
}

// Write commits all operations, or none, only if the own node still exists: it sends one
// multi that begins with a check of that node, on the term's own session and never twice. A
// JobElection's node has a fixed name, so Write checks its version there, and a node whose
// name is the term's alone; for a NodeElection see NodeElectionOptions.Epoch. It protects
// data in this ensemble and nothing else; for other stores there is the Token.
//
// Errors: ErrPlainName under an Election, a NodeElection without an Epoch or a plain Mutex; a *LostError, which is
// ErrLeadershipLost (nothing was written); ErrOutcomeUnknown (no reply came: read before you decide); ErrNotConnected
// and the context's (nothing was sent); an *Error with ZooKeeper's code (nothing was written; the
// results say which operation was refused).
func (l *Leadership) Write(ctx context.Context, ops ...Op) ([]OpResult, error) {
	l.check(ctx)
	if l.term.holder.plain {
		return nil, ErrPlainName
	}
	if err := l.Check(); err != nil {
		return nil, err
	}
	guards := l.term.guards
	if guards == nil {
		guards = []events.Op{CheckVersion(l.term.Path, AnyVersion).event()}
	}
	sent := l.client.core.Clock.Now()
	lists := slices.Concat(make([][]zkio.ACL, len(guards)), accessLists(ops))
	results, zxid, err := l.client.core.IO.Commit(ctx, l.term.Session, slices.Concat(guards, opEvents(ops)), lists...)
	l.recordWrite(sent, zxid, err)
	if len(results) >= len(guards) {
		for _, r := range results[:len(guards)] {
			if r.Code == events.NoNode || r.Code == events.BadVersion {
				return nil, l.client.lost(l.term, ReasonNodeGone, 0)
			}
		}
		results = results[len(guards):]
	}
	var refused *zkio.Error
	switch {
	case errors.Is(err, ErrOutcomeUnknown): // it has a *zkio.Error in it, but is no refusal
		return nil, l.client.core.Explain(ctx, "write", l.term.Path, err, l.client.core.NoReply)
	case errors.Is(err, zkio.ErrOtherSession):
		return nil, l.client.lost(l.term, ReasonSessionOver, 0)
	case errors.As(err, &refused):
		return opResults(results), &Error{refused.Code, refused.Path}
	}
	return opResults(results), l.client.core.Explain(ctx, "write", l.term.Path, err, l.client.core.NoReply)
}

// recordWrite notes a guarded write in the log, if it was sent.
func (l *Leadership) recordWrite(sent, zxid int64, err error) {
	var refused *zkio.Error
	unknown := errors.Is(err, ErrOutcomeUnknown)
	if l.client.recorder == nil || err != nil && !unknown && !errors.As(err, &refused) {
		return
	}
	w := events.Write{At: l.client.core.Clock.Now(), Sent: sent, Path: l.term.Path, Token: l.term.Token}
	switch {
	case err == nil:
		w.Zxid = zxid
	case !unknown:
		w.Refused = refused.Code
	}
	l.client.recorder.Note(events.Note{Write: &w}, 150+len(w.Path))
}

// Shard is one shard while this member owns it.
type Shard struct {
	ID   int // from 0
	held *Leadership
}

// ShardListener has functions that are called when a shard becomes this member's, and when it is so no more, on a
// goroutine of its own, one call at a time. Every Owned is followed by exactly one NotOwned of that shard before the
// next, and NotOwned is never called without it. If a listener is added while shards are owned, Owned is called for
// those first. A nil function is skipped. LostReason returns why a shard is owned no more.
type ShardListener struct {
	Owned    func(shard int, term Term)
	NotOwned func(shard int, term Term, why error) // why: a *LostError
}

// A shard has no machine of its own: these are its states.
var (
	shardOwned = events.Entered{State: "leading", Class: events.ClassLeading}
	shardGone  = events.Entered{State: "closed", Class: events.ClassClosed}
)

// enterShard notes that a shard is owned, or is not: an outage that ends the terms of many takes two lines of the log.
func (p *participant) enterShard(now events.Entered) {
	p.base.SetPhase(now)
	p.client.outages.Entered(p, now.Class)
}

// Context returns a context that ends when the shard may be another member's. See Leadership.Context.
func (s *Shard) Context() context.Context { return s.held.Context() }

// Token returns a number that grows from owner to owner of this shard: pass it to every store that the work writes
// to. See Leadership.Token.
func (s *Shard) Token() int64 { return s.held.Token() }

// Check returns nil while the shard may be believed to be this member's. It sends nothing. See Leadership.Check.
func (s *Shard) Check() error { return s.held.Check() }

// ValidUntil returns the instant until which the shard may be believed to be this member's without another
// confirmation from the ensemble. See Leadership.ValidUntil.
func (s *Shard) ValidUntil() time.Time { return s.held.ValidUntil() }

// AloneUntil returns the instant before which no other member can own the shard, unless this member's node is
// deleted. See Leadership.AloneUntil.
func (s *Shard) AloneUntil() time.Time { return s.held.AloneUntil() }

// Term returns the member's node, the token and the session.
func (s *Shard) Term() Term { return s.held.Term() }

// Write commits all operations, or none, only if this member's node still exists. See Leadership.Write for its errors.
func (s *Shard) Write(ctx context.Context, ops ...Op) ([]OpResult, error) {
	return s.held.Write(ctx, ops...)
}

// observeReturn reports that work has returned, or is no longer waited for.
func (t *heldTerm) observeReturn(late error) {
	if t.fences || !t.holder.client.observed.on() {
		return
	}
	ended := WorkEnded{Place: t.place(), Overran: errors.Is(late, ErrWorkRunning)}
	t.mu.Lock()
	if w := t.work(); w.stopped != nil {
		ended.Late = clock.Instant().Sub(w.stopAt)
	}
	t.mu.Unlock()
	t.holder.client.observed.emitOutsideStep(ended)
}
