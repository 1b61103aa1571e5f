package incumbent

import (
	"context"
	"fmt"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

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
type Election struct{ participant participant }

// Election returns a participant of the plain election at path. If the directory is missing,
// it is created. The names of its nodes begin with the prefix, as in "n_"; with an empty one
// they are only a number. Nodes with other prefixes are other lines, also if one prefix begins
// with the other. But a prefix that ends with the other, as an_ with n_, gives places in both. It does nothing before Start. The error says what is wrong with the path or
// the prefix, or is ErrAlreadyInElection or ErrClosed.
func (c *Client) Election(path, prefix string, options LatchOptions) (*Election, error) {
	if err := CheckPath(path, prefix); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
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
	open.Options["prefix"] = prefix
	_, err := c.register(machines.ElectionRecipe.Name(), func(id events.ID) receiver {
		e.participant.id = id
		return e
	}, open)
	if err != nil {
		c.unreserve(plainPlace(path, prefix))
		return nil, err
	}
	return e, nil
}

// plainPlace is the one place that a client has in a line of plain names.
func plainPlace(path, prefix string) string { return "election " + path + "/" + prefix }

// Prefix returns what precedes the number in the names of the line's nodes.
func (e *Election) Prefix() string { return e.participant.prefix }

func (e *Election) entered(state string) {
	if state == "closed" {
		e.participant.client.unreserve(plainPlace(e.participant.path, e.participant.prefix))
	}
	e.participant.enterLine(state)
}

// Start joins the line. It returns immediately; Err and Await return what fails in the
// background. A second call returns ErrAlreadyStarted, a call after Close returns
// ErrClosed.
func (e *Election) Start() error { return e.participant.start(context.Background(), "start") }

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

func (e *Election) answer(a events.Answer) { e.participant.deliver(a) }

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

func (e *Election) seal()              { e.participant.seal() }
func (e *Election) needsSession() bool { return e.participant.needsSession() }

var _ inLine = (*Election)(nil)

func (e *Election) asParticipant() *participant { return &e.participant }
