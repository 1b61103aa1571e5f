package incumbent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// PersistentNodeOptions are the options of a persistent node or a membership. The zero
// value is good.
type PersistentNodeOptions struct {
	// Retry paces attempts after a failure. They go on without end: after a policy gives
	// up, attempts follow every 5 s.
	Retry RetryPolicy
}

func (o PersistentNodeOptions) open() map[string]string {
	options := map[string]string{}
	setRetry(options, o.Retry)
	return options
}

// PersistentNode keeps one ephemeral node at a path: it is created again in every session,
// and after another client has deleted it: at once, or after a pause if that happens again
// and again (ErrDeletedAgain). It is Curator's PersistentNode in its mode EPHEMERAL.
//
// It never writes or deletes a node that another session created: Phase is "occupied" and
// Err is ErrOccupied until that node is gone: it is watched, or its directory if it may not be
// read. What an older session of this handle left behind is deleted, if its czxid or owner
// proves that. ZooKeeper compares versions and not owners when it deletes: if the node ends
// and another client creates its own there, in the very moment in which it is written or
// deleted here, this is not always noticed.
//
// All its methods are safe to call from any goroutine.
type PersistentNode struct{ handle persistentHandle }

// persistentHandle is what persistent nodes and memberships share.
type persistentHandle struct {
	handle

	data    nodeData
	present bool
}

// PersistentNode returns a handle of a node with these data. It does nothing before Start.
// Missing parents are created, as containers if the server can. The error says what is
// wrong with the path, or is ErrNodeTaken or ErrClosed.
func (c *Client) PersistentNode(path string, data []byte, options PersistentNodeOptions) (*PersistentNode, error) {
	p := &PersistentNode{}
	if err := p.handle.prepare(c, path, data, options); err != nil {
		return nil, err
	}
	return p, nil
}

func (s *persistentHandle) prepare(c *Client, path string, data []byte, options PersistentNodeOptions) error {
	if err := cmp.Or(arguments.CheckLine(path), checkOptions(options)); err != nil {
		return err
	}
	if !c.reserve("node " + path) {
		return fmt.Errorf("%w: %s", ErrNodeTaken, fault.Path(path))
	}
	s.init(c, path)
	s.data.broken = c.core.Invariants.Of(&s.base.Machine)
	first := s.data.first(data)
	_, err := c.register(machines.PersistentRecipe, func(id events.ID) receiver {
		s.base.Machine = id
		return s
	}, events.Event{Path: path, Work: first, Options: options.open()})
	if err != nil {
		c.core.Places.Free("node " + path)
	}
	return err
}

// entered is called by the loop.
func (s *persistentHandle) entered(now events.Entered) {
	if now.Class == events.ClassClosed {
		s.client.core.Places.Free("node " + s.Path()) // before Close returns
	}
	s.base.Enter(now)
}

// Start begins to create the node and returns immediately. A second call returns
// ErrAlreadyStarted, a call after Close returns ErrClosed.
func (s *persistentHandle) Start() error {
	return s.base.Start(context.Background(), "start")
}

// WaitPresent returns when the node exists. If the context ends first, the error says
// why the node does not exist yet.
//
// Errors: ErrNotStarted, ErrClosed, the context's, or an *Error for a failure that does not
// pass by itself (no permission, say).
func (s *persistentHandle) WaitPresent(ctx context.Context) error {
	return s.base.AskOrCancel(ctx, "wait present", events.Event{Kind: events.CommandAwait})
}

// Present reports whether the node exists, as far as is known: while there is no connection
// it may exist, and Present is false.
func (s *persistentHandle) Present() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.present
}

// SetData replaces the node's data, and returns when it has them, or later ones. Before
// Start and while the node does not exist they wait for its next create; the context ends
// the wait, but the data are still used. The newest data win: what a later call replaces
// before it was sent is forgotten, so however many calls there are, at most a few of their
// data are kept.
//
// Errors: ErrClosed, the context's, or an *Error: data that the ensemble refuses are given
// up.
func (s *persistentHandle) SetData(ctx context.Context, data []byte) error {
	s.client.check(ctx)
	return s.base.Explain(ctx, "set data", s.data.set(ctx, s, data))
}

// Close deletes the node. Without a connection it is deleted after the next one; if the
// context ends before, Close returns its error and the deletion goes on in the background.
// Closing twice, or before Start, is no error.
func (s *persistentHandle) Close(ctx context.Context) error { return s.base.End(ctx, false) }

// payload returns the user's data with this number, for a request that the loop sends.
func (s *persistentHandle) payload(n uint64, creates bool) []byte { return s.data.use(n, creates) }

func (s *persistentHandle) notice(n events.Notify) {
	if n.What == events.Present || n.What == events.Absent {
		s.mu.Lock()
		s.present = n.What == events.Present
		s.mu.Unlock()
	}
	s.base.NoteTrouble(n)
}

func (s *persistentHandle) answer(a events.Answer) {
	s.base.Deliver(a)
	s.data.answered(a)
}

// Start begins to create the node and returns immediately. A second call returns
// ErrAlreadyStarted, a call after Close returns ErrClosed.
func (p *PersistentNode) Start() error { return p.handle.Start() }

// WaitPresent returns when the node exists. If the context ends first, the error says
// why the node does not exist yet.
//
// Errors: ErrNotStarted, ErrClosed, the context's, or an *Error for a failure that does not
// pass by itself (no permission, say).
func (p *PersistentNode) WaitPresent(ctx context.Context) error { return p.handle.WaitPresent(ctx) }

// Present reports whether the node exists, as far as is known: while there is no connection
// it may exist, and Present is false.
func (p *PersistentNode) Present() bool { return p.handle.Present() }

// SetData replaces the node's data, and returns when it has them, or later ones. Before
// Start and while the node does not exist they wait for its next create; the context ends
// the wait, but the data are still used. The newest data win: what a later call replaces
// before it was sent is forgotten, so however many calls there are, at most a few of their
// data are kept.
//
// Errors: ErrClosed, the context's, or an *Error: data that the ensemble refuses are given
// up.
func (p *PersistentNode) SetData(ctx context.Context, data []byte) error {
	return p.handle.SetData(ctx, data)
}

// Close deletes the node. Without a connection it is deleted after the next one; if the
// context ends before, Close returns its error and the deletion goes on in the background.
// Closing twice, or before Start, is no error.
func (p *PersistentNode) Close(ctx context.Context) error { return p.handle.Close(ctx) }

// Path returns the node's path.
func (p *PersistentNode) Path() string { return p.handle.Path() }

// State returns LATENT, STARTED or CLOSED.
func (p *PersistentNode) State() State { return p.handle.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (p *PersistentNode) Phase() string { return p.handle.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (p *PersistentNode) Err() error { return p.handle.Err() }

// Member is one member of a group.
type Member struct {
	ID      string // the node's name
	Payload []byte // the node's data. It is foreign: escape it before showing it.
	// Owner is ZooKeeper's id of the session that owns the node. It is 0 for a persistent node, which no session's end
	// deletes, and if Err is set.
	Owner int64
	Err   error // why the node could not be read; nil if it was
}

// Membership is one member of a group: a PersistentNode in the group's directory, with the
// member's id as its name and the payload as its data. It is Curator's GroupMember, on the
// same names: Go and Java can be in one group. Two members with the same id do not share a
// node: the second waits, with ErrOccupied, until the first is gone.
//
// All its methods are safe to call from any goroutine.
type Membership struct {
	node        persistentHandle
	group, name string
}

// Membership returns a member of the group at path. If the directory is missing, it is
// created. The member joins with Start. The error says what is wrong with the path or the
// id, or is ErrNodeTaken or ErrClosed.
func (c *Client) Membership(path, id string, payload []byte, options PersistentNodeOptions) (*Membership, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if id == "" || strings.Contains(id, "/") {
		return nil, fmt.Errorf("incumbent: id %s of a member: want a name without a slash, as in host-a",
			events.Quote(id, events.MaxName))
	}
	m := &Membership{group: path, name: id}
	if err := m.node.prepare(c, path+"/"+id, payload, options); err != nil {
		return nil, err
	}
	return m, nil
}

// Path returns the group's directory.
func (m *Membership) Path() string { return m.group }

// ID returns the member's id.
func (m *Membership) ID() string { return m.name }

// Members returns the members of the member's group; see Client.Members.
func (m *Membership) Members(ctx context.Context) ([]Member, error) {
	return m.node.client.Members(ctx, m.group)
}

// Watch returns the ids in the member's group as they change; see Client.WatchMembers.
func (m *Membership) Watch(ctx context.Context) iter.Seq2[[]string, error] {
	return m.node.client.WatchMembers(ctx, m.group)
}

// WatchMembers returns a feed of the ids of a group's members in alphabetical order, now
// and whenever they change, until the context ends or the loop over it is left. It creates
// no node, costs one read for each change, and survives reconnects and expiries. After
// those it yields the members again: some may have gone and come back. A group without a
// directory has no members.
//
// It misses members that come and go between two reads, and changes while the loop's body
// runs, except for the last of them. It does not read payloads: Members does. An error (no
// permission, say) is yielded too, and watching goes on; the context's end is not yielded.
func (c *Client) WatchMembers(ctx context.Context, path string) iter.Seq2[[]string, error] {
	return stream(ctx, c, func(f *feed[[]string]) error {
		if err := arguments.CheckLine(path); err != nil {
			return err
		}
		return f.watch(machines.MembershipRecipe, events.Event{Path: path}, func(n events.Notify, _ zkio.Kept) {
			if n.What == events.Members {
				f.Put(feedItem[[]string]{Key: "members", Value: n.Names})
			}
		})
	})
}

// Members returns the members of a group, with payloads, from the server that the client is
// connected to, which may lag behind the ensemble's leader. It leaves out members that go
// meanwhile, and sets Err of a member that may not be read. A directory that does not exist
// is an empty group.
//
// Without a connection it waits for one, as Get does. Errors: ErrClosed, the context's, or an *Error.
func (c *Client) Members(ctx context.Context, path string) ([]Member, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	ids, err := c.list(ctx, path)
	if err != nil {
		return nil, ignoreNoNode(err)
	}
	slices.Sort(ids)
	found, err := async.ReadAll(len(ids), func(i int) (*Member, error) { return c.readMember(ctx, path, ids[i]) })
	var members []Member
	for _, m := range found {
		if m != nil {
			members = append(members, *m)
		}
	}
	return members, err
}

// readMember returns nil for a node that was deleted meanwhile.
func (c *Client) readMember(ctx context.Context, path, id string) (*Member, error) {
	data, stat, err := c.read(ctx, path+"/"+id)
	refused := refusal(err)
	switch {
	case err == nil:
		return &Member{ID: id, Payload: data, Owner: stat.EphemeralOwner}, nil
	case refused != nil && !refused.Code.Transient() && refused.Code != events.NoNode:
		return &Member{ID: id, Err: refused}, nil
	}
	return nil, ignoreNoNode(err)
}

// ignoreNoNode returns the error of a read, nil if there was no node.
func ignoreNoNode(err error) error {
	refused := refusal(err)
	switch {
	case refused == nil:
		return err
	case refused.Code == events.NoNode:
		return nil
	}
	return refused
}

// Start begins to create the node and returns immediately. A second call returns
// ErrAlreadyStarted, a call after Close returns ErrClosed.
func (m *Membership) Start() error { return m.node.Start() }

// WaitPresent returns when the node exists. If the context ends first, the error says
// why the node does not exist yet.
//
// Errors: ErrNotStarted, ErrClosed, the context's, or an *Error for a failure that does not
// pass by itself (no permission, say).
func (m *Membership) WaitPresent(ctx context.Context) error { return m.node.WaitPresent(ctx) }

// Present reports whether the node exists, as far as is known: while there is no connection
// it may exist, and Present is false.
func (m *Membership) Present() bool { return m.node.Present() }

// SetData replaces the node's data, and returns when it has them, or later ones. Before
// Start and while the node does not exist they wait for its next create; the context ends
// the wait, but the data are still used. The newest data win: what a later call replaces
// before it was sent is forgotten, so however many calls there are, at most a few of their
// data are kept.
//
// Errors: ErrClosed, the context's, or an *Error: data that the ensemble refuses are given
// up.
func (m *Membership) SetData(ctx context.Context, data []byte) error {
	return m.node.SetData(ctx, data)
}

// Close deletes the node. Without a connection it is deleted after the next one; if the
// context ends before, Close returns its error and the deletion goes on in the background.
// Closing twice, or before Start, is no error.
func (m *Membership) Close(ctx context.Context) error { return m.node.Close(ctx) }

// State returns LATENT, STARTED or CLOSED.
func (m *Membership) State() State { return m.node.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (m *Membership) Phase() string { return m.node.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (m *Membership) Err() error { return m.node.Err() }
