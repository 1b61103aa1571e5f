package incumbent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
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

// Create creates a node with these data and the access list of Config.ACL (or CreateRequest.ACL), and returns its
// real path. If the node exists already, the error is ErrNodeExists;
// if a parent is missing, ErrNoNode, unless Parents was called.
//
//	client.Create("/app/config", data).Parents().Do(ctx)
//	client.Create("/jobs/job-", data).Sequential().Protected().Do(ctx)
//	client.Create("/live/host-a", nil).Ephemeral().Background(ctx, f)
func (c *Client) Create(path string, data []byte) *CreateRequest {
	r := newRequest(c, "create", path, CreateNode(path, data).event())
	r.err = arguments.CheckParent(path)
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
// deletes those again when they are empty. It costs nothing if they exist. See Config.PersistentParents, too.
func (r *CreateRequest) Parents() *CreateRequest {
	r.client.opened()
	r.options[machines.OptionParents] = "true"
	return r
}

// PersistentParents is Parents, and creates them as persistent nodes: they stay, whatever becomes of their children.
// What exists already stays what it is.
func (r *CreateRequest) PersistentParents() *CreateRequest {
	r.client.opened()
	r.options[machines.OptionPersistentParents] = "true"
	return r.Parents()
}

// ACL gives the node this access list, in place of that of Config.ACL, which parents get. No log has it.
func (r *CreateRequest) ACL(list ...ACL) *CreateRequest {
	r.client.opened()
	if err := checkACL(r.path, list); err != nil && r.err == nil {
		r.err = err
	}
	r.lists = [][]zkio.ACL{accessOf(list)}
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
	r.options[machines.OptionProtected] = "true"
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

// Reads that handles send without a machine, which only the caller uses the reply of. As a Request, each waits
// for a connection until the context ends.

// read returns a node's data and stat.
func (c *Client) read(ctx context.Context, path string) (data []byte, stat events.Stat, err error) {
	err = c.send(ctx, "read", path, func() error {
		data, stat, err = c.core.IO.Read(ctx, path)
		return err
	}, unansweredRead)
	return data, stat, err
}

// list returns the names of a node's children in no order.
func (c *Client) list(ctx context.Context, path string) (children []string, err error) {
	err = c.send(ctx, "list", path, func() error {
		children, err = c.core.IO.List(ctx, path)
		return err
	}, unansweredRead)
	return children, err
}

// send calls try until again does not say of its error that another try does no harm. Between two of them it waits
// for the next change of the connection.
func (c *Client) send(ctx context.Context, op, path string, try func() error, again func(error) bool) error {
	c.check(ctx)
	if ctx.Err() != nil {
		return c.core.Explain(ctx, op, path, context.Cause(ctx), calls.NotBegun)
	}
	for {
		changed := c.session.nextChange() // before the try: a change in between counts
		err := try()
		if !again(err) {
			return c.core.Explain(ctx, op, path, err, c.core.NoReply)
		}
		select {
		case <-changed:
		case <-c.core.Closed:
			return c.core.Explain(ctx, op, path, ErrClosed, c.core.NoReply)
		case <-ctx.Done():
			return c.core.Explain(ctx, op, path, context.Cause(ctx), c.core.NoReply)
		}
	}
}

// unsent reports whether a request was not sent because there was no connection, or another session.
func unsent(err error) bool {
	return errors.Is(err, ErrNotConnected) || errors.Is(err, zkio.ErrOtherSession)
}

// unansweredRead reports whether a read was not sent, or its connection ended before the answer.
func unansweredRead(err error) bool {
	return unsent(err) || refusedWith(err, events.ConnectionLoss) || refusedWith(err, events.SessionExpired)
}

// reserve reserves what a client can have only once, because the session is all that
// identifies it there. It returns false if it is reserved already.
func (c *Client) reserve(place string) bool {
	c.opened()
	return c.core.Places.Reserve(place)
}

// Stat is what ZooKeeper has about a node, apart from its data.
type Stat struct {
	Czxid, Mzxid   int64     // transactions that created the node, and that wrote its data last
	Ctime, Mtime   time.Time // when those were, by the ensemble's clock, in UTC
	Version        int32     // how often its data were written
	Cversion       int32     // how often children were created or deleted
	Aversion       int32     // how often its access list was changed
	EphemeralOwner int64     // ZooKeeper's id of the session that owns it; 0 for every other type of node
	DataLength     int32     // bytes
	NumChildren    int32
	Pzxid          int64 // transaction that created or deleted a child last
}

// Node is the result of a read of a node.
type Node struct {
	Data []byte // foreign bytes, as a rule: escape them before showing them
	Stat Stat
}

// Op is one operation of Client.Multi or Leadership.Write: SetData, CreateNode, DeleteNode
// and CheckVersion return one.
type Op struct {
	Verb    string      // "set", "create", "delete" or "check"
	Path    string      // the node
	Mode    events.Mode // create: the type of node, as in CreateNode
	Data    []byte      // set, create
	ACL     []ACL       // create: the node's access list; nil means that of Config.ACL
	Version int32       // set, delete, check: the version that the node must have, or AnyVersion
}

// OpResult is the outcome of one operation of Client.Multi or Leadership.Write.
type OpResult struct {
	Code events.Code // why it was refused, in ZooKeeper's words; empty if it was not
	Path string      // create: the node's real path
	Stat *Stat       // set: the node's new Stat
}

// AnyVersion makes an operation apply to a node of any version. ZooKeeper counts on after 2147483647 at -2147483648, so
// a node that is written often enough has this version itself for one write: no operation alone can depend on that.
const AnyVersion int32 = -1

// SetData replaces a node's data if the node has this version.
func SetData(path string, data []byte, version int32) Op {
	return Op{Verb: "set", Path: path, Data: data, Version: version}
}

// CreateNode creates a persistent node, with the access list of Config.ACL, unless Op.ACL is set.
func CreateNode(path string, data []byte) Op {
	return Op{Verb: "create", Path: path, Mode: events.Persistent, Data: data}
}

// DeleteNode deletes a node if it has this version.
func DeleteNode(path string, version int32) Op {
	return Op{Verb: "delete", Path: path, Version: version}
}

// CheckVersion makes the whole write depend on a node's version.
func CheckVersion(path string, version int32) Op {
	return Op{Verb: "check", Path: path, Version: version}
}

// event returns the operation as machines and zkio have it.
func (o Op) event() events.Op {
	return events.Op{Verb: o.Verb, Path: o.Path, Mode: o.Mode, Data: o.Data, Version: o.Version}
}

func opEvents(ops []Op) []events.Op {
	all := make([]events.Op, len(ops))
	for i, op := range ops {
		all[i] = op.event()
	}
	return all
}

// opResults returns results as users see them; nil if there are none.
func opResults(results []zkio.OpResult) []OpResult {
	if results == nil {
		return nil
	}
	all := make([]OpResult, len(results))
	for i, r := range results {
		all[i] = OpResult{r.Code, r.Path, (*Stat)(r.Stat)}
	}
	return all
}

// checkOp returns what is wrong with the path of one operation of a multi.
func checkOp(op events.Op) error {
	if op.Verb != "create" {
		return arguments.CheckNode(op.Path)
	}
	return cmp.Or(arguments.CheckParent(op.Path), arguments.CheckNamed(op.Path, op.Mode))
}
