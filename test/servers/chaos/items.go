package chaos

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/machines"
)

// poison ends an item whose handler always fails.
const poison = "!"

// handled is an item whose handler has returned without an error, as its client said before.
type handled struct {
	token int64
	item  string
	at    int64
}

// tokenOf returns the number in the name of an item's node, and one more: what its consumer says that it holds.
func tokenOf(name string) (int64, bool) {
	if len(name) < 10 {
		return 0, false
	}
	n, err := strconv.ParseInt(name[len(name)-10:], 10, 64)
	return n + 1, err == nil
}

// itemOf returns the one item in a node's data, which are a version, a one, its length, its bytes as JSON, and a two.
func itemOf(data []byte) string {
	if len(data) < 12 {
		return fmt.Sprintf("%q", data)
	}
	return string(data[10 : len(data)-2])
}

// item is one node of a queue: from the transaction that put it to the one that ended it.
type item struct {
	text       string
	token      int64
	ended      int64 // its zxid; 0 while it is there
	deadLetter bool  // it was moved to the dead letters in that transaction
	locks      []node
	done       []done
}

// done is one return of an item's handler.
type done struct {
	client string
	at     int64
}

// judgeItems holds puts, handlers and locks of a queue against what was committed.
func judgeItems(k kind, clients []client, locks []node, history []txn) (l ledger) {
	items, stored := l.readItems(k, history)
	l.compare("put", clients, stored)
	for _, lock := range locks {
		token, _ := tokenOf(lock.path)
		if i := items[token]; i != nil {
			i.locks = append(i.locks, lock)
		}
	}
	for _, c := range clients {
		for _, d := range c.done {
			if i := items[d.token]; i != nil && i.text == d.item {
				i.done = append(i.done, done{c.id, d.at})
			} else {
				l.complain("handled and never put", "%s under %d by %s", d.item, d.token, c.id)
			}
		}
	}
	owners := ownersOf(k, history)
	for _, i := range items {
		l.judgeItem(i, owners)
	}
	l.judgeHandlers(clients, items, owners)
	return l
}

// readItems follows the queue's items and dead letters, and counts how often each was put.
func (l *ledger) readItems(k kind, history []txn) (items map[int64]*item, stored map[string]int) {
	items, stored = map[int64]*item{}, map[string]int{}
	letters := map[string]int64{} // by text: the transaction
	for _, t := range history {
		token, _ := tokenOf(t.path)
		switch made := t.kind == txnCreate || t.kind == txnCreate2; {
		case made && path.Dir(t.path) == k.items():
			l.writes++
			items[token] = &item{text: itemOf(t.data), token: token}
			stored[strings.TrimSuffix(itemOf(t.data), poison)]++
		case made && path.Dir(t.path) == machines.DeadLettersOf(k.items()):
			l.dead++
			letters[itemOf(t.data)] = t.zxid
		case t.kind == txnDelete && path.Dir(t.path) == k.items():
			if i := items[token]; i != nil {
				i.ended = t.zxid
			}
		}
	}
	for _, i := range items {
		if zxid, there := letters[i.text]; there {
			i.deadLetter = zxid == i.ended
			delete(letters, i.text)
		}
	}
	for text := range letters {
		l.complain("a dead letter that was no item", "%s", text)
	}
	return items, stored
}

// ownersOf returns the clients of sessions, by the items that each has put.
func ownersOf(k kind, history []txn) map[int64]string {
	owners := map[int64]string{}
	for _, t := range history {
		if path.Dir(t.path) == k.items() && t.data != nil && t.kind != txnSetData {
			owners[t.session], _, _ = strings.Cut(itemOf(t.data), ":")
		}
	}
	return owners
}

// judgeItem: an item ends together with its lock, handled or among the dead letters. It is handled again only if the
// lock under which it was ended with its session.
func (l *ledger) judgeItem(i *item, owners map[int64]string) {
	if i.ended == 0 {
		l.complain("left in the queue", "%s", i.text)
		return
	}
	last := slices.IndexFunc(i.locks, func(n node) bool { return n.ended == i.ended && !n.expired })
	switch {
	case last < 0:
		l.complain("ended without its lock", "%s at %#x", i.text, i.ended)
	case i.deadLetter:
	case !slices.ContainsFunc(i.done, func(d done) bool { return d.at <= i.locks[last].deleted.latest }):
		l.complain("lost", "%s ended at %#x, and no handler had returned", i.text, i.ended)
	}
	if len(i.done) > 1 {
		l.again++
	}
	under := map[string]bool{}
	for _, d := range i.done {
		lock, ok := lockAt(d.client, d.at, i.locks, owners)
		switch {
		case !ok || lock.expired:
		case lock.ended != i.ended:
			l.complain("handled, and its lock released", "%s by %s under %s", i.text, d.client, lock.path)
		case under[d.client]:
			l.complain("handled twice under one lock", "%s by %s", i.text, d.client)
		default:
			under[d.client] = true
		}
	}
}

// lockAt returns the latest of an item's locks that may have been this client's at a time. A session that has put
// nothing is not known to be anybody's.
func lockAt(client string, at int64, locks []node, owners map[int64]string) (lock node, ok bool) {
	for _, n := range locks {
		if owner, known := owners[n.session]; n.created.earliest <= at && n.czxid > lock.czxid &&
			(!known || owner == client) {
			lock, ok = n, true
		}
	}
	return lock, ok
}

// judgeHandlers: a handler whose context has not ended has the item's lock, unless that ended with its session.
func (l *ledger) judgeHandlers(clients []client, items map[int64]*item, owners map[int64]string) {
	byItem := map[int64][][]span{}
	for _, c := range clients {
		own := map[int64][]span{}
		for _, b := range c.awake() {
			own[b.token] = append(own[b.token], b.span)
			i := items[b.token]
			if i == nil {
				l.complain("handling what was never put", "%s, under %d", c.id, b.token)
				continue
			}
			lock, ok := lockAt(c.id, b.from, i.locks, owners)
			switch {
			case !ok:
				l.complain("handling without a lock", "%s by %s", i.text, c.id)
			case b.to > lock.deleted.latest && !lock.expired:
				l.complain("handling after the lock was deleted", "%s by %s, %s", i.text, c.id,
					span{lock.deleted.latest, b.to}.length())
			}
		}
		for token, s := range own {
			byItem[token] = append(byItem[token], s)
		}
	}
	for _, all := range byItem {
		l.overlap = append(l.overlap, shared(all...)...)
	}
}
