package incumbent

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Missed says which changes of a watched node a feed may have missed between one value and
// the next. The zero value means: none that can be known. It cannot be known what was done
// to a node just before it was deleted, nor that a node came and went meanwhile.
type Missed struct {
	Outage   bool // there was no connection for a while: a node may have come and gone
	Replaced bool // it is another node at the same path: the one before was deleted
	Changes  int  // how many writes of its data, or creations and deletions of children, were not seen
}

// NodeChange is what a watched node is now.
type NodeChange struct {
	Exists bool
	Node          // zero if there is none
	Missed Missed // since the value before
	outage int    // number of outages so far
}

// ChildrenChange is what the children of a watched node are now.
type ChildrenChange struct {
	Exists   bool     // the node itself is there
	Children []string // in alphabetical order
	Stat     Stat     // the node's
	Missed   Missed   // since the value before
	outage   int
}

// WatchNode returns a feed of a node's data and Stat, now and whenever they change, and
// when the node is created or deleted, until the context ends or the loop over it is left.
// It survives reconnects and expiries, after which it yields the node again.
//
// A watch of ZooKeeper says that something changed, and not what: by the time the node is
// read again, more may have happened. The same holds while the loop's body runs, because
// only the newest value is kept for it. NodeChange.Missed says how much was missed: exactly
// if versions show it, and as possible after an outage.
//
// It costs one read for each change, and two if the node does not exist. An error (no
// permission, say) is yielded too, and watching goes on; the context's end is not yielded.
// The loop's body may call anything of this package.
func (c *Client) WatchNode(ctx context.Context, path string) iter.Seq2[NodeChange, error] {
	seen := nodeFeed(ctx, c, machines.NodewatchRecipe, path, func(kept zkio.Kept, outages int) NodeChange {
		if kept.Stat == nil {
			return NodeChange{outage: outages}
		}
		return NodeChange{Exists: true, Node: Node{kept.Data, Stat(*kept.Stat)}, outage: outages}
	})
	return diffFeed(seen, func(last NodeChange, now *NodeChange) {
		now.Missed = missedWrites(last.Exists, now.Exists, last.Stat, now.Stat, last.outage != now.outage)
	})
}

// WatchChildren returns a feed of the names of a node's children, now and whenever children
// are created or deleted, and when the node itself is, until the context ends or the loop
// over it is left. It costs one listing for each change. All else is as in WatchNode. For
// the members of a group use WatchMembers, which does not yield the same members twice.
func (c *Client) WatchChildren(ctx context.Context, path string) iter.Seq2[ChildrenChange, error] {
	seen := nodeFeed(ctx, c, machines.MembershipRecipe, path, func(kept zkio.Kept, outages int) ChildrenChange {
		if kept.Stat == nil {
			return ChildrenChange{outage: outages}
		}
		return ChildrenChange{Exists: true, Children: slices.Sorted(slices.Values(kept.Children)),
			Stat: Stat(*kept.Stat), outage: outages}
	})
	return diffFeed(seen, func(last ChildrenChange, now *ChildrenChange) {
		now.Missed = missed(last.Exists, now.Exists, last.Stat, now.Stat, last.outage != now.outage)
		before := last
		if now.Missed.Replaced {
			before = ChildrenChange{}
		}
		if now.Exists {
			happened := int(now.Stat.Cversion - before.Stat.Cversion)
			now.Missed.Changes = max(happened-differences(before.Children, now.Children), 0)
		}
	})
}

// missed returns what two Stats show of the time between them.
func missed(was, is bool, before, after Stat, outage bool) Missed {
	return Missed{Outage: outage, Replaced: was && is && before.Czxid != after.Czxid}
}

// missedWrites is missed with the number of writes of a node's data.
func missedWrites(was, is bool, before, after Stat, outage bool) Missed {
	m := missed(was, is, before, after, outage)
	switch { // the change that is yielded is one of the writes
	case !m.Replaced && was && is:
		m.Changes = max(int(after.Version-before.Version)-1, 0)
	case is:
		m.Changes = int(after.Version)
	}
	return m
}

// differences returns how many names are in one of two sorted lists only.
func differences(a, b []string) (n int) {
	for _, name := range a {
		if _, found := slices.BinarySearch(b, name); !found {
			n++
		}
	}
	return n + len(b) - (len(a) - n)
}

// diffFeed returns a feed whose values are compared with the one before; the first value is
// unchanged.
func diffFeed[T any](seen iter.Seq2[T, error], compare func(last T, now *T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last T
		yielded := false
		for now, err := range seen {
			if err == nil {
				if yielded {
					compare(last, &now)
				}
				last, yielded = now, true
			}
			if !yield(now, err) {
				return
			}
		}
	}
}

// nodeFeed returns the feed of a machine that watches one node for the user. Value makes a
// feed's value of a reply, empty if there is no node, and of the number of outages so far.
func nodeFeed[T any](ctx context.Context, c *Client, recipe engine.Recipe, path string,
	value func(kept zkio.Kept, outages int) T) iter.Seq2[T, error] {
	return stream(ctx, c, func(f *feed[T]) error {
		if err := arguments.CheckNode(path); err != nil {
			return err
		}
		outages := 0
		open := events.Event{Path: path, Options: map[string]string{machines.OptionView: "true"}}
		return f.watch(recipe, open, func(n events.Notify, kept zkio.Kept) {
			if n.Code == events.ConnectionLoss {
				outages++
			}
			f.Put(feedItem[T]{Key: path, Value: value(kept, outages)})
		})
	})
}

// nodeData has the data that SetData was called with. Machines and the log know only their
// numbers. The machine uses the highest number that it was given. If a write of that is
// refused, it goes back to the data that the node has. So everything else is forgotten.
type nodeData struct {
	broken func(at, format string, args ...any) // reports a broken invariant; nil: they are not checked

	mu  sync.Mutex
	all []*payload // in the order of their numbers; the last are the newest
}

// payload are data that wait for a request, or were sent.
type payload struct {
	number uint64
	data   []byte
	sent   bool // other data have another number from then on
	// mayStay says that the node may have these data without an answer that says so.
	mayStay   bool
	forgotten bool // data is nil: no request will need them

	command  uint64        // sets them; 0: none did
	answered chan struct{} // closed when the command was answered
	err      error         // the answer; read after answered is closed
}

func (p *payload) isAnswered() bool {
	select {
	case <-p.answered:
		return true
	default:
		return false
	}
}

// first takes the data that the machine is opened with, and returns their number.
func (d *nodeData) first(data []byte) uint64 {
	p := &payload{number: 1, data: bytes.Clone(data), answered: make(chan struct{})}
	close(p.answered)
	d.all = []*payload{p}
	return p.number
}

// set replaces the data, and waits until the machine has answered, or until ctx ends. The
// command stays at the machine then, because its answer says when older data are not needed.
func (d *nodeData) set(ctx context.Context, s *persistentHandle, data []byte) error {
	p, err := d.replace(s, data)
	if err != nil {
		return err
	}
	select {
	case <-p.answered:
		return p.err
	case <-s.base.Commands.Ended():
	case <-s.client.core.Closed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if p.isAnswered() { // the last answer comes just before the machine closes
		return p.err
	}
	return ErrClosed
}

// replace makes these data the newest. Those that were the newest are overwritten if no
// request has had them and their command is not answered: that command is this one's, too.
func (d *nodeData) replace(s *persistentHandle, data []byte) (*payload, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.all[len(d.all)-1]
	if !last.sent && !last.isAnswered() {
		last.data = bytes.Clone(data)
		return last, nil
	}
	p := &payload{number: last.number + 1, data: bytes.Clone(data), answered: make(chan struct{})}
	var err error
	if p.command, _, err = s.base.Begin(events.Event{
		Kind: events.CommandSet, Work: p.number,
	}); err != nil {
		return nil, err
	}
	d.all = append(d.all, p) // before the loop can ask for them: it waits for the lock
	return p, nil
}

// use returns the data with this number, which a request is about to send; on the loop's
// goroutine. A create sends the first data of a new node.
func (d *nodeData) use(n uint64, creates bool) (data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := false
	for _, p := range d.all {
		if creates {
			p.mayStay = false
		}
		if p.number == n {
			known = !p.forgotten
			p.sent, data = true, p.data
			p.mayStay = p.mayStay || creates || p.isAnswered()
		}
	}
	if !known && d.broken != nil {
		d.broken("a request", "the data with number %d are forgotten", n)
	}
	d.forget(n, false)
	return data
}

// answered takes the machine's answer to a command; on the loop's goroutine.
func (d *nodeData) answered(a events.Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.all {
		if p.command == a.Command && !p.isAnswered() {
			p.err = asError(a.Code, a.Text)
			p.mayStay = p.mayStay || a.Code == events.OK
			close(p.answered)
			d.forget(p.number, a.Code == events.OK)
			return
		}
	}
}

// forget forgets what is older than the n-th data, which the machine has: all, or what the
// node cannot have. The caller holds the lock.
func (d *nodeData) forget(n uint64, all bool) {
	for _, p := range d.all {
		if p.number < n && (all || !p.mayStay) {
			p.data, p.forgotten = nil, true
		}
	}
	d.all = slices.DeleteFunc(d.all, func(p *payload) bool { return p.forgotten && p.isAnswered() })
}

// watchHandle is the handle of one machine that watches.
type watchHandle struct {
	handle
	onNotice func(events.Notify)
	onClose  func()               // called when the machine is closed; may be nil
	kept     map[uint64]zkio.Kept // by request, under mu: data of replies without a notice yet
}

// maxKept bounds what waits in a client, checked in tests only. It is far above what tests
// need, and far below what a queue without an end would reach there.
const maxKept = 200 // replies of one machine whose data wait for its notice

// keep takes data of a reply that are for the user. zkio calls it.
func (o *watchHandle) keep(request uint64, kept zkio.Kept) {
	if kept.Stat == nil {
		return // a reply without data
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		o.kept = map[uint64]zkio.Kept{}
	}
	o.kept[request] = kept
	if o.base.Commands.Broken != nil && len(o.kept) > maxKept {
		o.base.Commands.Broken("a reply", "%d replies are kept, of at most %d", len(o.kept), maxKept)
	}
}

// takeKept returns what the reply to this request held, and forgets what earlier replies held.
func (o *watchHandle) takeKept(request uint64) zkio.Kept {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.kept[request]
	maps.DeleteFunc(o.kept, func(n uint64, _ zkio.Kept) bool { return n <= request })
	return kept
}

func (o *watchHandle) notice(n events.Notify) { o.onNotice(n) }

// Close ends a watching machine with its client.
func (o *watchHandle) Close(ctx context.Context) error { return o.base.End(ctx, false) }

func (o *watchHandle) answer(a events.Answer) { o.base.Deliver(a) }

func (o *watchHandle) entered(now events.Entered) {
	if now.Class == events.ClassClosed && o.onClose != nil {
		o.onClose()
	}
	o.base.Enter(now)
}

// ShardAssignment says who should own each shard.
type ShardAssignment struct {
	// Owners are the members' ids, by shard; empty: no member may take it.
	Owners []string
	// Moving are the shards that another member may still own: its id, by shard.
	Moving map[int]string
	// Version grows with each assignment.
	Version int32
}

// Assignment returns a feed of the assignment, now and whenever it changes, until ctx ends or the loop over it is
// left. Before there is one, it yields nothing. An error is yielded and the feed goes on, as in Client.WatchNode.
func (s *Shards) Assignment(ctx context.Context) iter.Seq2[ShardAssignment, error] {
	s.check(ctx)
	nodes := s.client.WatchNode(ctx, machines.ShardAssignment(s.path))
	return func(yield func(ShardAssignment, error) bool) {
		for node, err := range nodes {
			if err == nil && !node.Exists {
				continue
			}
			var a ShardAssignment
			if err == nil {
				a, err = parseAssignment(node.Data, node.Stat.Version)
			}
			if !yield(a, err) {
				return
			}
		}
	}
}

// parseAssignment reads the assignment's node.
func parseAssignment(data []byte, version int32) (ShardAssignment, error) {
	p, err := machines.ParseShardPlan(data)
	if err != nil {
		return ShardAssignment{Version: version}, err
	}
	a := ShardAssignment{Owners: make([]string, p.Shards), Moving: map[int]string{}, Version: version}
	for node, shards := range p.Owners {
		for _, shard := range shards {
			if shard < p.Shards {
				a.Owners[shard] = p.IDs[node]
			}
		}
	}
	for node, shards := range p.Leaving {
		for _, shard := range shards {
			if shard < p.Shards {
				a.Moving[shard] = p.IDs[node]
			}
		}
	}
	return a, nil
}
