package chaos

import (
	"cmp"
	"slices"
	"time"
)

// span is a stretch of time, in nanoseconds of the machine's monotonic clock. Of a belief it is what is certain: from the
// end of the first look that found it, to the beginning of the last.
type span struct{ from, to int64 }

func (s span) length() time.Duration { return time.Duration(s.to - s.from) }

// belief is a stretch of time during which a client held something, by its own word.
type belief struct {
	span
	token int64 // of what it held; 0 where it did not say
}

// client is what is known of one client. Its id is in its nodes.
type client struct {
	id      string
	beliefs []belief
	stopped []span // by SIGSTOP
	calls   []call
	writes  []write
	done    []handled
	killed  bool
}

// awake returns what the client believed while its process could run.
func (c client) awake() (all []belief) {
	for _, b := range c.beliefs {
		for _, s := range minus([]span{b.span}, c.stopped) {
			all = append(all, belief{s, b.token})
		}
	}
	return all
}

// blink is longer than a client takes between two words on a belief that goes on.
const blink = 100 * time.Millisecond

// asleep returns what the client believed while its process was stopped. A belief that was held at the last look before is
// taken to last until the process goes on, because a stopped process learns nothing.
func (c client) asleep() (all []belief) {
	for _, hole := range c.stopped {
		for _, b := range c.beliefs {
			if b.from < hole.from && b.to > hole.from-int64(blink) {
				all = append(all, belief{hole, b.token})
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

// spans returns the times of beliefs.
func spans(beliefs []belief) (all []span) {
	for _, b := range beliefs {
		all = append(all, b.span)
	}
	return all
}

func total(spans []span) (sum, longest time.Duration) {
	for _, s := range spans {
		sum += s.length()
		longest = max(longest, s.length())
	}
	return sum, longest
}

// covered returns for how long at least one of these held.
func covered(all ...[]span) (sum time.Duration) {
	var spans []span
	for _, some := range all {
		spans = append(spans, some...)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	end := int64(0)
	for _, s := range spans {
		if s.to > end {
			sum += time.Duration(s.to - max(s.from, end))
			end = s.to
		}
	}
	return sum
}

// arrival is a request as the store took it, in the order in which it did.
type arrival struct {
	at    int64
	id    string
	verb  verb
	token int64 // what the client named; 0 where its recipe has none
	value int64
	taken bool
}

// call is a request as its client saw it.
type call struct {
	verb           verb
	value          int64 // to save, or what was loaded
	called, heard  int64
	taken, unknown bool // unknown: the client ended before it heard
}

type verb string

const (
	load verb = "load" // read the value, and shut out all lower tokens
	save verb = "save"
)

// verdict is what is wrong in one line. Everything in it is certain: a case that is not clear is not counted.
type verdict struct {
	together []span     // two believed at once what one may have at a time, neither of them stopped
	asleep   []span     // two did, one of them stopped: no library can prevent that
	beyond   []trespass // believed without a node, or before it was first in line, or after it was gone
	stale    int        // saves that came to the store after a request of a later node's owner
	accepted int        // and were taken
	forged   int        // tokens that are not the czxid of the client's node
	orphans  int        // nodes that exist together with another of the same client for longer than a session lasts
	shrunk   int        // holds whose token is below that of one before
	terms    int
	led      time.Duration
	longest  time.Duration // without anybody who believed
	ledger                 // what the order of transactions shows
}

// trespass is a belief that does not agree with the life of the client's node.
type trespass struct {
	id   string
	span span
	why  string
}

// judge holds what the clients of one line believed, wrote and handled against what was committed.
func judge(k kind, clients []client, nodes []node, arrivals []arrival, history []txn, session time.Duration) (v verdict) {
	places := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool { return !k.owns(n) })
	var awake [][]span
	for _, c := range clients {
		awake = append(awake, spans(c.awake()))
		v.terms += len(c.beliefs)
	}
	v.led, v.longest = covered(awake...), drought(awake...)
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
	v.stale, v.accepted, v.forged = staleSaves(arrivals, places)
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

// own returns the node that a belief of a client is about: the one with its token, or else the latest that may have been
// there when it began. Of several permits of one hold it is the one that is deleted first.
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

// staleSaves counts saves by clients whose node is older than that of another client that had written to the store before. It
// does not ask the store's opinion, and goes by the nodes, not by the tokens that were named: those it checks.
func staleSaves(arrivals []arrival, nodes []node) (stale, accepted, forged int) {
	highest := int64(0)
	for _, a := range arrivals {
		mine, ok := own(a.id, belief{span: span{a.at, a.at}}, nodes)
		if a.token != 0 && !slices.ContainsFunc(nodes, func(n node) bool { return n.id == a.id && n.czxid == a.token }) {
			forged++
		}
		token := mine.czxid
		if a.token != 0 {
			token = a.token
		} else if !ok {
			continue
		}
		if a.verb == save && token < highest {
			stale++
			if a.taken {
				accepted++
			}
		}
		if a.taken {
			highest = max(highest, token)
		}
	}
	return stale, accepted, forged
}

// expiryLag is how much longer than its timeout a session that a client has given up may last: two ticks of 2 s. A new leader of
// the ensemble gives every session its whole timeout again, and expires sessions at ticks.
const expiryLag = 4 * time.Second

// orphans counts nodes that were there together with an older one of the same client for longer than a session can last that
// is over for the client.
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

// drought returns the longest time between two beliefs.
func drought(all ...[]span) (longest time.Duration) {
	var spans []span
	for _, some := range all {
		spans = append(spans, some...)
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i, end := 0, int64(0); i < len(spans); i++ {
		if i > 0 {
			longest = max(longest, time.Duration(spans[i].from-end))
		}
		end = max(end, spans[i].to)
	}
	return longest
}
