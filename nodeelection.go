package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// NodeElectionOptions are the options of a NodeElection. The zero value is good.
type NodeElectionOptions struct {
	// ID is how other participants see this one: the data of the node. Empty means host/pid.
	ID string
	// NoID leaves the node without data if ID is empty.
	NoID bool
	// Data are the node's, for programs that expect certain bytes there. Nil means the ID.
	Data []byte
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

	// Crumb is the name of a persistent node in the same directory that has the Data of the one that led last, as
	// Hadoop's ActiveBreadCrumb. It is written before a term begins. It is deleted with the node if leadership is given
	// up in order: by Close, Resign or the end of Run, when all work has returned. It is left by one that was killed,
	// lost its session, was unhealthy, or whose work under Run returned an error. Without a name there is none. The
	// Data of all participants must differ.
	Crumb string
	// Fence is called if the crumb has the data of another participant, before a term of this one begins. It keeps that
	// one from acting: it ends its process, or takes its rights away. It returns nil if that one cannot act any more.
	//
	// This participant has the node then, and does not lead. The context ends as that of a Leadership does. After an
	// error, a panic or the end of the context, the node is deleted, Err is ErrFenceFailed if Fence is at fault, and
	// the participant goes on after a back-off by Retry. Fence must return when its context ends: no term
	// begins, and Close waits, until it has. Crumb and Fence are set both or neither. Once Fence has returned nil, it
	// is not called again until somebody has set the crumb.
	Fence func(ctx context.Context, data []byte) error
	// FenceTimeout is how long Fence may take: by default, a minute.
	FenceTimeout time.Duration
	// Epoch is the name of a persistent node in the same directory whose version each term increases. With it
	// Leadership.Write can be used: its multi checks that version, and that the node of the election is one of this
	// library's. So nothing is written after another participant has begun to lead, of this library or of another
	// program that only creates its node. Nobody may delete the node. All participants of this library must name it.
	Epoch string
}

// latch returns those of the options that a latch has, too.
func (o NodeElectionOptions) latch() LatchOptions {
	return LatchOptions{ID: o.ID, NoID: o.NoID, CloseMode: o.CloseMode, Retry: o.Retry, WorkGrace: o.WorkGrace,
		TokenFloor: o.TokenFloor, Healthy: o.Healthy, HealthInterval: o.HealthInterval, HealthTimeout: o.HealthTimeout,
		HealthFailures: o.HealthFailures}
}

// NodeElection is a participant of an election on one node: the one that creates the ephemeral node leads, and all
// others watch it. Hadoop's failover controllers, Kafka, Helix and many programs elect so. Programs of any make that
// create the node as an ephemeral one, and delete it only if it is their own, can be in one election with it.
//
// It is used as a Latch is: by Run, or from Await until Close, Resign, or its loss. What one node cannot give is given
// otherwise, or not at all:
//
//   - There is no line. When the node is deleted, all who wait are woken, and each sends one create: who comes first is
//     not decided by who has waited longest. A participant that resigns waits for up to a quarter of the session
//     timeout before it creates the node again, so that others can.
//   - A create whose reply was lost is found by its owner. So one client can be in an election once: ErrNodeTaken. Its
//     program must not create the node by other requests of this client.
//   - Leadership.Write is refused, with ErrPlainName, without an Epoch: if somebody deletes the node during a term,
//     another participant may create it before the notice of that arrives. The Token has no such weakness. A Close or
//     Resign that runs in that moment deletes the other's node, if that is of this library: it loses leadership as by
//     any deletion. The node of another program stays, because its version is 0, and that of this library's is 1.
//   - If somebody sets the node's data, the term ends, and another begins on the same node.
//
// If there is a choice, a Latch or Selector is the better one. All methods are safe to call from any goroutine.
type NodeElection struct {
	bareHandle
	participant participant
	fence       func(context.Context, []byte) error
	fencing     *heldTerm // under which Fence runs; used by the loop
}

// NodeElection returns a participant of the election on the node at path. If the directory above it is missing, it is
// created. A node that no session owns is in everybody's way: Err is ErrPersistentNode until somebody deletes it. The
// participant does nothing before Start. The error says what is wrong with the path or the options, or is ErrNodeTaken
// or ErrClosed.
func (c *Client) NodeElection(path string, options NodeElectionOptions) (*NodeElection, error) {
	if err := arguments.CheckNode(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	if err := options.checkNames(path); err != nil {
		return nil, err
	}
	if !c.reserve("node " + path) {
		return nil, fmt.Errorf("%w: %s", ErrNodeTaken, fault.Path(path))
	}
	options.ID = c.idOr(options.latch())
	e := &NodeElection{fence: options.Fence}
	e.participant.prepare(c, path, options.latch())
	e.participant.plain, e.participant.reports = options.Epoch == "", options.Crumb != ""
	open := options.opening(path, c.config)
	_, err := c.register(machines.NodeElectionRecipe, func(id events.ID) receiver {
		e.participant.base.Machine = id
		return e
	}, open)
	if err != nil {
		c.core.Places.Free("node " + path)
		return nil, err
	}
	return e, nil
}

// checkNames returns what is wrong with the options of the nodes next to the election's.
func (o NodeElectionOptions) checkNames(path string) error {
	switch {
	case (o.Crumb == "") != (o.Fence == nil):
		return errors.New("incumbent: NodeElectionOptions: Crumb and Fence need each other")
	case o.FenceTimeout < 0:
		return fmt.Errorf("incumbent: NodeElectionOptions.FenceTimeout: %s is below zero", o.FenceTimeout)
	}
	taken := []string{path[strings.LastIndexByte(path, '/')+1:]}
	for _, name := range []string{o.Crumb, o.Epoch} {
		if name == "" {
			continue
		}
		switch {
		case strings.Contains(name, "/"):
			return fmt.Errorf("incumbent: NodeElectionOptions: %s is a path: Crumb and Epoch are names in the "+
				"directory of %s", fault.Path(name), fault.Path(path))
		case slices.Contains(taken, name):
			return fmt.Errorf("incumbent: NodeElectionOptions: two nodes in the directory of %s would be %s: the "+
				"election's, Crumb and Epoch have names of their own", fault.Path(path), fault.Path(name))
		}
		if err := arguments.CheckNode("/" + name); err != nil {
			return err
		}
		taken = append(taken, name)
	}
	return nil
}

// opening returns the event that opens the machine.
func (o NodeElectionOptions) opening(path string, config *Config) events.Event {
	open := o.latch().open(path, config)
	delete(open.Options, machines.OptionOneFlight) // there is no line
	if o.Data != nil {
		open.Data = slices.Clone(o.Data)
	}
	for name, value := range map[string]string{machines.OptionCrumb: o.Crumb, machines.OptionEpoch: o.Epoch} {
		if value != "" {
			open.Options[name] = value
		}
	}
	if o.FenceTimeout > 0 {
		open.Options[machines.OptionFenceTimeout] = o.FenceTimeout.String()
	}
	return open
}

// Holder returns the participant whose node it is, of this library or of another program, as the server that the
// client is connected to knows; false if there is no node, or if no session owns it. The holder does not always lead:
// see Participant.First. Its ID is the node's data. Client.Evict takes leadership from it. Without a connection it
// waits for one. Errors: ErrClosed, the context's, or an *Error.
func (e *NodeElection) Holder(ctx context.Context) (Participant, bool, error) {
	return e.participant.client.holder(ctx, machines.NodeElectionRecipe.Name(), e.participant.Path())
}

// holder reads whose node a path has.
func (c *Client) holder(ctx context.Context, recipe, path string) (Participant, bool, error) {
	data, stat, err := c.read(ctx, path)
	refused := refusal(err)
	switch {
	case err == nil:
		p := Participant{Recipe: recipe, Path: path, ID: string(data), Token: stat.Czxid, Owner: stat.EphemeralOwner}
		p.First = !p.Persistent()
		return p, p.First, nil
	case refused != nil && refused.Code == events.NoNode:
		return Participant{}, false, nil
	case refused != nil:
		return Participant{}, false, refused
	}
	return Participant{}, false, err
}

// Start stands for election. It returns immediately; Err and Await return what fails in the background. A second call
// returns ErrAlreadyStarted, a call after Close returns ErrClosed.
func (e *NodeElection) Start() error { return e.participant.base.Start(context.Background(), "start") }

// Run calls the work under each term until ctx ends, or the work returns while this participant leads; then it closes
// the handle. See Latch.Run.
func (e *NodeElection) Run(ctx context.Context, work Work) error { return e.participant.run(ctx, work) }

// Await waits until this participant leads, and returns a Leadership that has to be released. See Latch.Await; Run is
// simpler.
func (e *NodeElection) Await(ctx context.Context) (*Leadership, error) {
	return e.participant.awaitTerm(ctx)
}

// Resign gives leadership up. It returns when the work under it has returned and the node is gone, by deletion or with
// the session. The error is ErrNotLeading if there is no leadership to give up.
func (e *NodeElection) Resign(ctx context.Context) error { return e.participant.resign(ctx, "resign") }

// Close ends the participation; see Latch.Close.
func (e *NodeElection) Close(ctx context.Context) error { return e.participant.Close(ctx) }

// CloseWith is Close with another mode than the options'.
func (e *NodeElection) CloseWith(ctx context.Context, mode CloseMode) error {
	return e.participant.CloseWith(ctx, mode)
}

// HasLeadership reports whether leadership may be believed at this instant.
func (e *NodeElection) HasLeadership() bool { return e.participant.HasLeadership() }

// AddListener adds a listener: its functions are called at every change of leadership from now on, and for a term that
// has begun. The returned function removes it.
func (e *NodeElection) AddListener(l Listener) (remove func()) { return e.participant.AddListener(l) }

// ID returns NodeElectionOptions.ID.
func (e *NodeElection) ID() string { return e.participant.ID() }

// Path returns the node's path.
func (e *NodeElection) Path() string { return e.participant.Path() }

// State returns LATENT, STARTED or CLOSED.
func (e *NodeElection) State() State { return e.participant.State() }

// Phase returns the state inside STARTED, by its name in docs/statecharts: "standby", "marking", "leading", …
func (e *NodeElection) Phase() string { return e.participant.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection (ErrNotConnected); nil if there
// is neither. The handle goes on trying, with pauses between its attempts. Work that goes on long after it had to end
// is a failure, too: ErrWorkRunning.
func (e *NodeElection) Err() error { return e.participant.Err() }

func (e *NodeElection) notice(n events.Notify) {
	switch n.What {
	case events.Fencing:
		e.beginFencing(n)
	case events.Unfenced:
		e.fencing.end(e.participant.client.lost(e.fencing, Reason(n.Reason), n.Paused))
	default:
		e.participant.noteTerm(n)
	}
}

// beginFencing calls Fence on a goroutine of its own; on the loop's goroutine.
func (e *NodeElection) beginFencing(n events.Notify) {
	p := &e.participant
	e.fencing = p.newTerm(n)
	e.fencing.fences = true
	p.client.core.Log.Log(zerolog.InfoLevel, "fencing the last leader", func(l *zerolog.Event) {
		p.identity(l).Int64("token", n.Token)
	})
	if !p.base.Works.Begin() {
		p.base.Post(events.Event{Kind: events.WorkReturned, Text: "the handle is being closed"})
		return
	}
	held := e.fencing.hold(p.client.base, p.client, func(l *Leadership, late error) {
		p.returned(events.Event{Text: l.failureText(late)}, late)
	})
	go func() {
		defer held.done(nil)
		p.client.core.Log.Guard("Fence", p.Path(), func() error { return e.fence(held.ctx, n.Data) },
			func(err error) { held.failed = errorText(cmp.Or(err, context.Cause(held.ctx))) })
	}()
}

func (e *NodeElection) answer(a events.Answer) { e.participant.base.Deliver(a) }

func (e *NodeElection) entered(now events.Entered) {
	if now.Class == events.ClassClosed {
		e.participant.client.core.Places.Free("node " + e.participant.Path())
	}
	e.participant.enterLine(now)
}

func (e *NodeElection) seal() { e.participant.seal() }

func (e *NodeElection) needsSession() bool { return e.participant.needsSession() }

func (e *NodeElection) asParticipant() *participant { return &e.participant }
