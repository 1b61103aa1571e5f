package incumbent

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// SelectorOptions are the options of a selector. The zero value is good.
type SelectorOptions struct {
	// ID is how other participants see this one: see LatchOptions, as for Advertise and NoID.
	ID        string
	Advertise string
	NoID      bool
	// AutoRequeue queues again after every term, without end. Without it a selector leads
	// once for each Start or Requeue, and a lost connection ends its wait.
	AutoRequeue bool
	// OnConnection is called with each connection state, on a goroutine of its own. If it
	// returns ErrCancelLeadership, the context of running work is cancelled.
	OnConnection func(ConnectionState) error
	// Executor runs the work, by default in a goroutine of its own. It must call the given
	// function exactly once. It may block until there is room: it is called on a goroutine
	// of its own, and the selector leads meanwhile.
	Executor func(run func())
	// CloseMode says whether Close calls the listeners.
	CloseMode CloseMode
	// Retry paces attempts after a failure: see LatchOptions.
	Retry RetryPolicy
	// WorkGrace is how long work may go on after its context has ended: see LatchOptions.
	WorkGrace time.Duration
	// TokenFloor refuses leadership with a token below it: see LatchOptions.
	TokenFloor int64
	// Healthy says whether this participant can do the work: see LatchOptions, as for the three that follow.
	Healthy        func(context.Context) error
	HealthInterval time.Duration
	HealthTimeout  time.Duration
	HealthFailures int
}

// latch returns those of the options that a latch has, too.
func (o SelectorOptions) latch() LatchOptions {
	return LatchOptions{ID: o.ID, Advertise: o.Advertise, NoID: o.NoID, CloseMode: o.CloseMode, Retry: o.Retry,
		WorkGrace: o.WorkGrace, TokenFloor: o.TokenFloor, Healthy: o.Healthy, HealthInterval: o.HealthInterval,
		HealthTimeout: o.HealthTimeout, HealthFailures: o.HealthFailures}
}

// Selector queues, calls the user's function while it leads, and queues again at the tail
// when the function has returned: every participant in the line has its turn. It is
// Curator's LeaderSelector, on the same names: Go and Java can be in one line.
//
// All its methods are safe to call from any goroutine.
type Selector struct {
	bareHandle
	participant participant
	work        Work
	requeues    bool                        // SelectorOptions.AutoRequeue
	hook        func(ConnectionState) error // SelectorOptions.OnConnection
	executor    func(run func())            // SelectorOptions.Executor
	removeHook  func()                      // removes the connection hook

	workMu sync.Mutex
	base   context.Context // what the work's contexts derive from
	runs   uint64
}

// Selector returns a selector in the line at path. If the directory is missing, it is
// created. The selector does nothing before Start or Run. The error says what is wrong with
// the path, or is ErrClosed.
func (c *Client) Selector(path string, work Work, options SelectorOptions) (*Selector, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if work == nil {
		return nil, errors.New("incumbent: the selector's work is nil: give it the function to run while leading")
	}
	if err := cmp.Or(checkOptions(options),
		arguments.CheckAddress("SelectorOptions.Advertise", options.Advertise)); err != nil {
		return nil, err
	}
	options.ID = c.idOr(options.latch())
	s := &Selector{work: work, requeues: options.AutoRequeue, hook: options.OnConnection, executor: options.Executor}
	s.participant.prepare(c, path, options.latch())
	s.base = c.base
	s.participant.prefix = machines.SelectorLabel
	open := options.latch().open(path, c.config)
	open.Options[machines.OptionAutoRequeue] = strconv.FormatBool(options.AutoRequeue)
	_, err := c.register(machines.SelectorRecipe, func(id events.ID) receiver {
		s.participant.base.Machine = id
		return s
	}, open)
	if err != nil {
		return nil, err
	}
	if options.OnConnection != nil {
		s.listen()
	}
	return s, nil
}

// listen adds the connection hook. The client may be closing meanwhile: this call or
// entered, whichever is later, removes the hook.
func (s *Selector) listen() {
	remove := s.participant.client.OnConnection(s.onConnection)
	s.participant.mu.Lock()
	s.removeHook = remove
	s.participant.mu.Unlock()
	if s.participant.State() == Closed {
		remove()
	}
}

// Start joins the line and returns immediately. A second call returns ErrAlreadyStarted, a
// call after Close returns ErrClosed.
func (s *Selector) Start() error { return s.participant.base.Start(context.Background(), "start") }

// Run is Start, a wait, and Close in one; the work's contexts derive from ctx. Run returns:
//
//   - When ctx is cancelled: nil if the work returned nil or the context's error, else the
//     work's error. When a deadline of ctx ends it, the cause of ctx is in the error.
//   - When a failure that does not pass by itself prevents leadership (ErrNoAuth,
//     ErrPersistentNode, …, but not ErrTooSlow or ErrDeletedAgain): that failure.
//   - Without AutoRequeue also after one term: the work's error, nil included, or
//     ErrSuspended or ErrSessionExpired if the connection was lost first.
//
// Run never returns while the work runs: if work goes on for long after Run has to end, the
// log has a warning, and Err says so. Once the work has returned, Run returns within a second
// after the end of ctx, and within a session timeout in any case; the error is ErrNotDeleted,
// too, if the selector's node is not deleted by then.
func (s *Selector) Run(ctx context.Context) error {
	s.participant.client.check(ctx)
	s.workMu.Lock()
	s.base = ctx
	s.workMu.Unlock()
	return s.participant.whileOpen(ctx, s.outcome)
}

// outcome waits for the event that ends Run, and returns Run's error.
func (s *Selector) outcome(ctx context.Context) error {
	select {
	case err := <-s.participant.runs().ending:
		if ctx.Err() != nil { // the work may have returned because of that
			if failureCode(err) == events.WorkFailed && s.participant.lateError() != nil { // the same error
				err = nil
			}
			return fault.Together(s.interrupted(ctx), err)
		}
		return err
	case <-s.participant.base.Commands.Ended():
		select {
		case err := <-s.participant.runs().ending: // the retry policy gave up, and that closed the selector
			return err
		default:
			return s.participant.base.Explain(ctx, "run", ErrClosed)
		}
	case <-ctx.Done():
		return s.interrupted(ctx)
	}
}

// interrupted ends the work, because the context of Run has ended, and returns Run's error.
func (s *Selector) interrupted(ctx context.Context) error {
	s.workMu.Lock()
	led := s.runs > 0
	s.workMu.Unlock()
	err := s.participant.endedWith(ctx, led)
	s.cancel(context.Cause(ctx))
	return err
}

// Requeue queues a selector that is out of the line again. It reports false if the selector
// is queued, or leading, already. The error is ErrNotStarted before Start, ErrClosed after
// Close.
func (s *Selector) Requeue() (bool, error) {
	err := s.participant.base.Ask(context.Background(), "requeue", events.Event{Kind: events.CommandRequeue})
	var refused *Error
	if errors.As(err, &refused) && refused.Code == events.Queued {
		return false, nil
	}
	return err == nil, err
}

// AutoRequeue reports whether the selector queues again by itself.
func (s *Selector) AutoRequeue() bool { return s.requeues }

// Interrupt cancels the context of the work that runs, with the cause ErrInterrupted;
// leadership is given up when the work returns. It reports whether work was running.
func (s *Selector) Interrupt() bool { return s.cancel(ErrInterrupted) }

func (s *Selector) cancel(cause error) bool {
	s.participant.mu.Lock()
	t := s.participant.term
	s.participant.mu.Unlock()
	if t == nil {
		return false
	}
	t.interrupt(cause)
	return true
}

func (s *Selector) onConnection(state ConnectionState) {
	if errors.Is(s.hook(state), ErrCancelLeadership) {
		s.cancel(ErrCancelLeadership)
	}
}

// notice takes the machine's notices; on the loop's goroutine.
func (s *Selector) notice(n events.Notify) {
	s.participant.noteTerm(n)
	switch n.What {
	case events.Elected:
		s.begin()
	case events.Ended:
		s.participant.finishRun(asError(n.Code, n.Text))
	}
}

// begin begins the work of the term that has just begun.
func (s *Selector) begin() {
	s.participant.mu.Lock()
	t := s.participant.term
	s.participant.mu.Unlock()
	s.workMu.Lock()
	s.runs++
	work, base := s.runs, s.base
	s.workMu.Unlock()
	if !s.participant.base.Works.Begin() {
		s.participant.base.Post(events.Event{Kind: events.WorkReturned, Work: work})
		return
	}
	var err error
	held := t.hold(base, s.participant.client, func(l *Leadership, late error) {
		if late == nil {
			late = err
		}
		if base.Err() != nil {
			late = s.participant.returnedLate(l.ctx, late)
		}
		s.participant.returned(events.Event{Work: work, Text: errorText(late)}, late)
	})
	held.worksFor(s.work, s.work)
	var begun atomic.Bool
	run := func() {
		if begun.CompareAndSwap(false, true) {
			defer held.done(nil)
			s.participant.call(held, func(result error) { err = result })
		}
	}
	if s.executor == nil {
		go run()
		return
	}
	go s.participant.client.core.Log.Guard("the executor", s.participant.Path(),
		func() error { s.executor(run); return nil }, func(failed error) {
			if failed != nil && begun.CompareAndSwap(false, true) { // it will not call run any more
				err = fault.Because("incumbent: SelectorOptions.Executor: "+failed.Error(), failed)
				held.done(nil)
			}
		})
}

func (s *Selector) entered(now events.Entered) {
	s.participant.enterLine(now)
	s.participant.mu.Lock()
	remove := s.removeHook
	s.participant.mu.Unlock()
	if now.Class == events.ClassClosed && remove != nil {
		go remove()
	}
}

func (s *Selector) answer(a events.Answer) { s.participant.base.Deliver(a) }

func (s *Selector) keep(request uint64, kept zkio.Kept) { s.participant.keep(request, kept) }

// Close leaves the line. While leading, it cancels the contexts of the work and awaits the
// work's return; only then is the node deleted, and another participant may lead. If the
// context ends before the work has returned, the error is the context's and ErrWorkRunning:
// it names the work, and the node stays until that returns.
//
// Once no work runs, Close returns within a session timeout, also without a
// connection or without the right to delete: the error is ErrNotDeleted then, and
// the context's, if that ended first. The deletion goes on by itself after that, at
// the next connection. Closing twice, or before Start, is no error.
func (s *Selector) Close(ctx context.Context) error { return s.participant.Close(ctx) }

// CloseWith is Close with another mode than the options'.
func (s *Selector) CloseWith(ctx context.Context, mode CloseMode) error {
	return s.participant.CloseWith(ctx, mode)
}

// HasLeadership reports whether leadership may be believed at this instant.
func (s *Selector) HasLeadership() bool { return s.participant.HasLeadership() }

// AddListener adds a listener: its functions are called at every change of leadership from
// now on, and for a term that has begun. The returned function removes it.
func (s *Selector) AddListener(l Listener) (remove func()) { return s.participant.AddListener(l) }

// Participants returns the participants of the handle's own line in queue order; see
// Client.Line.
func (s *Selector) Participants(ctx context.Context) ([]Participant, error) {
	return s.participant.Participants(ctx)
}

// First returns the first participant of the handle's own line; false if the line is
// empty, or if a persistent node blocks it. The first does not always lead: see Participant.First.
func (s *Selector) First(ctx context.Context) (Participant, bool, error) {
	return s.participant.First(ctx)
}

// ID returns how other participants see this one: SelectorOptions.ID.
func (s *Selector) ID() string { return s.participant.ID() }

// Path returns the line's directory.
func (s *Selector) Path() string { return s.participant.Path() }

// State returns LATENT, STARTED or CLOSED.
func (s *Selector) State() State { return s.participant.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (s *Selector) Phase() string { return s.participant.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts. Work that goes on long after it had to end is a failure, too: ErrWorkRunning.
func (s *Selector) Err() error { return s.participant.Err() }

func (s *Selector) seal()              { s.participant.seal() }
func (s *Selector) needsSession() bool { return s.participant.needsSession() }

func (s *Selector) asParticipant() *participant { return &s.participant }
