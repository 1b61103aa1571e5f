package chaos

import (
	"cmp"
	"slices"
	"time"
)

// span is a stretch of time, in nanoseconds of the machine's monotonic clock. Of a belief it is what is certain: from
// the end of the first look that found it, to the beginning of the last.
type span struct{ from, to int64 }

func (s span) length() time.Duration { return time.Duration(s.to - s.from) }

// belief is a stretch of time during which a client held something, by its own word.
type belief struct {
	span
	token int64 // of what it held; 0 where it did not say
	part  int   // of what the line is for: a shard
}

// client is what is known of one client. Its id is in its nodes.
type client struct {
	id      string
	beliefs []belief
	stopped []span // by SIGSTOP
	writes  []write
	done    []handled
	killed  bool
}

// awake returns what the client believed while its process could run.
func (c client) awake() (all []belief) {
	for _, b := range c.beliefs {
		for _, s := range minus([]span{b.span}, c.stopped) {
			all = append(all, belief{s, b.token, b.part})
		}
	}
	return all
}

// blink is longer than a client takes between two words on a belief that goes on.
const blink = 100 * time.Millisecond

// asleep returns what the client believed while its process was stopped. A belief that was held at the last look before
// is taken to last until the process goes on, because a stopped process learns nothing.
func (c client) asleep() (all []belief) {
	for _, hole := range c.stopped {
		for _, b := range c.beliefs {
			if b.from < hole.from && b.to > hole.from-int64(blink) {
				all = append(all, belief{hole, b.token, b.part})
				break
			}
		}
	}
	return all
}

// minus takes holes out of spans.
func minus(spans, holes []span) []span {
	for _, h := range holes {
		var left []span
		for _, s := range spans {
			if a := (span{s.from, min(s.to, h.from)}); a.to > a.from {
				left = append(left, a)
			}
			if b := (span{max(s.from, h.to), s.to}); b.to > b.from {
				left = append(left, b)
			}
		}
		spans = left
	}
	return spans
}

// shared returns the times at which at least two of these hold, in order, each as long as it can be.
func shared(all ...[]span) []span {
	type edge struct {
		at int64
		by int
	}
	var edges []edge
	for _, spans := range all {
		for _, s := range spans {
			edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	var found []span
	depth, since := 0, int64(0)
	for _, e := range edges {
		depth += e.by
		switch {
		case depth == 2 && e.by > 0:
			since = e.at
		case depth == 1 && e.by < 0 && e.at > since:
			found = append(found, span{since, e.at})
		}
	}
	return found
}

// verdict is what is wrong in one line. Everything in it is certain: a case that is not clear is not counted.
type verdict struct {
	together []span     // two believed at once what one may have at a time, neither of them stopped
	asleep   []span     // two did, one of them stopped: no library can prevent that
	beyond   []trespass // believed without a node, or before it was first in line, or after it was gone
	orphans  int        // nodes that exist together with another of the same client for longer than a session lasts
	shrunk   int        // holds whose token is below that of one before
	terms    int
	ledger   // what the order of transactions shows
}

// trespass is a belief that does not agree with the life of the client's node.
type trespass struct {
	id   string
	span span
	why  string
}

// judge holds what the clients of one line believed, wrote and handled against what was committed.
func judge(k kind, clients []client, nodes []node, history []txn, session time.Duration) (v verdict) {
	places := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool { return !k.owns(n) })
	for _, c := range clients {
		v.terms += len(c.beliefs)
	}
	if k == byQueue {
		v.ledger = judgeItems(k, clients, places, history)
		return v
	}
	v.ledger = judgeLedger(k, clients, places, history)
	v.together, v.asleep, v.shrunk = exclusions(k, clients, places)
	for _, c := range clients {
		for _, b := range c.awake() {
			v.beyond = append(v.beyond, trespasses(k, c.id, b, places)...)
		}
	}
	v.orphans = orphans(nodes, session+expiryLag)
	return v
}

// trespasses compares one stretch of belief with the life of its client's node.
func trespasses(k kind, id string, b belief, nodes []node) (all []trespass) {
	mine, ok := own(id, b, nodes)
	if !ok {
		return []trespass{{id, b.span, "without a node"}}
	}
	if b.to > mine.deleted.latest {
		all = append(all, trespass{id, span{max(b.from, mine.deleted.latest), b.to}, "after its node was gone"})
	}
	for _, n := range nodes {
		if n.blocks(mine, b.from) && (k.alone(n) || k.alone(mine)) {
			all = append(all, trespass{id, span{b.from, min(b.to, n.deleted.earliest)}, "behind " + n.path})
		}
	}
	return all
}

// own returns the node that a belief of a client is about: the one with its token, or else the latest that may have
// been there when it began. Of several permits of one hold it is the one that is deleted first.
func own(id string, b belief, nodes []node) (mine node, ok bool) {
	for _, n := range nodes {
		if n.id != id || n.created.earliest > b.from || b.token != 0 && b.token != n.czxid {
			continue
		}
		if n.czxid > mine.czxid || n.czxid == mine.czxid && n.deleted.latest < mine.deleted.latest {
			mine, ok = n, true
		}
	}
	return mine, ok
}

// expiryLag is how much longer than its timeout a session that a client has given up may last: two ticks of 2 s. A new
// leader of the ensemble gives every session its whole timeout again, and expires sessions at ticks.
const expiryLag = 4 * time.Second

// orphans counts nodes that were there together with an older one of the same client for longer than a session can last
// that is over for the client.
func orphans(nodes []node, lasts time.Duration) (count int) {
	for i, n := range nodes {
		for _, other := range nodes[:i] {
			both := min(n.deleted.earliest, other.deleted.earliest) - n.created.latest
			if n.id == other.id && n.line() == other.line() && n.czxid != other.czxid && both > int64(lasts) {
				count++
				break
			}
		}
	}
	return count
}
