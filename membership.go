package incumbent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Member is one member of a group.
type Member struct {
	ID      string // the node's name
	Payload []byte // the node's data. It is foreign: escape it before showing it.
	Owner   int64  // ZooKeeper's id of the session that owns the node; 0 for a persistent node, which no session's end deletes, and if Err is set
	Err     error  // why the node could not be read; nil if it was
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
	if err := checkPath(path); err != nil {
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
		if err := checkPath(path); err != nil {
			return err
		}
		return f.watch(machines.MembershipRecipe.Name(), events.Event{Path: path}, func(n events.Notify, _ zkio.Kept) {
			if n.What == events.Members {
				f.put(feedItem[[]string]{key: "members", value: n.Names})
			}
		})
	})
}

// Members returns the members of a group, with payloads, from the server that the client is
// connected to, which may lag behind the ensemble's leader. It leaves out members that go
// meanwhile, and sets Err of a member that may not be read. A directory that does not exist
// is an empty group.
//
// Errors: ErrNotConnected, the context's, or an *Error.
func (c *Client) Members(ctx context.Context, path string) ([]Member, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	ids, err := c.list(ctx, path)
	if err != nil {
		return nil, ignoreNoNode(err)
	}
	slices.Sort(ids)
	found, err := readConcurrently(len(ids), func(i int) (*Member, error) { return c.readMember(ctx, path, ids[i]) })
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
