package incumbent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/zkio"
)

// maxTTL is the longest TTL that ZooKeeper can encode: 40 bits of milliseconds.
const maxTTL = (1<<40 - 1) * time.Millisecond

// CreateRequest creates a node; Client.Create returns one. Its methods choose the type of
// the node, and return the request itself.
//
// ZooKeeper has these types. A persistent node, the default, stays until a client deletes
// it. An Ephemeral one is deleted with the session that created it. A Container is deleted
// some time after its last child, a node with a TTL some time after its last write.
// Persistent and ephemeral nodes and those with a TTL may be Sequential: the ensemble then
// adds a number to the name.
type CreateRequest struct {
	request
	ephemeral, sequential, container bool
	ttl                              time.Duration
}

// Create creates a node with these data and the access list of Config.ACL, and returns its
// real path. If the node exists already, the error is an *Error with the code NODEEXISTS;
// if a parent is missing, with NONODE, unless Parents was called.
//
//	client.Create("/app/config", data).Parents().Do(ctx)
//	client.Create("/jobs/job-", data).Sequential().Protected().Do(ctx)
//	client.Create("/live/host-a", nil).Ephemeral().Background(ctx, f)
func (c *Client) Create(path string, data []byte) *CreateRequest {
	r := newRequest(c, "create", path, CreateNode(path, data).event())
	r.err = checkParent(path)
	return &CreateRequest{request: r}
}

// Do sends the request, and waits for the reply, or for the end of the context. It returns
// the node's real path. Request.Do says what happens without a connection, and which errors
// there are; ErrOutcomeUnknown is not among them after Protected.
func (r *CreateRequest) Do(ctx context.Context) (path string, err error) {
	result := r.run(ctx)
	return result.Created, result.Err
}

// Ephemeral creates a node that the ensemble deletes when the session of this client ends:
// immediately when the client is closed, and otherwise when the session has expired, which
// is after its timeout, not when the connection is lost. It cannot have children. If the
// node shall be created again in the next session, use a PersistentNode.
func (r *CreateRequest) Ephemeral() *CreateRequest {
	r.ephemeral = true
	return r.settle()
}

// Sequential makes the ensemble add ten digits to the name: a number that counts the
// children ever created in this parent. So it grows from node to node, and begins again
// only if the parent itself is deleted and created. A path may then end in a slash.
func (r *CreateRequest) Sequential() *CreateRequest {
	r.sequential = true
	return r.settle()
}

// Container creates a parent that the ensemble deletes by itself some time (a minute, as a
// rule) after its last child was deleted: a program that creates children in it must be
// ready to create it again (Parents does). One that never had a child stays. Servers have
// containers since 3.5.3: the others return ErrNodeType.
func (r *CreateRequest) Container() *CreateRequest {
	r.container = true
	return r.settle()
}

// TTL creates a node that the ensemble deletes by itself some time after it has had no
// children and no write for d, in whole milliseconds. Reading it does not extend its life.
// Servers accept such nodes since 3.5.3, and only with zookeeper.extendedTypesEnabled=true:
// all others return ErrNodeType.
func (r *CreateRequest) TTL(d time.Duration) *CreateRequest {
	if d < time.Millisecond || d > maxTTL || d%time.Millisecond != 0 {
		r.refuse("a TTL of %v: want whole milliseconds, from 1ms to %v", d, maxTTL)
	}
	r.ttl = d
	return r.settle()
}

// Parents creates missing parents, as containers if the server has them: the ensemble
// deletes those again when they are empty. It costs nothing if they exist.
func (r *CreateRequest) Parents() *CreateRequest {
	r.client.opened()
	r.options["parents"] = "true"
	return r
}

// Protected puts a GUID before the node's name, as Curator's withProtection does
// ("_c_<uuid>-" and then the name). By the GUID the node is found again if no reply to its
// create comes: such a create does not end with ErrOutcomeUnknown, and creates one node. If
// the context ends first, the node that may have been created is deleted again, if need be
// after the next connection; so the error is the context's. Only the end of the client ends
// that search.
func (r *CreateRequest) Protected() *CreateRequest {
	r.client.opened()
	r.options["protected"] = "true"
	return r
}

// settle sets the type of node that the methods called so far ask for.
func (r *CreateRequest) settle() *CreateRequest {
	r.client.opened()
	type choice struct{ ephemeral, sequential, container, ttl bool }
	mode, known := map[choice]events.Mode{
		{}:                                  events.Persistent,
		{sequential: true}:                  events.PersistentSequential,
		{ephemeral: true}:                   events.Ephemeral,
		{ephemeral: true, sequential: true}: events.EphemeralSequential,
		{container: true}:                   events.Container,
		{ttl: true}:                         events.PersistentTTL,
		{ttl: true, sequential: true}:       events.PersistentSequentialTTL,
	}[choice{r.ephemeral, r.sequential, r.container, r.ttl != 0}]
	if !known {
		r.refuse("%s: a node is ephemeral, a container or has a TTL, and a container is not sequential",
			fault.Path(r.path))
	}
	r.ops[0].Mode, r.ops[0].TTL = mode, r.ttl
	return r
}

// Requests that handles send without a machine: each is sent once, and only the caller uses
// the reply.

// read returns a node's data and stat.
func (c *Client) read(ctx context.Context, path string) ([]byte, events.Stat, error) {
	c.check(ctx)
	data, stat, err := c.io.Read(ctx, path)
	return data, stat, c.sendErr(ctx, "read", path, err)
}

// list returns the names of a node's children in no order.
func (c *Client) list(ctx context.Context, path string) ([]string, error) {
	c.check(ctx)
	children, err := c.io.List(ctx, path)
	return children, c.sendErr(ctx, "list", path, err)
}

// commit carries operations out, all or none, in the session that was the client's a moment
// ago.
func (c *Client) commit(ctx context.Context, session int64, ops ...events.Op) ([]zkio.OpResult, error) {
	c.check(ctx)
	results, _, err := c.io.Commit(ctx, session, ops)
	return results, c.sendErr(ctx, "write", ops[0].Path, err)
}

// sendErr returns the error of such a request, with what its caller has to know.
func (c *Client) sendErr(ctx context.Context, op, path string, err error) error {
	return c.explain(ctx, op, path, c.notSentErr(err), c.noReply)
}

// notSentErr returns why a request could not be sent, in terms that its caller knows: not
// of sessions, and with ErrClosed for a closed client.
func (c *Client) notSentErr(err error) error {
	other := errors.Is(err, zkio.ErrOtherSession)
	if !other && !errors.Is(err, ErrNotConnected) {
		return err
	}
	select {
	case <-c.closed:
		return ErrClosed
	default:
	}
	if other {
		return fmt.Errorf("%w (%v)", ErrNotConnected, err)
	}
	return err
}

// reserve reserves what a client can have only once, because the session is all that
// identifies it there. It returns false if it is reserved already. unreserve undoes it.
func (c *Client) reserve(place string) bool {
	_, ok := c.tryReserve(place)
	return ok
}

// tryReserve reserves a place, or returns what is closed when it is free.
func (c *Client) tryReserve(place string) (freed <-chan struct{}, ok bool) {
	c.opened()
	c.mu.Lock()
	defer c.mu.Unlock()
	if freed, taken := c.reserved[place]; taken {
		return freed, false
	}
	c.reserved[place] = make(chan struct{})
	return nil, true
}

// reserveWhenFree waits until the place is free. It returns the context's cause, or ErrClosed.
func (c *Client) reserveWhenFree(ctx context.Context, place string) error {
	for {
		freed, ok := c.tryReserve(place)
		if ok {
			return nil
		}
		select {
		case <-freed:
		case <-c.closed:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *Client) unreserve(place string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if freed, taken := c.reserved[place]; taken {
		close(freed)
		delete(c.reserved, place)
	}
}
