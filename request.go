package incumbent

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/handles"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Result is the outcome of a request in the background. Err says whether it succeeded; the
// kind of request determines which other fields are set.
type Result struct {
	Op       string     // "create", "get", "set", "exists", "children", "delete", "multi", "sync"
	Path     string     // as given in the request; of a multi, that of its first operation
	Created  string     // create: the node's real path
	Data     []byte     // get
	Stat     *Stat      // get, set, children; exists: nil if there is no node
	Children []string   // children, in alphabetical order
	Results  []OpResult // multi; if it was refused, they say which operation it was
	Err      error
}

// Request is one operation that has not been sent yet; Client.Get and other methods return
// one. Do or Background sends it. A Request may be sent any number of times, by one
// goroutine at a time.
type Request[T any] struct {
	request
	pick func(Result) T
}

// Do sends the request, and waits for the reply, or for the end of the context.
//
// Without a connection it waits for one. If a read loses its connection, it is sent again
// on the next. A write is sent at most once, and belongs to the session in which Do was
// called. Errors:
//
//   - what is wrong with the input, before anything is sent
//   - an *Error with ZooKeeper's code: nothing was done
//   - ErrOutcomeUnknown: a write was sent, and the connection, the context or the
//     client ended before the reply came. Read before you decide.
//   - ErrSessionExpired: the session ended before a write was sent
//   - the context's, or ErrClosed: nothing was done, or it was a read
//
// Do must not be called on the loop's goroutine; no function of a user runs there.
func (r *Request[T]) Do(ctx context.Context) (T, error) {
	result := r.run(ctx)
	return r.pick(result), result.Err
}

// Task is a Request that returns nothing but an error.
type Task struct{ request }

// Do sends the request, and waits for the reply, or for the end of the context. See
// Request.Do.
func (r *Task) Do(ctx context.Context) error { return r.run(ctx).Err }

// request is what all requests share. It refuses mistakes in the input. A machine decides on all that was sent.
type request struct {
	client  *Client
	op      string
	path    string
	ops     []events.Op
	lists   [][]zkio.ACL // access lists of new nodes, by the places of the operations; nil: Config.ACL
	options map[string]string
	err     error // what is wrong with the input; the first mistake counts
}

// Background sends the request, and calls f with the result, once: on a goroutine of its
// own, so it may be slow. Requests are sent in the order of the calls; the order of the
// calls of f is not defined. Background returns immediately.
func (r *request) Background(ctx context.Context, f func(Result)) {
	if f == nil {
		caller.Misuse("needs a function to call: without it a failure would be lost")
	}
	wait := r.begin(ctx)
	box := async.NewCalls(r.client.core.Log.LogPanic("a callback", r.path))
	go func() {
		result := wait()
		box.Call(func() { f(result) }, func() {})
	}()
}

func (r *request) run(ctx context.Context) Result { return r.begin(ctx)() }

// refuse keeps the first mistake in the input.
func (r *request) refuse(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("incumbent: "+format, args...)
	}
}

// refuseAnyVersion refuses the version that the server would take for any: a node that was read may have it.
func (r *request) refuseAnyVersion(version int32) {
	if version == AnyVersion {
		r.refuse("%s of %s in version %d: ZooKeeper takes %d for any version: leave Version out if that is meant, "+
			"or wait until the node is written again", r.op, fault.Path(r.path), version, version)
	}
}

// begin asks, and returns what waits for the answer.
func (r *request) begin(ctx context.Context) (wait func() Result) {
	_, wait = r.beginCall(ctx)
	return wait
}

// beginCall is begin. It returns the handle of the request's machine, too, which has asked for nothing if the input is
// wrong.
func (r *request) beginCall(ctx context.Context) (a *requestCall, wait func() Result) {
	r.client.check(ctx)
	a = &requestCall{op: r.op, ops: r.ops, lists: r.lists, payloads: make([][]byte, len(r.ops))}
	failed := func(err error) (*requestCall, func() Result) {
		return a, func() Result { return Result{Op: r.op, Path: r.path, Err: err} }
	}
	switch {
	case r.err != nil:
		return failed(r.err)
	case r.op == "create" && arguments.CheckNamed(r.ops[0].Path, r.ops[0].Mode) != nil:
		return failed(arguments.CheckNamed(r.ops[0].Path, r.ops[0].Mode))
	case ctx.Err() != nil:
		return failed(r.client.core.Explain(ctx, r.op, r.path, context.Cause(ctx), calls.NotBegun))
	}
	a.init(r.client, r.path)
	ops := slices.Clone(r.ops)
	for i := range ops { // machines and the log have only the numbers of payloads
		if ops[i].Data != nil {
			a.payloads[i] = bytes.Clone(ops[i].Data)
			ops[i].Data, ops[i].Payload = nil, uint64(i+1)
		}
	}
	open := events.Event{Path: r.path, Ops: ops, Options: maps.Clone(r.options)}
	if _, err := r.client.register(machines.RequestRecipe, func(id events.ID) receiver {
		a.base.Machine = id
		return a
	}, open); err != nil {
		return failed(calls.AsError(r.op, r.path, err))
	}
	n, replied, err := a.base.Begin(events.Event{Kind: events.CommandStart})
	if err != nil {
		return failed(calls.AsError(r.op, r.path, err))
	}
	return a, func() Result { return a.await(ctx, n, replied) }
}

// requestCall is the handle of the machine of one request.
type requestCall struct {
	handle
	op       string
	ops      []events.Op
	payloads [][]byte
	lists    [][]zkio.ACL // the access lists of the nodes, by the places of the operations

	// Set before the answer comes, read after it.
	kept    zkio.Kept
	created string
	removed int // of a removal: how many items it has deleted
}

// await waits for the answer, or for the end of the context. If that ends first, the
// machine says whether anything can have been done.
func (a *requestCall) await(ctx context.Context, n uint64, replied chan calls.Reply) Result {
	err := a.base.AwaitOutcome(ctx, handles.OneCommand{Op: a.op, Number: n, Replied: replied, Reads: a.reads()})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.op == "set" && len(a.kept.Results) > 0 {
		a.kept.Stat = a.kept.Results[0].Stat
	}
	result := Result{Op: a.op, Path: a.Path(), Created: a.created, Data: a.kept.Data, Stat: (*Stat)(a.kept.Stat),
		Children: slices.Sorted(slices.Values(a.kept.Children)), Err: err}
	if a.op == "multi" {
		result.Results, result.Err = opResults(a.kept.Results), a.nameRefusedOp(err)
	}
	return result
}

// reads reports whether the request changes nothing, whatever its outcome.
func (a *requestCall) reads() bool {
	switch a.op {
	case "get", "exists", "children", "sync":
		return true
	}
	return false
}

// nameRefusedOp adds the path of the refused operation to a multi's error.
func (a *requestCall) nameRefusedOp(err error) error {
	if refused, is := err.(*Error); is && refused.Text == "" {
		for i, r := range a.kept.Results {
			if r.Code == refused.Code {
				return &Error{refused.Code, a.ops[i].Path}
			}
		}
	}
	return err
}

// Close ends a request with its client.
func (a *requestCall) Close(ctx context.Context) error { return a.base.End(ctx, false) }

func (a *requestCall) payload(n uint64, _ bool) []byte { return a.payloads[n-1] }

// accessLists returns the access lists of the nodes that a request creates. Parents have none of their own.
func (a *requestCall) accessLists(r events.Request) [][]zkio.ACL {
	if create, is := r.(events.Create); is && strings.HasPrefix(a.Path(), create.Path+"/") {
		return nil
	}
	return a.lists
}

// keep takes data of a reply that are for the user. zkio calls it.
func (a *requestCall) keep(_ uint64, kept zkio.Kept) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = kept
}

// answer is called by the loop: for a create it has the node's path.
func (a *requestCall) answer(answer events.Answer) {
	if answer.Code == events.OK && answer.Text != "" {
		a.mu.Lock()
		a.created = answer.Text
		a.mu.Unlock()
		answer.Text = ""
	}
	a.base.Deliver(answer)
}

func newRequest(c *Client, op, path string, ops ...events.Op) request {
	r := request{client: c, op: op, path: path, ops: ops, options: map[string]string{}}
	if len(ops) == 0 {
		r.ops = []events.Op{{Verb: op, Path: path}}
	}
	r.err = arguments.CheckNode(path)
	return r
}

// Get reads a node's data and Stat, from the server that the client is connected to, which
// may lag behind the ensemble's leader: call Sync before if that matters. If the node does
// not exist, the error is ErrNoNode.
func (c *Client) Get(path string) *Request[Node] {
	return &Request[Node]{newRequest(c, "get", path), func(r Result) Node {
		if r.Stat == nil {
			return Node{}
		}
		return Node{r.Data, *r.Stat}
	}}
}

// Exists reads a node's Stat: nil if there is no such node. Servers since 3.8.4 and 3.9.2 refuse it with
// NOAUTH if the node is there and this client may not read it; older ones need no permission.
func (c *Client) Exists(path string) *Request[*Stat] {
	return &Request[*Stat]{newRequest(c, "exists", path), func(r Result) *Stat { return r.Stat }}
}

// Children lists the names of a node's children in alphabetical order.
func (c *Client) Children(path string) *Request[[]string] {
	return &Request[[]string]{newRequest(c, "children", path), func(r Result) []string { return r.Children }}
}

// Sync makes the server that the client is connected to catch up with the ensemble's
// leader: reads that begin after Sync has returned see all writes, by any client, that were
// committed before Sync was called.
func (c *Client) Sync(path string) *Task { return &Task{newRequest(c, "sync", path)} }

// Multi carries out all operations or none: those of SetData, CreateNode, DeleteNode and
// CheckVersion. An Op that creates may have another Mode than events.Persistent, but no
// multi can create containers or nodes with a TTL. If it was refused, the results say which
// operation it was.
func (c *Client) Multi(ops ...Op) *Request[[]OpResult] {
	path := "/"
	if len(ops) > 0 {
		path = ops[0].Path
	}
	r := newRequest(c, "multi", path, opEvents(ops)...)
	r.options[machines.OptionMulti] = "true"
	if len(ops) == 0 {
		r.refuse("a multi without operations")
	}
	r.lists = accessLists(ops)
	for _, op := range ops {
		if err := op.checkACL(); err != nil && r.err == nil {
			r.err = err
		}
	}
	for _, op := range r.ops {
		if err := checkOp(op); err != nil && r.err == nil {
			r.err = err
		}
		switch {
		case op.Verb != "create" && op.Verb != "set" && op.Verb != "delete" && op.Verb != "check":
			r.refuse("verb %s of an operation of a multi: want create, set, delete or check", events.Quote(op.Verb,
				events.MaxName))
		case op.Mode == events.Container || op.Mode == events.PersistentTTL ||
			op.Mode == events.PersistentSequentialTTL:
			r.refuse("%s: containers and nodes with a TTL cannot be made inside a multi", fault.Path(op.Path))
		}
	}
	return &Request[[]OpResult]{r, func(r Result) []OpResult { return r.Results }}
}

// SetRequest writes a node's data; Client.Set returns one.
type SetRequest struct{ request }

// Set replaces a node's data, and returns its new Stat. If the node does not exist, the
// error is ErrNoNode.
func (c *Client) Set(path string, data []byte) *SetRequest {
	r := newRequest(c, "set", path, SetData(path, data, AnyVersion).event())
	return &SetRequest{r}
}

// Do sends the request, and waits for the reply, or for the end of the context. It returns
// the node's new Stat. Request.Do says what happens without a connection, and which errors
// there are.
func (r *SetRequest) Do(ctx context.Context) (Stat, error) {
	result := r.run(ctx)
	if result.Stat == nil {
		return Stat{}, result.Err
	}
	return *result.Stat, result.Err
}

// Version makes the write depend on the version of the data, Stat.Version of what was read:
// if they have another one, the error is ErrBadVersion.
// -1 is an error, since the server would take it for any version: leave Version out if that is meant.
func (r *SetRequest) Version(version int32) *SetRequest {
	r.client.opened()
	r.refuseAnyVersion(version)
	r.ops[0].Version = version
	return r
}

// DeleteRequest deletes a node; Client.Delete returns one.
type DeleteRequest struct{ request }

// Deletion is a guaranteed delete of a node, as Curator calls it. It goes on in the background, through lost replies,
// outages and sessions, until the node is gone, the ensemble refuses permanently, or it is cancelled.
//
// The node is the one that is at the path at the first read. A node that is created there afterwards stays: its Czxid
// differs. (ZooKeeper itself compares versions when it deletes: a node that is replaced in the moment between the
// read and the delete, and has as many writes, is taken for the first.)
//
// All its methods are safe to call from any goroutine. Phase and Err say how far it is and what failed.
type Deletion struct {
	bareHandle
	handle  handle
	command uint64 // starts the machine: its answer is the outcome
	done    chan struct{}
	outcome error // read after done
}

// Delete deletes a node that has no children (with children: ErrNotEmpty). If the
// node does not exist, the error is ErrNoNode.
func (c *Client) Delete(path string) *DeleteRequest {
	return &DeleteRequest{newRequest(c, "delete", path, DeleteNode(path, AnyVersion).event())}
}

// Do sends the request, and waits for the reply, or for the end of the context. Request.Do
// says what happens without a connection, and which errors there are.
func (r *DeleteRequest) Do(ctx context.Context) error { return r.run(ctx).Err }

// Version makes the delete depend on the version of the data: if they have another one, the
// error is ErrBadVersion. -1 is an error, as in SetRequest.Version.
func (r *DeleteRequest) Version(version int32) *DeleteRequest {
	r.client.opened()
	r.refuseAnyVersion(version)
	r.ops[0].Version = version
	return r
}

func (a *requestCall) notice(n events.Notify) {
	if n.What != events.Value {
		a.base.NoteTrouble(n)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removed = int(n.Value)
}

func (a *requestCall) entered(now events.Entered) { a.base.Enter(now) }
