package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

func (o LatchOptions) open(path string, config *Config) events.Event {
	options := map[string]string{
		machines.OptionRideOut:    strconv.FormatBool(config.RideOut),
		machines.OptionOneFlight:  strconv.FormatBool(config.oneFlight()),
		machines.OptionTokenFloor: strconv.FormatInt(o.TokenFloor, 10),
	}
	if o.Advertise != "" {
		options[machines.OptionAddress] = o.Advertise
	}
	if o.Healthy != nil {
		options[machines.OptionHealthFailures] = strconv.Itoa(o.healthFailures())
	}
	setRetry(options, o.Retry)
	return events.Event{Path: path, Data: []byte(o.ID), Options: options}
}

// check returns what is wrong with the options.
func (o LatchOptions) check() error {
	return cmp.Or(checkOptions(o), arguments.CheckAddress("LatchOptions.Advertise", o.Advertise))
}

// idOr returns the ID of the options, or the one that a participant without an ID has.
func (c *Client) idOr(o LatchOptions) string {
	c.opened()
	random := c.sources.Seed == nil // else a process is not named
	if o.ID != "" || o.NoID || !random {
		return o.ID
	}
	return processID()
}

// processID names this process: its host and its number.
var processID = sync.OnceValue(func() string { return fmt.Sprintf("%s/%d", host(), os.Getpid()) })

// Latch waits in line until it leads, and leads until it is closed, resigns or loses
// leadership; then it waits again. It is Curator's LeaderLatch, on the same names: Go and
// Java can be in one line.
//
// Run calls a function under each term. Start and Await are for a program that cannot be
// such a function: each Leadership that Await returns has to be released.
//
// All its methods are safe to call from any goroutine.
type Latch struct {
	bareHandle
	participant participant
}

// Latch returns a latch in the line at path. If the directory is missing, it is created.
// The latch does nothing before Start. The error says what is wrong with the path, or is
// ErrClosed.
func (c *Client) Latch(path string, options LatchOptions) (*Latch, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	options.ID = c.idOr(options)
	l := &Latch{}
	l.participant.prepare(c, path, options)
	l.participant.prefix = machines.LatchLabel
	_, err := c.register(machines.LatchRecipe, func(id events.ID) receiver {
		l.participant.base.Machine = id
		return l
	}, options.open(path, c.config))
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Start joins the line. It returns immediately; Err and Await return what fails in the
// background. A second call returns ErrAlreadyStarted, a call after Close returns
// ErrClosed.
func (l *Latch) Start() error { return l.participant.base.Start(context.Background(), "start") }

// Run is Start, Close, and a call of the work under each term in between: nothing has to be
// released. The work's Leadership.Context derives from ctx.
//
//   - When the work returns while this participant leads, Run returns the work's error, nil
//     included. A panic is an error.
//   - When the work returns because its term has ended, Run queues again and calls it in the
//     next term. Its error is logged, unless the error is that the context has ended.
//   - When ctx ends, so does the work's context. If ctx was cancelled, Run returns nil when
//     the work returned nil or the context's error, else the work's error; that is so for
//     SIGTERM by signal.NotifyContext. If a deadline ended ctx, its cause is in the error.
//   - When a failure that does not pass by itself prevents leadership (ErrNoAuth,
//     ErrPersistentNode, …), Run returns it. Err has the failures that pass: ErrUnhealthy,
//     ErrTooSlow, ErrDeletedAgain, a lost connection.
//   - Run returns ErrClosed after Close, and ErrAlreadyStarted after Start. If ctx has ended before the call, a latch
//     that is not started is closed, and nothing is sent.
//
// Run closes the latch before it returns, and does not return while the work runs, unless
// WorkGrace is over. If work goes on for long after its term has ended, the log has a warning,
// and Err says so. Once the work has returned, Run returns within a second after the end of
// ctx, and within a session timeout in any case; the error is ErrNotDeleted, too, if the
// latch's node is not deleted by then.
func (l *Latch) Run(ctx context.Context, work Work) error { return l.participant.run(ctx, work) }

// Await waits until this participant leads. It is for programs that hold the term by hand;
// Run is simpler. The caller works under the Leadership that
// Await returns, and calls its Release when the work is done; several callers may hold the
// same term. Leadership is kept until Resign or Close. Leadership.Context derives from ctx:
// if ctx only bounds the wait, its end ends the work's context, too.
// If Release is forgotten, this participant does not lead again after the term has ended:
// then the log has a warning, and Err an ErrWorkRunning that names the call of Await.
//
// Errors: ErrNotStarted; ErrClosed; the context's, which says who is ahead or what else
// Await waited for; or the failure that prevents leadership (ErrNoAuth, ErrPersistentNode,
// ErrCounterEnd, …), after which the handle goes on trying and Await may be called again.
func (l *Latch) Await(ctx context.Context) (*Leadership, error) { return l.participant.awaitTerm(ctx) }

// Resign gives leadership up and queues again at the tail. It returns when the work under
// it has returned and the old node is gone, by deletion or with the session. The error is
// ErrNotLeading if there is no leadership to give up.
func (l *Latch) Resign(ctx context.Context) error { return l.participant.resign(ctx, "resign") }

func (l *Latch) notice(n events.Notify) { l.participant.noteTerm(n) }

func (l *Latch) answer(a events.Answer) { l.participant.base.Deliver(a) }

func (l *Latch) keep(request uint64, kept zkio.Kept) { l.participant.keep(request, kept) }

func (l *Latch) entered(now events.Entered) { l.participant.enterLine(now) }

// Close leaves the line. While leading, it cancels the contexts of the work and awaits the
// work's return; only then is the node deleted, and another participant may lead. If the
// context ends before the work has returned, the error is the context's and ErrWorkRunning:
// it names the work, and the node stays until that returns.
//
// Once no work runs, Close returns within a session timeout, also without a
// connection or without the right to delete: the error is ErrNotDeleted then, and
// the context's, if that ended first. The deletion goes on by itself after that, at
// the next connection. Closing twice, or before Start, is no error.
func (l *Latch) Close(ctx context.Context) error { return l.participant.Close(ctx) }

// CloseWith is Close with another mode than the options'.
func (l *Latch) CloseWith(ctx context.Context, mode CloseMode) error {
	return l.participant.CloseWith(ctx, mode)
}

// HasLeadership reports whether leadership may be believed at this instant.
func (l *Latch) HasLeadership() bool { return l.participant.HasLeadership() }

// AddListener adds a listener: its functions are called at every change of leadership from
// now on, and for a term that has begun. A term that begins and ends while 1,024 calls wait for a
// slow listener is left out, both calls of it; Stats.CallsDropped counts them. The returned function
// removes it.
func (l *Latch) AddListener(listener Listener) (remove func()) {
	return l.participant.AddListener(listener)
}

// Participants returns the participants of the handle's own line in queue order; see
// Client.Line.
func (l *Latch) Participants(ctx context.Context) ([]Participant, error) {
	return l.participant.Participants(ctx)
}

// First returns the first participant of the handle's own line; false if the line is
// empty, or if a persistent node blocks it. The first does not always lead: see Participant.First.
func (l *Latch) First(ctx context.Context) (Participant, bool, error) {
	return l.participant.First(ctx)
}

// ID returns how other participants see this one: LatchOptions.ID.
func (l *Latch) ID() string { return l.participant.ID() }

// Path returns the line's directory.
func (l *Latch) Path() string { return l.participant.Path() }

// State returns LATENT, STARTED or CLOSED.
func (l *Latch) State() State { return l.participant.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (l *Latch) Phase() string { return l.participant.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts. Work that goes on long after it had to end is a failure, too: ErrWorkRunning.
func (l *Latch) Err() error { return l.participant.Err() }

func (l *Latch) seal()              { l.participant.seal() }
func (l *Latch) needsSession() bool { return l.participant.needsSession() }

func (l *Latch) asParticipant() *participant { return &l.participant }

// Election is a participant of a plain election: the leader election of ZooKeeper's recipes
// page, as many services have written it by hand. Its node is an ephemeral sequential one,
// whose name is the prefix and a number and nothing else, as in /election/n_0000000007. It
// watches the node before its own, and no other node of the line; the lowest number leads.
// Programs of any make that keep to this can be in one line with it. Their names must be
// made by the sequence flag. What precedes the prefix does not matter: a name that go-zookeeper
// or Curator protects by a GUID, as in _c_GUID-n_0000000007, is a place in this line, too.
//
// It is used as a Latch is: by Run, or from Await until Close, Resign, or its loss. What a name
// without a GUID cannot give is given otherwise, or not at all:
//
//   - A create whose reply was lost is found by its owner, at one read for each node in the
//     line. So one client can be in a plain election once: ErrAlreadyInElection. Its program must not create
//     nodes of such names by other requests of this client: one that existed before may be taken for its own.
//   - Leadership.Write is refused, with ErrPlainName: a directory that was deleted and
//     created gives out the same names again, and the guard would take another node for the
//     own one. The Token has no such weakness.
//   - If the directory is deleted and created again, another participant may get the same
//     name. A Close or Resign that runs before the notice of the deletion arrives, or whose
//     delete is on its way then, deletes that participant's node: ZooKeeper compares the
//     version of the data, which is 0 for both. That participant loses its place as by any
//     deletion, and queues again.
//
// If there is a choice, a Latch or Selector is the better one. All methods are safe to call
// from any goroutine.
type Election struct {
	bareHandle
	participant participant
}

// Election returns a participant of the plain election at path. If the directory is missing,
// it is created. The names of its nodes begin with the prefix, as in "n_"; with an empty one
// they are only a number. Nodes with other prefixes are other lines, also if one prefix begins
// with the other. But a prefix that ends with the other, as an_ with n_, gives places in both. It does nothing before
// Start. The error says what is wrong with the path or the prefix, or is ErrAlreadyInElection or ErrClosed.
func (c *Client) Election(path, prefix string, options LatchOptions) (*Election, error) {
	if err := CheckPath(path, prefix); err != nil {
		return nil, err
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	if !c.reserve(plainPlace(path, prefix)) {
		return nil, fmt.Errorf("%w: %s", ErrAlreadyInElection, fault.Path(plainPlace(path, prefix)))
	}
	options.ID = c.idOr(options)
	e := &Election{}
	e.participant.prepare(c, path, options)
	e.participant.prefix, e.participant.plain = prefix, true
	open := options.open(path, c.config)
	open.Options[machines.OptionPrefix] = prefix
	_, err := c.register(machines.ElectionRecipe, func(id events.ID) receiver {
		e.participant.base.Machine = id
		return e
	}, open)
	if err != nil {
		c.core.Places.Free(plainPlace(path, prefix))
		return nil, err
	}
	return e, nil
}

// plainPlace is the one place that a client has in a line of plain names.
func plainPlace(path, prefix string) string { return "election " + path + "/" + prefix }

// Prefix returns what precedes the number in the names of the line's nodes.
func (e *Election) Prefix() string { return e.participant.prefix }

func (e *Election) entered(now events.Entered) {
	if now.Class == events.ClassClosed {
		e.participant.client.core.Places.Free(plainPlace(e.participant.Path(), e.participant.prefix))
	}
	e.participant.enterLine(now)
}

// Start joins the line. It returns immediately; Err and Await return what fails in the
// background. A second call returns ErrAlreadyStarted, a call after Close returns
// ErrClosed.
func (e *Election) Start() error { return e.participant.base.Start(context.Background(), "start") }

// Run calls the work under each term until ctx ends, or the work returns while this
// participant leads; then it closes the handle. See Latch.Run.
func (e *Election) Run(ctx context.Context, work Work) error { return e.participant.run(ctx, work) }

// Await waits until this participant leads, and returns a Leadership that has to be
// released. See Latch.Await; Run is simpler.
func (e *Election) Await(ctx context.Context) (*Leadership, error) {
	return e.participant.awaitTerm(ctx)
}

// Resign gives leadership up and queues again at the tail. It returns when the work under
// it has returned and the old node is gone, by deletion or with the session. The error is
// ErrNotLeading if there is no leadership to give up.
func (e *Election) Resign(ctx context.Context) error { return e.participant.resign(ctx, "resign") }

func (e *Election) notice(n events.Notify) { e.participant.noteTerm(n) }

func (e *Election) answer(a events.Answer) { e.participant.base.Deliver(a) }

func (e *Election) keep(request uint64, kept zkio.Kept) { e.participant.keep(request, kept) }

// Close leaves the line. While leading, it cancels the contexts of the work and awaits the
// work's return; only then is the node deleted, and another participant may lead. If the
// context ends before the work has returned, the error is the context's and ErrWorkRunning:
// it names the work, and the node stays until that returns.
//
// Once no work runs, Close returns within a session timeout, also without a
// connection or without the right to delete: the error is ErrNotDeleted then, and
// the context's, if that ended first. The deletion goes on by itself after that, at
// the next connection. Closing twice, or before Start, is no error.
func (e *Election) Close(ctx context.Context) error { return e.participant.Close(ctx) }

// CloseWith is Close with another mode than the options'.
func (e *Election) CloseWith(ctx context.Context, mode CloseMode) error {
	return e.participant.CloseWith(ctx, mode)
}

// HasLeadership reports whether leadership may be believed at this instant.
func (e *Election) HasLeadership() bool { return e.participant.HasLeadership() }

// AddListener adds a listener: its functions are called at every change of leadership from
// now on, and for a term that has begun. The returned function removes it.
func (e *Election) AddListener(l Listener) (remove func()) { return e.participant.AddListener(l) }

// Participants returns the participants of the handle's own line in queue order; see
// Client.Line.
func (e *Election) Participants(ctx context.Context) ([]Participant, error) {
	return e.participant.Participants(ctx)
}

// First returns the first participant of the handle's own line; false if the line is
// empty, or if a persistent node blocks it. The first does not always lead: see Participant.First.
func (e *Election) First(ctx context.Context) (Participant, bool, error) {
	return e.participant.First(ctx)
}

// ID returns how other participants see this one: LatchOptions.ID.
func (e *Election) ID() string { return e.participant.ID() }

// Path returns the line's directory.
func (e *Election) Path() string { return e.participant.Path() }

// State returns LATENT, STARTED or CLOSED.
func (e *Election) State() State { return e.participant.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (e *Election) Phase() string { return e.participant.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts. Work that goes on long after it had to end is a failure, too: ErrWorkRunning.
func (e *Election) Err() error { return e.participant.Err() }

func (e *Election) seal() { e.participant.seal() }

func (e *Election) needsSession() bool { return e.participant.needsSession() }

func (e *Election) asParticipant() *participant { return &e.participant }
