package incumbent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// CloseMode says whether the listeners are called when Close ends a term.
type CloseMode int

// Curator's modes. Contexts of running work are cancelled in both.
const (
	NotifyLeader CloseMode = iota // listeners are called: leadership ended
	Silent                        // they are not
)

// Listener has functions that are called when leadership begins and ends, on a
// goroutine of its own, one call at a time. Every IsLeader is followed by exactly one
// NotLeader before the next, and NotLeader is never called without it. If a listener
// is added during a term, IsLeader is called for that term first. A nil function is
// skipped. LostReason returns why leadership ended.
type Listener struct {
	IsLeader  func(Term)
	NotLeader func(Term, error) // why: a *LostError, which is ErrLeadershipLost
}

// LatchOptions are the options of a latch or a plain election. The zero value is good.
type LatchOptions struct {
	// ID is how other participants see this one: a host name, say. It is the node's data, as
	// Curator's id is. Empty means host/pid, the name of the host and the number of the process.
	ID string
	// Advertise is where this participant answers, as HOST:PORT or a URL: see HostPort. A listener's own ":8080" or
	// "[::]:8080" is refused, because it names no host that others reach. It has up to 1024 bytes. Others read it with
	// Client.Address and Client.WatchLeader; everybody who may read the line may, too. It is in a node of its own, in
	// the directory PATH-addresses next to the line's, because Curator takes all data of a place for its id. The
	// ensemble creates that node and the place together, or neither: if it may not be created, the participant is in
	// no line, and Err says why. The node goes with the place. If somebody deletes it, it is back with the next place.
	Advertise string
	// NoID leaves the node without data if ID is empty: Curator's default.
	NoID bool
	// CloseMode says whether Close calls the listeners.
	CloseMode CloseMode
	// Retry paces attempts after a failure. By default they go on without end, with pauses
	// of up to 30 s; a policy that gives up closes the handle.
	Retry RetryPolicy
	// WorkGrace is how long work may go on after its context has ended. After that the node
	// is deleted, or a new term begins, although the work has not returned: the log has an
	// error, and two pieces of work may then run together. Zero, the default, means no
	// limit. If work runs when Close is called, its time counts from Close.
	WorkGrace time.Duration
	// TokenFloor refuses leadership with a token below it. Store the highest token that was
	// ever used and pass it here: then an ensemble that was restored from an older backup
	// is detected.
	TokenFloor int64

	// Healthy says whether this participant can do the work: nil if it can. After several
	// failures in a row, a leader resigns and a waiting participant leaves the line: others get
	// past. The participant stays out, and Err is ErrUnhealthy with the check's error, until a check
	// succeeds. Then it queues again at the tail, after a pause of up to two session timeouts.
	// If all participants are unhealthy, nobody leads.
	//
	// Checks run one at a time, on goroutines of their own, from Start until the handle has
	// closed; the context ends with the time of the check. A panic is a failure. A check that
	// hangs fails again at each interval.
	//
	// Healthy cannot free a line from work that hangs. The term ends, and so does the work's
	// context, but the node stays until the work has returned or WorkGrace is over.
	Healthy func(context.Context) error
	// HealthInterval is the time from the beginning of one check to that of the next: by
	// default, a third of the session timeout.
	HealthInterval time.Duration
	// HealthTimeout is how long a check may take: by default, HealthInterval.
	HealthTimeout time.Duration
	// HealthFailures is how many checks in a row have to fail: by default, 3.
	HealthFailures int
}

// noOptions are the options of all participants that have none.
var noOptions LatchOptions

// participant is what the handles of participants in a line share: a handle, the term that
// is held, the work under it, and the listeners.
type participant struct {
	handle

	prefix    string        // precedes the number in the node's name
	plain     bool          // the name has nothing before the prefix: no GUID
	reports   bool          // the machine gets the errors of Run's work
	sides     bool          // a read-write lock's: an error says whether the predecessor reads or writes
	name      string        // the ID that other participants see
	options   *LatchOptions // without the ID and the address
	byReturn  atomic.Uint64 // the command that the work's return carries; 0: none
	what      string        // what it leads or holds: see LostError.What
	queued    string        // the own node that the log has as queued; used by the loop
	waits     waits
	refusedAt int64 // when the deletion of the node was first refused, since the place is being left; 0: it was not

	listeners async.Listeners[change]

	parts func(func(*participant)) // calls a function with each that has a term of its own; nil: there are none

	// Under mu.
	ends   *runState          // nil: Run was not called, and nothing would end it
	before *calls.Predecessor // nil: there was none
	term   *heldTerm          // nil: there is none
	last   *heldTerm          // the present term, or the one before: its work may go on
	gone   bool               // the node of the last term: else Close names it if it is not deleted
}

// runState is what Run waits for. It is made when it is first used: a process may have very many participants.
type runState struct {
	ending chan error    // why Run returns
	failed chan struct{} // full after the current failure has changed
	late   error         // of work that returned because Run's context had ended; under the participant's lock
}

// runs returns what Run waits for.
func (p *participant) runs() *runState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ends == nil {
		p.ends = &runState{ending: make(chan error, 1), failed: make(chan struct{}, 1)}
	}
	return p.ends
}

// change is one call that listeners will get: a term began, or ended.
type change struct {
	term  Term
	lost  error // nil: it began
	shard int   // whose term it is, of Shards; else 0
}

func (p *participant) prepare(c *Client, path string, options LatchOptions) {
	p.init(c, path)
	p.name, p.options = options.ID, options.shared()
	p.what, p.base.Diagnostics = whatLeadership, lineDiagnostics{p}
}

// ID is Latch.ID.
func (p *participant) ID() string { return p.name }

// HasLeadership is Latch.HasLeadership.
func (p *participant) HasLeadership() bool {
	p.client.opened()
	t := p.currentTerm()
	return t != nil && !t.over.Load() && p.client.core.Believes(t.Session)
}

// AddListener is Latch.AddListener.
func (p *participant) AddListener(l Listener) (remove func()) {
	p.client.opened()
	return p.listeners.Add(p.listener(l), func() []change {
		if t := p.currentTerm(); t != nil {
			return []change{{term: t.Term}}
		}
		return nil
	})
}

// listener returns what calls the functions of a Listener.
func (p *participant) listener(l Listener) *async.Listener[change] {
	one := p.client.listener(p.Path(), func(c change) {
		switch {
		case c.lost == nil && l.IsLeader != nil:
			l.IsLeader(c.term)
		case c.lost != nil && l.NotLeader != nil:
			l.NotLeader(c.term, c.lost)
		}
	})
	one.Check = p.pairs()
	return one
}

// listener returns what calls f with changes, in pairs of the same shard.
func (c *Client) listener(path string, f func(change)) *async.Listener[change] {
	return &async.Listener[change]{Mail: async.Mailbox[change]{
		Func: f, Panicked: c.core.Log.LogPanic("a listener", path),
		Max: async.MaxUncalled, Dropped: &c.callsDropped, Squeeze: withoutPair,
	}}
}

// withoutPair drops a term that begins and ends while there is no room, so that the calls of
// a listener still come in pairs, and the last one says what is so.
func withoutPair(waiting []change, c change) []change {
	for i := len(waiting) - 1; c.lost != nil && i >= 0; i-- {
		if waiting[i].shard == c.shard && waiting[i].lost == nil {
			return slices.Delete(waiting, i, i+1) // nothing keeps its term
		}
	}
	return append(waiting, c)
}

// Close is Latch.Close.
func (p *participant) Close(ctx context.Context) error {
	p.client.check(ctx)
	return p.CloseWith(ctx, p.options.CloseMode)
}

// CloseWith is Close with another mode than the options'.
func (p *participant) CloseWith(ctx context.Context, mode CloseMode) error {
	p.client.check(ctx)
	p.seal()
	err := p.base.End(ctx, mode == Silent)
	left := p.unreleased()
	switch {
	case err == nil || left == nil:
		return err
	case ctx.Err() == nil:
		return left
	}
	return p.client.core.Explain(ctx, "close", p.Path(), context.Cause(ctx), func() error { return left })
}

// holdsOnce reports whether the participant leaves the line when its one hold ends, as that
// of a lock and that of permits do.
func (p *participant) holdsOnce() bool { return p.what != whatLeadership && p.what != whatShards }

// seal prevents new work: the loop may notify the handle of a term while the handle is
// being closed, and a Close that reports no work must stay right.
func (p *participant) seal() { p.base.Works.Seal() }

// needsSession reports whether the end of the present session would take something from the
// user: a term, or work that has not returned.
func (p *participant) needsSession() bool {
	needs := p.Leads() || p.base.Works.Running()
	if p.parts != nil {
		p.parts(func(one *participant) { needs = needs || one.Leads() })
	}
	return needs
}

func (p *participant) returned(ev events.Event, late error) {
	p.base.Works.End()
	if errors.Is(late, ErrWorkRunning) {
		p.client.core.Log.Log(zerolog.ErrorLevel, "work is still running after its grace; going on without it",
			func(e *zerolog.Event) {
				e.Str("path", fault.Path(p.Path())).Int64("grace_ms", p.workGrace().Milliseconds())
			})
		ev.Code, ev.Text = events.StillRunning, cmp.Or(ev.Text, "incumbent: work is still running")
	}
	ev.Kind, ev.Request = events.WorkReturned, p.byReturn.Swap(0)
	p.base.Post(ev)
}

// noteTerm takes the machine's notices about terms and failures; on the loop's goroutine.
func (p *participant) noteTerm(n events.Notify) {
	switch n.What {
	case events.Elected:
		t := p.newTerm(n)
		p.checkBegin(t)
		p.listeners.Send(change{term: t.Term}, func() { p.setTerm(t) })
		p.logTerm(t, nil)
		p.observeBegin(t)
	case events.Stopped:
		p.endTerm(n)
	case events.Waiting:
		p.noteAhead(n)
		p.logQueued(n)
	case events.Granted:
		p.granted(n)
	case events.PassedOver:
		p.client.passedOver.Log(p.client.core.Log, n)
	default:
		p.noteFailure(n)
		if n.What == events.Failed && (n.Code.Refusal() || n.Code.Unserved()) && p.Class() == events.ClassLeaving {
			p.deletionRefused(n)
		}
	}
}

// newTerm returns the term of a notice.
func (p *participant) newTerm(n events.Notify) *heldTerm {
	return &heldTerm{
		Term: Term{n.Path, n.Token, n.Session}, holder: p, guards: n.Guards,
		began: p.client.core.Clock.Now(), zkSession: p.client.core.Attachment(n.Session).ID,
	}
}

// deletionRefused ends the session for a node that the ensemble refuses to delete: at once if
// the participant ends with it, and after a session timeout if it goes on and its place is
// only in others' way, or if a server is at fault. On the loop's goroutine.
func (p *participant) deletionRefused(n events.Notify) {
	now := p.client.core.Clock.Now()
	if p.refusedAt == 0 {
		p.refusedAt = now
	}
	ends := n.Code.Refusal() && (p.holdsOnce() || p.base.Works.IsSealed())
	if ends || time.Duration(now-p.refusedAt) >= p.client.core.Timeout() {
		p.client.endSession(p.Path(), n)
	}
}

func (p *participant) endTerm(n events.Notify) {
	t, lost := p.finishTerm(n)
	if n.Silent {
		p.setTerm(nil)
	} else {
		p.listeners.Send(change{term: t.Term, lost: lost}, func() { p.setTerm(nil) })
	}
	p.logTerm(t, lost)
	p.countEnd(t, lost)
}

// countEnd counts and reports the end of a term.
func (p *participant) countEnd(t *heldTerm, lost *LostError) {
	path := p.Path()
	if p.holdsOnce() {
		path = ""
	}
	p.client.meters.TermEnded(p.base.Recipe(), path, string(lost.Reason), lost.Led)
	if p.client.observed.on() { // so that nothing is allocated without an observer
		p.client.observed.emit(TermEnded{t.place(), lost})
	}
}

// finishTerm ends the present term, and returns it and why it ended. It is the participant's until setTerm.
func (p *participant) finishTerm(n events.Notify) (*heldTerm, *LostError) {
	t := p.currentTerm()
	p.client.core.Invariants.Ends(t, p.base.Machine, t != nil)
	lost := p.client.lost(t, Reason(n.Reason), n.Paused)
	if n.Reason == events.ReasonUnreadable {
		lost.detail = string(n.Code)
	}
	if lost.endsAll() {
		p.client.outages.Ended(lost.addReason)
	}
	t.end(lost)
	return t, lost
}

// Leads reports whether the participant has a term.
func (p *participant) Leads() bool { return p.currentTerm() != nil }

func (p *participant) currentTerm() *heldTerm {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term
}

func (p *participant) setTerm(t *heldTerm) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.term = t
	if t != nil {
		p.last, p.gone = t, false
	}
}

// leftover names what a close leaves behind if it gives up waiting.
func (p *participant) leftover() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.last != nil && !p.gone:
		return fault.Path(p.last.Path)
	case p.name != "":
		return "the node of " + events.Quote(p.name, events.MaxName)
	}
	return "its node"
}

// shared returns the options without the ID and the address. Participants without any share theirs: a process may
// have very many.
func (o LatchOptions) shared() *LatchOptions {
	o.ID, o.NoID, o.Advertise = "", false, ""
	if o.CloseMode == 0 && o.Retry == (RetryPolicy{}) && o.WorkGrace == 0 && o.TokenFloor == 0 &&
		o.Healthy == nil && o.HealthInterval == 0 && o.HealthTimeout == 0 && o.HealthFailures == 0 {
		return &noOptions
	}
	kept := o // only here, so that a caller without options allocates none
	return &kept
}
