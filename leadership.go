package incumbent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Term is one uninterrupted time of leadership.
type Term struct {
	Path    string // the participant's own node
	Token   int64  // the node's czxid: grows from leader to leader, see Leadership.Token
	Session int64  // the number of the client's ZooKeeper session, from 1
}

// Leadership is held while one term lasts, by the work that is done under it.
// All its methods are safe to call from any goroutine.
type Leadership struct {
	client *Client
	term   *heldTerm
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   func(late error) // the work has returned, or is not waited for any longer; once
	works  bool             // a selector's: its return is what ends the work
}

// heldTerm is a term as the loop ends it. Its work may be stopped before that: at
// the deadline, see deadlineWatch.
type heldTerm struct {
	Term
	guards []Op // what only holds under this term; nil: that the own node exists
	over   atomic.Bool
	reason error
	plain  bool          // the node's name carries no GUID
	grace  time.Duration // how long work may outlast the term; 0: for ever

	mu       sync.Mutex
	nodeless bool  // ended because its node, or the session, is gone
	letGo    bool  // ended because the work under it had returned
	stopped  error // why the work was stopped; nil: it may go on
	works    map[*Leadership]bool
	watch    *deadlineWatch // the client's, since there is work
}

// end is called on the loop's goroutine, once, with why in the machine's words.
func (t *heldTerm) end(reason error, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reason, t.nodeless, t.letGo = reason, why == machines.NodeGone || why == machines.SessionOver, why == machines.LetGo
	t.over.Store(true)
	t.stop(reason)
}

// lapse stops the work because the deadline has passed. The loop ends the term
// when it gets there.
func (t *heldTerm) lapse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop(errLapsed)
}

// stop cancels the contexts of all work, whose grace begins then; once. The
// caller holds the lock.
func (t *heldTerm) stop(reason error) {
	if t.stopped != nil {
		return
	}
	t.stopped = reason
	for l := range t.works {
		l.stop(reason)
	}
	if t.watch != nil {
		t.watch.remove(t)
	}
}

// gone reports whether the term ended because its node did.
func (t *heldTerm) gone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nodeless
}

// loss is why the term ended, nil where that was the holder's own doing.
func (t *heldTerm) loss() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.letGo || !t.over.Load() {
		return nil
	}
	return t.reason
}

// hold makes the Leadership of one piece of work. Done is called once, when the
// work has returned, or with ErrWorkRunning when its grace was over before.
func (t *heldTerm) hold(parent context.Context, c *Client, done func(late error)) *Leadership {
	ctx, cancel := context.WithCancelCause(parent)
	l := &Leadership{client: c, term: t, ctx: ctx, cancel: cancel}
	var once sync.Once
	l.done = func(late error) {
		once.Do(func() {
			t.mu.Lock()
			delete(t.works, l)
			if len(t.works) == 0 && t.watch != nil {
				t.watch.remove(t)
			}
			t.mu.Unlock()
			cancel(context.Canceled)
			done(late)
		})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped != nil {
		l.stop(t.stopped)
		return l
	}
	if t.works == nil {
		t.works, t.watch = map[*Leadership]bool{}, &c.deadlines
	}
	t.works[l] = true
	if len(t.works) == 1 {
		t.watch.add(t)
	}
	return l
}

// stop ends the context, and begins the work's grace.
func (l *Leadership) stop(reason error) {
	l.cancel(reason)
	if l.term.grace > 0 {
		time.AfterFunc(l.term.grace, l.abandon)
	}
}

// abandon gives up waiting for work that did not return within its grace.
func (l *Leadership) abandon() { l.done(ErrWorkRunning) }

// interrupt cancels the contexts of all work under the term.
func (t *heldTerm) interrupt(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l := range t.works {
		l.cancel(cause)
	}
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

// Context ends when the term does, and at ValidUntil whatever else hangs in this
// process, with a cause that is ErrLeadershipLost. When the machine was suspended
// meanwhile, it ends within an eighth of the session timeout after that. It derives
// from the context that the leadership was asked for with: for work that should
// outlive it, pass context.WithoutCancel of that. Work that does not watch it
// delays the next term: none begins before Release, or the selector's function,
// has returned.
func (l *Leadership) Context() context.Context {
	l.opened()
	return l.ctx
}

// Token is the own node's czxid: hand it to every store that the work writes to,
// and let the store refuse what is lower than it has seen. It is the only thing
// that protects a store from a process that was paused. Tokens grow strictly
// from leader to leader within one history of the ensemble; the terms of one
// node share theirs; nothing is promised across a restore from backup.
func (l *Leadership) Token() int64 {
	l.opened()
	return l.term.Token
}

// Term is the term under which the work is done.
func (l *Leadership) Term() Term {
	l.opened()
	return l.term.Term
}

// ValidUntil is the instant until which leadership may be believed without
// hearing from the ensemble again; the heartbeat moves it on. It is in the past
// when nothing may be believed.
func (l *Leadership) ValidUntil() time.Time {
	l.opened()
	until := l.client.horizon.until(l.term.Session)
	now, left := time.Now(), -time.Nanosecond
	if until != 0 && !l.term.over.Load() {
		left = time.Duration(until - l.client.clock.Now())
	}
	return now.Add(left)
}

// AloneUntil is the instant before which no other participant can lead unless
// the own node is deleted. It is not before ValidUntil, for a session lives
// longer than belief does. It stays what it was when leadership is
// lost, so that work that must stop knows how long it has; where the own node or
// the session is known to be gone, it is in the past.
func (l *Leadership) AloneUntil() time.Time {
	l.opened()
	d := l.client.believed.Load()
	now, left := time.Now(), -time.Nanosecond
	if d != nil && d.Session == l.term.Session && !l.term.gone() {
		left = time.Duration(d.Alone - l.client.clock.Now())
	}
	return now.Add(left)
}

// Check returns nil while the leadership may be believed, and an error that is
// ErrLeadershipLost otherwise. It reads the clock against the deadline itself,
// so it is right even when the loop has not had its turn; it costs no request and
// takes no lock. Once it has returned an error it never returns nil again.
// A process that is paused after Check can still act late: only the Token helps.
func (l *Leadership) Check() error {
	l.opened()
	switch {
	case l.term.over.Load():
		return l.lost()
	case !l.client.believes(l.term.Session):
		return ErrLeadershipLost
	}
	return nil
}

func (l *Leadership) lost() error {
	l.term.mu.Lock()
	defer l.term.mu.Unlock()
	return l.term.reason
}

// Release says that the work is done. It must be called once for every
// Leadership that Await returned, also after it was lost: until then no new term
// of this participant begins, and Close waits. It does not give leadership up:
// Resign and Close do. Further calls do nothing, and neither do calls from a
// selector's function: there the return is what counts.
func (l *Leadership) Release() {
	l.opened()
	if !l.works {
		l.done(nil)
	}
}

// Op is one operation of a guarded write: see SetData, CreateNode, DeleteNode
// and CheckVersion.
type Op = events.Op

// OpResult is what one operation of a guarded write came to.
type OpResult = zkio.OpResult

// AnyVersion makes an operation apply whatever the node's version is.
const AnyVersion int32 = -1

// SetData replaces a node's data if it has this version.
func SetData(path string, data []byte, version int32) Op {
	return Op{Verb: "set", Path: path, Data: data, Version: version}
}

// CreateNode makes a persistent node, with the access list of Config.ACL.
func CreateNode(path string, data []byte) Op {
	return Op{Verb: "create", Path: path, Mode: events.Persistent, Data: data}
}

// DeleteNode removes a node if it has this version.
func DeleteNode(path string, version int32) Op {
	return Op{Verb: "delete", Path: path, Version: version}
}

// CheckVersion makes the whole write depend on a node's version.
func CheckVersion(path string, version int32) Op {
	return Op{Verb: "check", Path: path, Version: version}
}

// Write commits all operations, or none, only if the own node still exists: one
// multi that begins with a check of it, sent on the term's own session and never
// twice. A JobElection's node has a fixed name, so there its version is checked,
// and a node whose name is the term's alone. It protects data in this ensemble and
// nothing else; for other stores there is the Token.
//
// Errors: ErrPlainName under an Election; ErrLeadershipLost (nothing was written); ErrOutcomeUnknown (the answer
// was lost: read before you decide); ErrNotConnected and the context's (nothing
// was sent); an *Error with ZooKeeper's code (nothing was written; the results
// say which operation was refused).
func (l *Leadership) Write(ctx context.Context, ops ...Op) ([]OpResult, error) {
	l.check(ctx)
	if l.term.plain {
		return nil, ErrPlainName
	}
	if err := l.Check(); err != nil {
		return nil, err
	}
	guards := l.term.guards
	if guards == nil {
		guards = []Op{CheckVersion(l.term.Path, AnyVersion)}
	}
	results, _, err := l.client.io.Commit(ctx, l.term.Session, slices.Concat(guards, ops))
	if len(results) >= len(guards) {
		for _, r := range results[:len(guards)] {
			if r.Code == events.NoNode || r.Code == events.BadVersion {
				return nil, ErrLeadershipLost
			}
		}
		results = results[len(guards):]
	}
	var refused *zkio.Error
	switch {
	case errors.Is(err, ErrOutcomeUnknown): // there is a *zkio.Error in it, which is no refusal
		return nil, err
	case errors.Is(err, zkio.ErrOtherSession):
		return nil, ErrLeadershipLost
	case errors.As(err, &refused):
		return results, &Error{refused.Code, refused.Path}
	}
	return results, err
}
