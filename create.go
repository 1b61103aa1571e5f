package incumbent

import (
	"context"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// maxTTL is the longest that ZooKeeper can say: 40 bits of milliseconds.
const maxTTL = (1<<40 - 1) * time.Millisecond

// sequential are the modes that add a number to the name.
var sequential = map[events.Mode]bool{events.PersistentSequential: true, events.EphemeralSequential: true, events.PersistentSequentialTTL: true}

// CreateRequest makes a node; made by Client.Create. Its methods say which type
// of node, and return the request itself.
//
// ZooKeeper has these types. A persistent node, which is the default, stays until
// somebody deletes it. An Ephemeral one goes with the session that made it. A
// Container goes some time after its last child, a node with a TTL some time after
// its last write. Persistent and ephemeral nodes and those with a TTL may be
// Sequential: the ensemble then adds a number to the name.
type CreateRequest struct {
	request
	ephemeral, sequential, container bool
	ttl                              time.Duration
}

// Create makes a node with these data and the access list of Config.ACL, and
// returns its real path. A node that is there already is an *Error with the code
// NODEEXISTS; a parent that is missing one with NONODE, unless Parents was said.
//
//	client.Create("/app/config", data).Parents().Do(ctx)
//	client.Create("/jobs/job-", data).Sequential().Protected().Do(ctx)
//	client.Create("/live/host-a", nil).Ephemeral().Background(ctx, f)
func (c *Client) Create(path string, data []byte) *CreateRequest {
	r := newRequest(c, "create", path, CreateNode(path, data).event())
	r.err = checkParent(path)
	return &CreateRequest{request: r}
}

// Do sends the request, and waits for the answer, or for the context. It returns the
// node's real path. Request.Do says what happens without a connection, and which
// errors there are; ErrOutcomeUnknown is not among them after Protected.
func (r *CreateRequest) Do(ctx context.Context) (path string, err error) {
	result := r.run(ctx)
	return result.Created, result.Err
}

// Ephemeral makes a node that the ensemble deletes when the session of this client
// ends: at once when the client is closed, and else when the session has expired,
// which is after its timeout, not when the connection is lost. It cannot have
// children. A node that shall come back in the next session is a PersistentNode.
func (r *CreateRequest) Ephemeral() *CreateRequest {
	r.ephemeral = true
	return r.settle()
}

// Sequential has the ensemble add ten digits to the name: a number that counts the
// children ever made in this parent, so that it grows from node to node and begins
// again only when the parent itself is made anew. A path may then end in a slash.
func (r *CreateRequest) Sequential() *CreateRequest {
	r.sequential = true
	return r.settle()
}

// Container makes a parent that the ensemble deletes by itself some time (a minute,
// as a rule) after its last child has gone: whoever makes children in it must be
// ready to make it again (Parents does). One that never had a child stays. Servers
// know containers since 3.5.3: ErrNodeType from those that do not.
func (r *CreateRequest) Container() *CreateRequest {
	r.container = true
	return r.settle()
}

// TTL makes a node that the ensemble deletes by itself some time after nobody has
// written to it for so long, in whole milliseconds, and it has no children.
// Reading it does not prolong its life. Servers take such nodes since 3.5.3, and
// only with zookeeper.extendedTypesEnabled=true: ErrNodeType from all others.
func (r *CreateRequest) TTL(d time.Duration) *CreateRequest {
	if d < time.Millisecond || d > maxTTL || d%time.Millisecond != 0 {
		r.refuse("a TTL of %v: want whole milliseconds, from 1ms to %v", d, maxTTL)
	}
	r.ttl = d
	return r.settle()
}

// Parents has missing parents made, as containers where the server knows them: the
// ensemble deletes those again when they are empty. It costs nothing where they
// are there.
func (r *CreateRequest) Parents() *CreateRequest {
	r.client.opened()
	r.options["parents"] = "true"
	return r
}

// Protected puts a GUID before the node's name, as Curator's withProtection does
// ("_c_<uuid>-" and then the name), by which the node is found again when the
// answer to its create is lost: such a create is no ErrOutcomeUnknown, and makes
// one node. When the context ends first, the node that may have been made is
// deleted again, if it takes until after the next connection; so the error is the
// context's. Only the end of the client ends that search.
func (r *CreateRequest) Protected() *CreateRequest {
	r.client.opened()
	r.options["protected"] = "true"
	return r
}

// settle finds the type of node for what was said so far.
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
		r.refuse("%s: a node is ephemeral, a container or has a TTL, and a container is not sequential", r.path)
	}
	r.ops[0].Mode, r.ops[0].TTL = mode, r.ttl
	return r
}
