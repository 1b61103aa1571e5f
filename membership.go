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

// Member is somebody in a group.
type Member struct {
	ID      string // the node's name
	Payload []byte // the node's data. It is foreign: escape it before showing it.
	Owner   int64  // ZooKeeper's id of the session that owns the node; 0 for a persistent node, which never goes, and where Err is set
	Err     error  // why the node could not be read, if so
}

// Membership is one member of a group: a persistent node in the group's
// directory, named by the member's id, its data the payload. It is Curator's
// GroupMember, on the same names: Go and Java may share one group. Two members of
// the same id do not share a node: the second waits, with ErrOccupied, until the
// first has gone.
//
// All its methods are safe to call from any goroutine.
type Membership struct {
	node        persistentHandle
	group, name string
}

// Membership makes a member of a group, a directory that is made when it is
// missing. It joins with Start. The error says what is wrong with the path or the
// id, or is ErrNodeTaken or ErrClosed.
func (c *Client) Membership(path, id string, payload []byte, options PersistentNodeOptions) (*Membership, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if id == "" || strings.Contains(id, "/") {
		return nil, fmt.Errorf("incumbent: id %q of a member: want a name without a slash, as in host-a", id)
	}
	m := &Membership{group: path, name: id}
	if err := m.node.stand(c, path+"/"+id, payload, options); err != nil {
		return nil, err
	}
	return m, nil
}

// Path is the group's directory.
func (m *Membership) Path() string { return m.group }

// ID is the member's.
func (m *Membership) ID() string { return m.name }

// Members are those of the member's group; see Client.Members.
func (m *Membership) Members(ctx context.Context) ([]Member, error) {
	return m.node.client.Members(ctx, m.group)
}

// Watch tells who is in the member's group; see Client.WatchMembers.
func (m *Membership) Watch(ctx context.Context) iter.Seq2[[]string, error] {
	return m.node.client.WatchMembers(ctx, m.group)
}

// WatchMembers tells the ids of a group's members in alphabetical order, now and
// whenever they change, until the context ends or the loop over it is left. It
// makes no node, costs one read for each change, and survives reconnects and
// expiries, after which it tells the members again: some may have gone and come
// back. A group that nobody ever joined has no members.
//
// Members that come and go between two looks are missed, and so is what happens
// while the loop's body runs, except for the last of it. Payloads are not looked
// at: Members reads them. An error is told beside the members (no permission,
// say), and watching goes on; the context's end is not told.
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

// Members reads who is in a group, with payloads, from the server that the client
// is connected to, which may lag behind the ensemble's leader. Members that go
// meanwhile are left out, and one that may not be read says so in its Err. A
// directory that does not exist is an empty group.
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
	found, err := gather(len(ids), func(i int) (*Member, error) { return c.readMember(ctx, path, ids[i]) })
	var members []Member
	for _, m := range found {
		if m != nil {
			members = append(members, *m)
		}
	}
	return members, err
}

// readMember returns nil for a node that has gone meanwhile.
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

// ignoreNoNode is an error of a read, nil where there was no node.
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

// Start begins to make the node and returns at once. A second call returns
// ErrAlreadyStarted, and ErrClosed after Close.
func (m *Membership) Start() error { return m.node.Start() }

// WaitPresent returns when the node stands. When the context ends first, its
// error comes with the failure that stands in the way, if there is one.
//
// Errors: ErrNotStarted, ErrClosed, the context's, or an *Error for what does not
// pass by itself (no permission, say).
func (m *Membership) WaitPresent(ctx context.Context) error { return m.node.WaitPresent(ctx) }

// Present reports whether the node stands, as far as is known: while there is no
// connection it may be there, and Present is false.
func (m *Membership) Present() bool { return m.node.Present() }

// SetData gives the node other data, and returns when it has them, or later ones.
// Before Start and while the node does not stand they wait for its next create;
// the context ends the wait and not the wish. Of several at a time the last
// called wins.
//
// Errors: ErrClosed, the context's, or an *Error: data that the ensemble refuses
// for themselves are given up.
func (m *Membership) SetData(ctx context.Context, data []byte) error {
	return m.node.SetData(ctx, data)
}

// Close deletes the node. Without a connection it is deleted after the next one;
// when the context ends before, its error is returned and the deletion goes on by
// itself. Closing twice, or before Start, is no error.
func (m *Membership) Close(ctx context.Context) error { return m.node.Close(ctx) }

// State returns LATENT, STARTED or CLOSED.
func (m *Membership) State() State { return m.node.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts:
// "waiting", "leading", "suspended", "pausing", …
func (m *Membership) Phase() string { return m.node.Phase() }

// Err returns the handle's current failure, or nil if there is none. The handle
// goes on trying, with pauses between its attempts.
func (m *Membership) Err() error { return m.node.Err() }
