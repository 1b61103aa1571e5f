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
	standing
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
	if err := m.stand(c, path+"/"+id, payload, options); err != nil {
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
	return m.client.Members(ctx, m.group)
}

// Watch tells who is in the member's group; see Client.WatchMembers.
func (m *Membership) Watch(ctx context.Context) iter.Seq2[[]string, error] {
	return m.client.WatchMembers(ctx, m.group)
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
		return f.look(machines.MembershipRecipe.Name(), events.Event{Path: path}, func(n events.Notify, _ zkio.Kept) {
			if n.What == events.Members {
				f.put(sight[[]string]{key: "members", value: n.Names})
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
		return nil, unlessMissing(err)
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
	case refused != nil && !refused.Code.Passing() && refused.Code != events.NoNode:
		return &Member{ID: id, Err: refused}, nil
	}
	return nil, unlessMissing(err)
}

// unlessMissing is an error of a read, nil where there was no node.
func unlessMissing(err error) error {
	refused := refusal(err)
	switch {
	case refused == nil:
		return err
	case refused.Code == events.NoNode:
		return nil
	}
	return refused
}
