package sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// queueCommitted checks what a transaction did to the queue.
func (k *checks) queueCommitted(p *world.Proposal) {
	q := k.w.queue
	if q == nil || p.Result.Err != zkmem.OK {
		return
	}
	if p.Txn.Code == zkmem.OpCloseSession {
		for _, path := range p.Txn.Ephemerals {
			k.lockEnded(path, "its session is over")
		}
	}
	all := p.Txn.Ops
	if p.Txn.Code != zkmem.OpMulti {
		all = []zkmem.Txn{p.Txn}
	}
	var u *user
	if c := k.w.clientOf(p.Txn.Session); c != nil && p.Origin != nil {
		u = c.user(p.Origin.ID)
	}
	for _, op := range all { // an item's end is checked against the locks before it
		if op.Code == zkmem.OpDelete && strings.HasPrefix(op.Path, queuePath+"/") {
			k.itemDeleted(u, p, op.Path)
		}
	}
	for _, op := range all {
		k.queueOpCommitted(u, p, op)
	}
}

func (k *checks) queueOpCommitted(u *user, p *world.Proposal, op zkmem.Txn) {
	q := k.w.queue
	if strings.HasPrefix(op.Path, queueMarkers) && p.Operator {
		q.markersChanged = true
	}
	dir := op.Path[:max(0, strings.LastIndexByte(op.Path, '/'))]
	switch {
	case dir == queuePath && op.Code == zkmem.OpCreate:
		k.itemPut(p, op)
	case dir == queuePath && op.Code == zkmem.OpSetData && !p.Operator:
		k.itemWritten(u, op)
	case dir == queueDeadLetters && op.Code == zkmem.OpCreate:
		q.nodes[op.Path] = q.items[string(op.Data)]
	case dir == queueDeadLetters && op.Code == zkmem.OpDelete && q.nodes[op.Path] != nil:
		q.nodes[op.Path].endedBy = "its dead letter was deleted"
	case dir == queueLocks && op.Code == zkmem.OpCreate && u != nil && u.queueHandle.locks != nil:
		q.lockOwners[op.Path] = u
		u.queueHandle.locks[op.Path] = ""
	case dir == queueLocks && op.Code == zkmem.OpDelete && p.Operator:
		q.brokenLocks[op.Path] = true
		k.lockEnded(op.Path, "it was deleted by others")
	case dir == queueLocks && op.Code == zkmem.OpDelete:
		k.lockReleased(op.Path)
	case dir == queueMarkers && op.Code == zkmem.OpCreate && u != nil:
		q.markers[op.Path] = u
	}
}

// itemPut checks that an item is put once, in its place in the order, in the order in
// which its producer was asked, and within the producer's bound.
func (k *checks) itemPut(p *world.Proposal, op zkmem.Txn) {
	q := k.w.queue
	i := q.items[string(op.Data)]
	if i == nil {
		if !p.Operator {
			k.fail("each put was asked for", "%s with %q", op.Path, op.Data)
		}
		return
	}
	q.namesReused = q.namesReused || q.nodes[op.Path] != nil
	q.nodes[op.Path] = i
	parsed, _ := q.kind.Parse(base(op.Path))
	i.puts++
	i.path, i.number, i.zxid, i.endedBy = op.Path, parsed.Sequence, p.Txn.Zxid, ""
	if q.rolledBack {
		return
	}
	if i.puts > 1 {
		k.fail("an item is put once", "%s was put %d times", i.name, i.puts)
	}
	if i.code != nil && *i.code != events.OutcomeUnknown {
		k.fail("nothing is put after its answer", "%s was answered %s, and is put now", i.name, *i.code)
	}
	if last := i.by.queueHandle.lastCommitted; last != nil && last.serial > i.serial {
		k.fail("puts keep their order", "%s is put after %s", i.name, last.name)
	}
	i.by.queueHandle.lastCommitted = i
	if i.notBefore != 0 {
		i.rank = due(op.Path)
		if early := i.notBefore - i.rank; early > k.w.dueTolerance() {
			k.fail("an item is not early", "%s is put to be due %d ms early", i.name, early)
		}
	} else if parsed.Rank != i.rank {
		k.fail("an item is put in its place", "%s has rank %d, as %s", i.name, i.rank, op.Path)
	}
	k.boundKept(i.by)
}

// due returns when an item is due, by its name.
func due(path string) int64 {
	n, _ := strconv.ParseInt(strings.Split(path, "|")[1], 16, 64)
	return n
}

// boundKept checks that a producer does not exceed the bound with its own items. A
// server that lags behind may not show those of others, but it shows these.
func (k *checks) boundKept(u *user) {
	q, own := k.w.queue, 0
	for _, name := range q.itemNames(k.w) {
		if i := q.nodes[queuePath+"/"+name]; i != nil && i.by == u {
			own++
		}
	}
	if q.bound > 0 && own > q.bound {
		k.fail("a queue is bounded", "%s has %d items in a queue of %d", u.name(), own, q.bound)
	}
}

// itemDeleted checks that an item is deleted by others, or by its id, or when it was
// taken. With delivery at least once, its locker deletes it after its handler succeeded, or
// moves it to the dead letters.
func (k *checks) itemDeleted(u *user, p *world.Proposal, path string) {
	q, lock := k.w.queue, queueLocks+strings.TrimPrefix(path, queuePath)
	i := q.nodes[path]
	if i == nil || q.rolledBack {
		return
	}
	switch {
	case p.Operator:
		i.endedBy = "deleted by others"
		return
	case p.Origin != nil && p.Origin.Done != nil:
		i.endedBy = "removed"
		return
	case q.atMostOnce:
		i.endedBy, i.deletedBy = "taken", u
		return
	}
	buried := slices.ContainsFunc(p.Txn.Ops, func(op zkmem.Txn) bool {
		return op.Code == zkmem.OpCreate && strings.HasPrefix(op.Path, queueDeadLetters+"/") &&
			string(op.Data) == i.name
	})
	i.endedBy = "done"
	switch one := u.queueHandle.lastDeliveries[i]; {
	case q.namesReused || q.brokenLocks[lock]:
	case q.lockOwners[lock] != u:
		k.fail("only its locker deletes an item", "%s deletes %s, whose lock it has not", u.name(), i.name)
	case one == nil || !one.returned:
		k.fail("an item is deleted after its handler", "%s deletes %s, and has not dealt with it", u.name(), i.name)
	case !one.succeeded && (!buried || one.try < q.tries):
		k.fail("an item is deleted after its handler", "%s deletes %s after try %d of %d failed; buried: %t", u.name(),
			i.name, one.try, q.tries, buried)
	}
}

// itemWritten checks that only the item's locker counts a failed try, and keeps the data.
func (k *checks) itemWritten(u *user, op zkmem.Txn) {
	q := k.w.queue
	i := q.nodes[op.Path]
	if i == nil || q.rolledBack || q.namesReused || q.brokenLocks[queueLocks+strings.TrimPrefix(op.Path, queuePath)] {
		return
	}
	if one := u.queueHandle.lastDeliveries[i]; one == nil || !one.returned || one.succeeded ||
		q.lockOwners[queueLocks+strings.TrimPrefix(op.Path, queuePath)] != u {
		k.fail("only its locker counts an item's tries", "%s writes %s", u.name(), i.name)
	}
	if string(op.Data) != i.name {
		k.fail("an item keeps its data", "%s writes %q to %s", u.name(), op.Data, i.name)
	}
}

// lockEnded notes the end of a lock that its consumer did not end.
func (k *checks) lockEnded(path, why string) {
	if u := k.w.queue.lockOwners[path]; u != nil {
		u.queueHandle.locks[path] = why
		delete(k.w.queue.lockOwners, path)
	}
}

// lockReleased checks that an item stays locked while a handler works on it.
func (k *checks) lockReleased(path string) {
	u := k.w.queue.lockOwners[path]
	if u == nil {
		return
	}
	k.lockEnded(path, unlocked)
	if k.w.queue.brokenLocks[path] || k.w.queue.rolledBack {
		return
	}
	if one := u.queueHandle.current; len(u.works) > 0 && !one.withdrawn &&
		one.path == queuePath+strings.TrimPrefix(path, queueLocks) && !k.w.queue.namesReused {
		k.fail("an item stays locked while it is worked on", "%s deletes the lock of %s", u.name(), one.name)
	}
}

const unlocked = "let go"

// delivered checks that a delivered item was put and has not ended. With delivery at
// least once, this consumer has locked it; with at most once, this consumer has deleted it,
// and it was never delivered before. It is not early, and in order.
func (k *checks) delivered(u *user, n events.Notify) {
	q, b := k.w.queue, &u.queueHandle
	i := q.items[string(b.readData)]
	k.w.Log("%s has %s, try %d, with %q", u.name(), n.Path, n.Try, b.readData)
	if len(u.works) > 0 {
		k.fail("one item at a time", "%s has %s, and works on %s", u.name(), n.Path, b.current.path)
	}
	if i == nil {
		k.fail("a delivered item was put", "%s has %s, with %q", u.name(), n.Path, b.readData)
		return
	}
	before := b.lastDeliveries[i]
	b.current = &delivery{item: i, path: n.Path, try: n.Try}
	b.lastDeliveries[i] = b.current
	i.deliveries++
	if q.rolledBack || q.namesReused {
		return
	}
	if i.path != n.Path {
		k.fail("an item keeps its data", "%s has %s with the data of %s", u.name(), n.Path, i.path)
	}
	if q.atMostOnce {
		k.deliveredOnce(u, i)
	} else {
		k.deliveredLocked(u, i)
	}
	if early := i.rank - k.w.ServerTime(); q.kind == machines.ByDue && early > k.w.dueTolerance() {
		k.fail("an item is not early", "%s has %s early by %d ms", u.name(), i.name, early)
	}
	if before == nil {
		k.deliveredInOrder(u, i)
	}
}

func (k *checks) deliveredOnce(u *user, i *item) {
	if i.deliveries > 1 {
		k.fail("an item is delivered at most once", "%s was handed over %d times", i.name, i.deliveries)
	}
	if i.deletedBy != u {
		k.fail("an item is deleted before it is delivered", "%s has %s, and has not deleted it", u.name(), i.name)
	}
}

func (k *checks) deliveredLocked(u *user, i *item) {
	q, lock := k.w.queue, queueLocks+strings.TrimPrefix(i.path, queuePath)
	how, locked := u.queueHandle.locks[lock]
	if q.brokenLocks[lock] {
		return
	}
	if !locked || how == unlocked {
		k.fail("a delivered item is locked by its consumer", "%s has %s; its lock: %t %s", u.name(),
			i.name, locked, how)
	}
	if _, stat, err := k.w.ens.Committed().Get(lock); err == nil && how == "" &&
		stat.EphemeralOwner != u.c.sessionSeen {
		k.fail("a delivered item is locked by its consumer", "%s has %s in session %x; its lock is of session %x",
			u.name(), i.name, u.c.sessionSeen, stat.EphemeralOwner)
	}
	if how != "" { // the consumer cannot know yet
		return
	}
	if i.endedBy != "" && i.endedBy != "deleted by others" {
		k.fail("a delivered item has not ended", "%s has %s, which is %s", u.name(), i.name, i.endedBy)
	}
	for _, o := range k.w.usersOf("consumer") {
		if o != u && o.queueHandle.current.item == i && len(o.works) > 0 && !o.queueHandle.current.withdrawn &&
			o.queueHandle.locks[lock] == unlocked {
			k.fail("an item has one consumer at a time", "%s and %s have %s", u.name(), o.name(), i.name)
		}
	}
	if q.lockOwners[lock] != u {
		k.fail("an item has one consumer at a time", "%s has %s, and another has locked it", u.name(), i.name)
	}
}

// withdrawalTold checks that a handler is told when the machine knows that its lock is gone.
func (k *checks) withdrawalTold(c *client, r events.Record) {
	u := c.user(r.Machine)
	lost, returned := r.Event.Kind == events.ConnectionLost, r.Event.Kind == events.WorkReturned
	if u == nil || u.role.recipe != "consumer" || k.w.queue.atMostOnce || !lost && !returned ||
		u.classOf(r.From) != events.ClassActive {
		return
	}
	one := u.queueHandle.current
	one.lost = one.lost || lost
	if returned && one.lost && !one.withdrawn {
		k.fail("a handler is told that its lock is gone", "%s was not told of %s", u.name(), one.path)
	}
}

// answersListing keeps what a server answered to a consumer's listing, whatever its
// machine makes of it.
func (k *checks) answersListing(c *client, a *world.Packet) {
	if u := c.user(a.ID); u != nil && u.queueHandle.lists != nil && a.Children != nil {
		clear(u.queueHandle.lists) // one at a time
		u.queueHandle.lists[a.Request.Header().Request] = slices.Clone(a.Children)
	}
}

// itemsListed notes what a consumer has listed.
func (k *checks) itemsListed(u *user, names []string) {
	b := &u.queueHandle
	b.listed, b.lastDelivered = nil, nil
	for _, name := range names {
		if i := k.w.queue.nodes[queuePath+"/"+name]; i != nil {
			b.listed = append(b.listed, i)
		}
	}
	slices.SortFunc(b.listed, inOrder)
}

// deliveredInOrder checks that a consumer gets the items of one listing in the queue's
// order, except those that it had before. A consumer that is alone skips none.
func (k *checks) deliveredInOrder(u *user, i *item) {
	b := &u.queueHandle
	if !slices.Contains(b.listed, i) {
		k.fail("a delivered item was listed", "%s has %s, which it did not list", u.name(), i.name)
	}
	if b.lastDelivered != nil && inOrder(i, b.lastDelivered) < 0 {
		k.fail("items are delivered in order", "%s has %s after %s", u.name(), i.path, b.lastDelivered.path)
	}
	b.lastDelivered = i
	if k.othersChanged || len(u.c.SessionIDs()) > 1 || k.w.queue.consumers > 1 {
		return
	}
	for _, first := range b.listed {
		if inOrder(first, i) < 0 && b.lastDeliveries[first] == nil && first.endedBy == "" {
			k.fail("items are delivered in order", "%s has %s, and %s was before it", u.name(), i.path, first.path)
		}
	}
}
