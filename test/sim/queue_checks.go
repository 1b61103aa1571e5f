package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// shelved looks at what a transaction did to the queue.
func (k *checks) shelved(p *world.Proposal) {
	q := k.w.stock
	if q == nil || p.Result.Err != zkmem.OK {
		return
	}
	if p.Txn.Code == zkmem.OpCloseSession {
		for _, path := range p.Txn.Ephemerals {
			k.unlocked(path, "its session is over")
		}
	}
	all := p.Txn.Ops
	if p.Txn.Code != zkmem.OpMulti {
		all = []zkmem.Txn{p.Txn}
	}
	var u *user
	if c := k.w.of(p.Txn.Session); c != nil && p.Origin != nil {
		u = c.user(p.Origin.ID)
	}
	for _, op := range all { // an item's end is judged by the locks as they were
		if op.Code == zkmem.OpDelete && strings.HasPrefix(op.Path, goods+"/") {
			k.removedItem(u, p, op.Path)
		}
	}
	for _, op := range all {
		k.shelvedOne(u, p, op)
	}
}

func (k *checks) shelvedOne(u *user, p *world.Proposal, op zkmem.Txn) {
	q := k.w.stock
	if strings.HasPrefix(op.Path, goodsMarkers) && p.Operator {
		q.spoilt = true
	}
	dir := op.Path[:max(0, strings.LastIndexByte(op.Path, '/'))]
	switch {
	case dir == goods && op.Code == zkmem.OpCreate:
		k.put(p, op)
	case dir == goods && op.Code == zkmem.OpSetData && !p.Operator:
		k.rewritten(u, op)
	case dir == goodsDead && op.Code == zkmem.OpCreate:
		q.nodes[op.Path] = q.items[string(op.Data)]
	case dir == goodsDead && op.Code == zkmem.OpDelete && q.nodes[op.Path] != nil:
		q.nodes[op.Path].end = "its dead letter was deleted"
	case dir == goodsLocks && op.Code == zkmem.OpCreate && u != nil && u.bench.locks != nil:
		q.lockers[op.Path] = u
		u.bench.locks[op.Path] = ""
	case dir == goodsLocks && op.Code == zkmem.OpDelete && p.Operator:
		q.broken[op.Path] = true
		k.unlocked(op.Path, "it was deleted by others")
	case dir == goodsLocks && op.Code == zkmem.OpDelete:
		k.released(op.Path)
	case dir == goodsMarkers && op.Code == zkmem.OpCreate && u != nil:
		q.markers[op.Path] = u
	}
}

// put: an item is put once, where it was to be put, in the order in which its
// producer was asked, and while its producer has not more in the queue than the bound.
func (k *checks) put(p *world.Proposal, op zkmem.Txn) {
	q := k.w.stock
	i := q.items[string(op.Data)]
	if i == nil {
		if !p.Operator {
			k.fail("what is put was asked for", "%s with %q", op.Path, op.Data)
		}
		return
	}
	q.reused = q.reused || q.nodes[op.Path] != nil
	q.nodes[op.Path] = i
	parsed, _ := q.kind.Parse(base(op.Path))
	i.made++
	i.path, i.number, i.zxid, i.end = op.Path, parsed.Sequence, p.Txn.Zxid, ""
	if q.void {
		return
	}
	if i.made > 1 {
		k.fail("nothing is put twice", "%s was put %d times", i.name, i.made)
	}
	if i.code != nil && *i.code != events.OutcomeUnknown {
		k.fail("what is answered is over", "%s was answered %s, and is put now", i.name, *i.code)
	}
	if last := i.by.bench.last; last != nil && last.serial > i.serial {
		k.fail("puts keep their order", "%s is put after %s", i.name, last.name)
	}
	i.by.bench.last = i
	if i.least != 0 {
		i.rank = due(op.Path)
		if early := i.least - i.rank; early > k.w.blur() {
			k.fail("an item is not early", "%s is put to be due %d ms early", i.name, early)
		}
	} else if parsed.Rank != i.rank {
		k.fail("an item is put where it was to be put", "%s has rank %d, as %s", i.name, i.rank, op.Path)
	}
	k.boundOf(i.by)
}

// due is what a name says of when its item is due.
func due(path string) int64 {
	n, _ := strconv.ParseInt(strings.Split(path, "|")[1], 16, 64)
	return n
}

// boundOf: whatever a server that lags behind says of the others' items, a producer
// sees its own.
func (k *checks) boundOf(u *user) {
	q, own := k.w.stock, 0
	for _, name := range q.left(k.w) {
		if i := q.nodes[goods+"/"+name]; i != nil && i.by == u {
			own++
		}
	}
	if q.bound > 0 && own > q.bound {
		k.fail("a queue is bounded", "%s has %d items in a queue of %d", u.name(), own, q.bound)
	}
}

// removedItem: an item is deleted by others, or by its id, or when it was taken; at
// least once that is by whoever has locked it, when it was dealt with or buried.
func (k *checks) removedItem(u *user, p *world.Proposal, path string) {
	q, lock := k.w.stock, goodsLocks+strings.TrimPrefix(path, goods)
	i := q.nodes[path]
	if i == nil || q.void {
		return
	}
	switch {
	case p.Operator:
		i.end = "deleted by others"
		return
	case p.Origin != nil && p.Origin.Done != nil:
		i.end = "removed"
		return
	case q.once:
		i.end, i.taker = "taken", u
		return
	}
	buried := slices.ContainsFunc(p.Txn.Ops, func(op zkmem.Txn) bool {
		return op.Code == zkmem.OpCreate && strings.HasPrefix(op.Path, goodsDead+"/") && string(op.Data) == i.name
	})
	i.end = "done"
	switch one := u.bench.had[i]; {
	case q.reused || q.broken[lock]:
	case q.lockers[lock] != u:
		k.fail("an item is deleted by whoever has locked it", "%s deletes %s, whose lock it has not", u.name(), i.name)
	case one == nil || !one.returned:
		k.fail("an item is deleted when it is dealt with", "%s deletes %s, and has not dealt with it", u.name(), i.name)
	case !one.well && (!buried || one.try < q.tries):
		k.fail("an item is deleted when it is dealt with", "%s deletes %s after try %d of %d failed; buried: %t", u.name(), i.name, one.try, q.tries, buried)
	}
}

// rewritten: a failed try is counted by whoever has locked the item, and its data stay.
func (k *checks) rewritten(u *user, op zkmem.Txn) {
	q := k.w.stock
	i := q.nodes[op.Path]
	if i == nil || q.void || q.reused || q.broken[goodsLocks+strings.TrimPrefix(op.Path, goods)] {
		return
	}
	if one := u.bench.had[i]; one == nil || !one.returned || one.well || q.lockers[goodsLocks+strings.TrimPrefix(op.Path, goods)] != u {
		k.fail("a failed try is counted by whoever has locked the item", "%s writes %s", u.name(), i.name)
	}
	if string(op.Data) != i.name {
		k.fail("an item keeps its data", "%s writes %q to %s", u.name(), op.Data, i.name)
	}
}

// unlocked is the end of a lock that its consumer has not ended.
func (k *checks) unlocked(path, why string) {
	if u := k.w.stock.lockers[path]; u != nil {
		u.bench.locks[path] = why
		delete(k.w.stock.lockers, path)
	}
}

// released: an item stays locked while it is worked on.
func (k *checks) released(path string) {
	u := k.w.stock.lockers[path]
	if u == nil {
		return
	}
	k.unlocked(path, letGo)
	if k.w.stock.broken[path] || k.w.stock.void {
		return
	}
	if one := u.bench.one; len(u.works) > 0 && !one.withdrawn && one.path == goods+strings.TrimPrefix(path, goodsLocks) && !k.w.stock.reused {
		k.fail("an item stays locked while it is worked on", "%s deletes the lock of %s", u.name(), one.name)
	}
}

const letGo = "let go"

// delivered: what is handed over was put and is not over; at least once it is locked
// by this consumer, and by nobody else, at most once deleted by this consumer, and
// never handed over before. It is not early, and in order.
func (k *checks) delivered(u *user, n events.Notify) {
	q, b := k.w.stock, &u.bench
	i := q.items[string(b.data)]
	k.w.Tell("%s has %s, try %d, with %q", u.name(), n.Path, n.Try, b.data)
	if len(u.works) > 0 {
		k.fail("one item at a time", "%s has %s, and works on %s", u.name(), n.Path, b.one.path)
	}
	if i == nil {
		k.fail("what is handed over was put", "%s has %s, with %q", u.name(), n.Path, b.data)
		return
	}
	before := b.had[i]
	b.one = &delivery{item: i, path: n.Path, try: n.Try}
	b.had[i] = b.one
	i.handed++
	if q.void || q.reused {
		return
	}
	if i.path != n.Path {
		k.fail("an item keeps its data", "%s has %s with the data of %s", u.name(), n.Path, i.path)
	}
	if q.once {
		k.takenOnce(u, i)
	} else {
		k.lockedBy(u, i)
	}
	if early := i.rank - k.w.ServerTime(); q.kind == machines.ByDue && early > k.w.blur() {
		k.fail("an item is not early", "%s has %s early by %d ms", u.name(), i.name, early)
	}
	if before == nil {
		k.orderly(u, i)
	}
}

func (k *checks) takenOnce(u *user, i *item) {
	if i.handed > 1 {
		k.fail("an item is handed over at most once", "%s was handed over %d times", i.name, i.handed)
	}
	if i.taker != u {
		k.fail("an item is taken before it is handed over", "%s has %s, and has not deleted it", u.name(), i.name)
	}
}

func (k *checks) lockedBy(u *user, i *item) {
	q, lock := k.w.stock, goodsLocks+strings.TrimPrefix(i.path, goods)
	how, locked := u.bench.locks[lock]
	if q.broken[lock] {
		return
	}
	if !locked || how == letGo {
		k.fail("whoever has an item has locked it", "%s has %s; its lock: %t %s", u.name(), i.name, locked, how)
	}
	if _, stat, err := k.w.ens.Truth().Get(lock); err == nil && how == "" && stat.EphemeralOwner != u.c.seen {
		k.fail("whoever has an item has locked it", "%s has %s in session %x; its lock is of session %x", u.name(), i.name, u.c.seen, stat.EphemeralOwner)
	}
	if how != "" { // the consumer cannot know yet
		return
	}
	if i.end != "" && i.end != "deleted by others" {
		k.fail("what is handed over is not over", "%s has %s, which is %s", u.name(), i.name, i.end)
	}
	for _, o := range k.w.users("consumer") {
		if o != u && o.bench.one.item == i && len(o.works) > 0 && !o.bench.one.withdrawn && o.bench.locks[lock] == letGo {
			k.fail("an item is in one pair of hands", "%s and %s have %s", u.name(), o.name(), i.name)
		}
	}
	if q.lockers[lock] != u {
		k.fail("an item is in one pair of hands", "%s has %s, and another has locked it", u.name(), i.name)
	}
}

// withdrawn: a handler is told when the machine knows that its lock is gone.
func (k *checks) withdrawn(c *client, r events.Record) {
	u := c.user(r.Machine)
	if u == nil || u.role.recipe != "consumer" || k.w.stock.once || r.From != "working" {
		return
	}
	one := u.bench.one
	switch r.Event.Kind {
	case events.ConnectionLost:
		one.lost = true
	case events.WorkReturned:
		if one.lost && !one.withdrawn {
			k.fail("a handler is told that its lock is gone", "%s was not told of %s", u.name(), one.path)
		}
	}
}

// answersListing keeps what a server answered to a consumer's listing, whatever its
// machine makes of it.
func (k *checks) answersListing(c *client, a *world.Packet) {
	if u := c.user(a.ID); u != nil && u.bench.lists != nil && a.Children != nil {
		clear(u.bench.lists) // one at a time
		u.bench.lists[a.Request.Header().Request] = slices.Clone(a.Children)
	}
}

// lists keeps what a consumer has seen.
func (k *checks) lists(u *user, names []string) {
	b := &u.bench
	b.listed, b.before = nil, nil
	for _, name := range names {
		if i := k.w.stock.nodes[goods+"/"+name]; i != nil {
			b.listed = append(b.listed, i)
		}
	}
	slices.SortFunc(b.listed, inOrder)
}

// orderly: of one listing, a consumer has items in the queue's order, those that it
// had before excepted. One that is alone leaves none out.
func (k *checks) orderly(u *user, i *item) {
	b := &u.bench
	if !slices.Contains(b.listed, i) {
		k.fail("what is handed over was listed", "%s has %s, which it did not list", u.name(), i.name)
	}
	if b.before != nil && inOrder(i, b.before) < 0 {
		k.fail("items are handed over in order", "%s has %s after %s", u.name(), i.path, b.before.path)
	}
	b.before = i
	if k.meddled || len(u.c.SessionIDs()) > 1 || k.w.stock.consumers > 1 {
		return
	}
	for _, first := range b.listed {
		if inOrder(first, i) < 0 && b.had[first] == nil && first.end == "" {
			k.fail("items are handed over in order", "%s has %s, and %s was before it", u.name(), i.path, first.path)
		}
	}
}

// refused: no machine asks again and again without a pause.
func (k *checks) refused(c *client, a *world.Packet, code events.Code) {
	if k.w.stock == nil || code == events.OK || a.ID == events.SessionMachine {
		return
	}
	key := fmt.Sprint(c.ID(), a.ID, k.w.Now()/int64(time.Second))
	if k.w.stock.busy[key]++; k.w.stock.busy[key] > 60 {
		k.fail("no machine spins", "client %d: %s was refused %d times within a second, now with %s", c.ID(), a.ID, k.w.stock.busy[key], code)
	}
}

// nothingShelved: whoever is over has left no lock, and no marker that nobody else
// has touched, if its session goes on.
func (k *checks) nothingShelved(u *user) {
	q := k.w.stock
	if q == nil || q.void || u.c.ends || u.c.Ending() {
		return
	}
	if path := u.marker(); path != "" && !q.spoilt && !u.bench.doubted {
		k.fail("nothing is left", "%s is over, and its marker %s is there", u.name(), path)
	}
	for _, name := range k.w.ens.Children(goodsLocks) {
		path := goodsLocks + "/" + name
		if _, stat, _ := k.w.ens.Truth().Get(path); q.lockers[path] == u && stat.EphemeralOwner == u.c.SessionID() {
			k.fail("nothing is left", "%s is over, and its lock %s is there", u.name(), name)
		}
	}
}

// accounted: in the end what was acknowledged is in the queue or among the dead
// letters, was dealt with, or was taken away by somebody who may.
func (k *checks) accounted() {
	q := k.w.stock
	if q == nil || q.void || q.reused {
		return
	}
	there := map[string]bool{}
	for _, dir := range []string{goods, goodsDead} {
		for _, name := range k.w.ens.Children(dir) {
			there[string(k.w.data(dir+"/"+name))] = true
		}
	}
	var lost []string
	for name, i := range q.items {
		if i.code == nil || *i.code != events.OK || there[name] {
			continue
		}
		switch {
		case i.end == "":
			lost = append(lost, name)
		case i.end == "taken" && i.handed == 0 && !i.told && !i.taker.c.Dead() && !i.taker.c.leaving:
			lost = append(lost, name+" (taken by "+i.taker.name()+" and not handed over, and nobody was told)")
		}
	}
	if slices.Sort(lost); len(lost) > 0 {
		k.fail("what is acknowledged is not lost", "%s", strings.Join(lost, ", "))
	}
}
