package why

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// name returns the node's number in its line, or what it is called.
func (s stranger) name() string {
	switch {
	case s.label != "":
		return s.label
	case s.path == "": // nothing else is known of it
		return "node " + itoa(s.order)
	}
	return "node " + shortNode(s.path)
}

// own names the node as that of the log's client.
func (s stranger) own() string {
	if s.label != "" {
		return "its node"
	}
	return "its " + s.name()
}

// kindOf returns the kind of a node's name, and remembers it.
func (h *history) kindOf(name string) nameKind {
	if k, known := h.kinds[name]; known {
		return k
	}
	kind, shares := kindOf(name)
	h.kinds[name] = nameKind{kind, shares}
	return h.kinds[name]
}

// findLines groups the terms of all logs, and finds the strangers in each line.
func (h *history) findLines() []*line {
	byKey := map[string]*line{}
	var all []*line
	for _, l := range h.logs {
		for _, t := range l.terms {
			m := t.machine()
			if m.opener != "" { // a latch that a recipe opens for itself is not the user's
				continue
			}
			k := h.kindOf(baseOf(t.Node))
			t.shares = k.shares || m.reads
			if t.hasPermits() {
				k.kind = "permits" // kazoo's have names without a label
			}
			if m.shard != 0 {
				k.kind = fmt.Sprintf("shard %04d", m.shard)
			}
			key := t.Dir + "\x00" + k.kind
			n := byKey[key]
			if n == nil {
				n = &line{dir: t.Dir, kind: k.kind, path: t.Dir, shard: m.shard, permits: t.hasPermits()}
				if (n.permits || n.shard != 0 || t.traits().FixedName) && m.path != "" {
					n.path = m.path
				}
				byKey[key] = n
				all = append(all, n)
			}
			n.shared = n.shared || t.shares
			n.terms = append(n.terms, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *line) int {
		return strings.Compare(a.dir+"\x00"+a.kind, b.dir+"\x00"+b.kind)
	})
	for _, n := range all {
		h.sortTerms(n)
		n.strangers = h.strangersIn(n)
	}
	return all
}

// strangersIn returns the places of clients without a log that may have led.
func (h *history) strangersIn(n *line) (all []stranger) {
	switch {
	case n.permits:
		return nil
	case n.shard != 0:
		return h.strangeOwners(n)
	case n.fixed():
		return h.markersIn(n)
	}
	known := map[string]bool{}
	for _, l := range h.logs {
		for path := range l.nodes {
			known[path] = true
		}
	}
	add := func(path string, by Ref) {
		if known[path] || orderOf(path) < 0 {
			return
		}
		k := h.kindOf(baseOf(path))
		if k.kind != n.kind {
			return
		}
		known[path] = true
		s := stranger{path: path, order: orderOf(path), by: by, reads: k.shares}
		for _, l := range h.logs {
			s.owner = max(s.owner, l.owners[path])
		}
		if life := h.lifeOf(path, 0); life != nil && s.owner == 0 {
			s.owner = life.owner
		}
		if h.mayHaveLed(n, s) {
			all = append(all, s)
		}
	}
	for _, l := range h.logs {
		for _, name := range slices.Sorted(maps.Keys(l.seen[n.dir])) {
			add(inDir(n.dir, name), Ref{l.Name, l.seen[n.dir][name]})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(h.lives)) {
		if dirOf(path) == n.dir {
			add(path, Ref{})
		}
	}
	all = append(all, h.unendedIn(n)...)
	all = append(all, h.unseenIn(n)...)
	slices.SortFunc(all, func(a, b stranger) int { return int(min(max(a.order-b.order, -1), 1)) })
	return all
}

// mayHaveLed reports whether a stranger may have been first: not if a place ahead of it, whose
// log is there, outlived it or was still there when its log ended.
func (h *history) mayHaveLed(n *line, s stranger) bool {
	life := h.lifeOf(s.path, 0)
	for _, l := range h.logs {
		for path, own := range l.nodes {
			if dirOf(path) != n.dir || orderOf(path) >= s.order {
				continue
			}
			if k := h.kindOf(baseOf(path)); k.kind != n.kind || k.shares && s.reads {
				continue
			}
			mine := h.lifeOf(path, own.czxid)
			if life != nil && life.ended != nil && mine != nil &&
				(mine.ended == nil || mine.ended.Zxid > life.ended.Zxid) {
				return false
			}
			if h.outlives(l, own) && !n.passed(own.path) {
				return false
			}
		}
	}
	return true
}

// passed reports whether a place behind a node led: the node had gone by then.
func (n *line) passed(path string) bool {
	return slices.ContainsFunc(n.terms, func(t *Term) bool { return orderOf(t.Node) > orderOf(path) && !t.shares })
}

// outlives reports whether a node was there when its client's log ended, as far as that shows: not if nothing confirmed
// the session any more.
func (h *history) outlives(l *Log, n *node) bool {
	if l.closed || !l.confirmed() || h.endOf(n.path, n.czxid) != nil ||
		n.session == nil || n.session.lost != nil || n.session.closeAsked != 0 || n.session != l.session.current {
		return false
	}
	if n.asked {
		return false
	}
	for _, other := range h.logs {
		if sawGone(other, n.path, other.lastSeq) != 0 {
			return false
		}
	}
	for _, t := range l.terms {
		if t.Node == n.path && (t.Reason == events.ReasonNodeGone || t.Reason == events.ReasonDeleted) {
			return false
		}
	}
	return true
}

// unendedIn returns the places whose clients' logs end before they show the end of the node: it may have led
// afterwards.
func (h *history) unendedIn(n *line) (all []stranger) {
	for _, l := range h.logs {
		ended := l.endedNodes()
		for path, own := range l.nodes {
			if ended[path] || dirOf(path) != n.dir || orderOf(path) < 0 || h.kindOf(baseOf(path)).kind != n.kind ||
				!l.leaves(own) {
				continue
			}
			as := &Term{Log: l, Node: path, ElectedAt: own.at, Session: own.session.number}
			if l.Damage == "" && (h.diedInTerm(l, path) || h.wasSeenGone(path) && h.livedOn(as, nil) == "") {
				continue
			}
			all = append(all, stranger{path: path, order: orderOf(path), owner: own.session.id, by: Ref{l.Name,
				l.lastSeq},
				reads: h.kindOf(baseOf(path)).shares, log: l, from: l.last})
		}
	}
	return all
}

// confirmed reports whether a log ends before the session's last confirmed deadline: until then a node that has not
// been seen to go is there.
func (l *Log) confirmed() bool { return l.session.granted >= l.last }

// leaves reports whether a node's session was there at the end of the log.
func (l *Log) leaves(n *node) bool {
	s := n.session
	return !l.closed && s != nil && s.lost == nil && s.closeAsked == 0 && s == l.session.current
}

// endedNodes returns the nodes whose end a log shows itself.
func (l *Log) endedNodes() map[string]bool {
	if l.nodesEnded != nil {
		return l.nodesEnded
	}
	ended := map[string]bool{}
	for _, d := range l.deletes {
		ended[d.path] = ended[d.path] || d.zxid != 0
	}
	for _, g := range l.gone {
		ended[g.path] = true
	}
	for _, t := range l.terms {
		if t.Reason == events.ReasonNodeGone || t.Reason == events.ReasonDeleted {
			ended[t.Node] = true
		}
	}
	l.nodesEnded = ended
	return ended
}

// wasSeenGone reports whether a log shows that a node has gone.
func (h *history) wasSeenGone(path string) bool {
	return h.endOf(path, 0) != nil || slices.ContainsFunc(h.logs, func(l *Log) bool {
		return sawGone(l, path,
			l.lastSeq) != 0
	})
}

// diedInTerm reports whether the log ends in a term on a node: what became of that is the term's own story.
func (h *history) diedInTerm(l *Log, path string) bool {
	return slices.ContainsFunc(l.terms, func(t *Term) bool { return t.Node == path && t.Open() })
}

// between returns the strangers whose places were between those of two terms, by their numbers. Last may be nil, and
// so may next.
func (h *history) between(n *line, last, next *Term) (all []stranger) {
	after, before := int64(-1), int64(1<<62)
	if last != nil {
		after = n.position(last)
	}
	if next != nil {
		before = n.position(next)
	}
	if last != nil && next != nil && !n.fixed() && before <= after && next.Token > last.Token && !h.replaced &&
		!h.covers(last.Token, next.Token) {
		all = append(all, stranger{label: "somebody in " + oneLine(n.dir) + ", which was created again meanwhile,",
			order: after})
	}
	for _, s := range n.strangers {
		switch {
		case s.order > after && s.order < before:
		case s.log != nil && s.order == after && last.Stopped != 0: // it may have led again
		default:
			continue
		}
		if s.log != nil && next != nil && h.clocks.between(s.log, s.from, next.Log, next.ElectedAt).hi < 0 {
			continue // its log is there until later
		}
		if s.log != nil && next == nil {
			continue
		}
		all = append(all, s)
	}
	return all
}

// sortTerms puts the terms of a line in their order: by token, which grows from each to the
// next, or by time if the ensemble's data were replaced.
func (h *history) sortTerms(n *line) {
	f := h.chooseShownClock()
	slices.SortStableFunc(n.terms, func(a, b *Term) int {
		if !h.replaced && a.Token != b.Token {
			return cmp.Compare(a.Token, b.Token)
		}
		if a.Log == b.Log {
			return cmp.Compare(a.Elected, b.Elected)
		}
		return cmp.Compare(f.wall(h, a.Log, a.ElectedAt), f.wall(h, b.Log, b.ElectedAt))
	})
}

// allPlaces returns the nodes that clients created, by directory and by their numbers.
func (h *history) allPlaces() map[string][]place {
	if h.places == nil {
		h.places = map[string][]place{}
		for _, l := range h.logs {
			for path, n := range l.nodes {
				in := dirOf(path)
				h.places[in] = append(h.places[in], place{orderOf(path), l, n})
			}
		}
		for _, all := range h.places {
			slices.SortFunc(all, func(a, b place) int {
				return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.node.path, b.node.path))
			})
		}
	}
	return h.places
}

// placesIn returns the nodes in a directory, by their numbers.
func (h *history) placesIn(dir string) []place { return h.allPlaces()[dir] }

func (l *Log) ledOn(path string) bool {
	return slices.ContainsFunc(l.terms, func(t *Term) bool { return t.Node == path })
}

// under reports whether a line is that of a path: its directory, or below it as a job
// election's and a semaphore's are.
func under(path string, n *line) bool {
	return n.dir == path || n.path == path || len(n.dir) > len(path) && n.dir[:len(path)+1] == path+"/" &&
		n.terms[0].machine().path == path
}
