package why

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// addMarkerOf adds the leader that wrote a marker and has no term of it in a log, unless its log goes on to its close:
// then it did not lead.
func (h *history) addMarkerOf(all []stranger, m marker, by Ref) []stranger {
	s := stranger{label: "an instance", order: m.czxid, owner: m.owner, by: by}
	if m.data != "" {
		s.label = "instance " + quoteID(m.data)
	}
	if l := h.sessions[m.owner]; l != nil {
		if l.closed {
			return all
		}
		s.log, s.from = l, l.last
	}
	return append(all, s)
}

// sawMarkerLast reports whether the marker of a term was there where a client's log ends.
func (l *Log) sawMarkerLast(t *Term) bool {
	return l != t.Log && t.traits().FixedName && l.markerAt(t.Node, l.lastSeq+1) == t.Token &&
		!slices.ContainsFunc(l.gone, func(g sighting) bool { return l.isEndOf(t, g) })
}

// latchesBetween returns who may have held a job's latch between two terms that followed one another.
func (h *history) latchesBetween(n *line, last, next *Term) (all []stranger) {
	dir := inDir(n.dir, "latch")
	from, to := last.latch(dir), next.latch(dir)
	if from < 0 || to <= from {
		return append(all, stranger{label: "an instance", order: last.Token + 1})
	}
	own := map[int64]place{}
	for _, p := range h.placesIn(dir) {
		own[p.order] = p
	}
	for order := from; order < to && len(all) < maxUnseen; order++ {
		p, known := own[order]
		s := stranger{label: "the instance with latch node " + itoa(order), order: last.Token + 1}
		switch {
		case known && !p.log.leaves(p.node), !known && h.absentIn(dir, order):
			continue
		case order == from && (last.Open() || p.log.endedNodes()[p.node.path]): // what became of it is the term's story
			continue
		case known:
			s.log, s.from, s.by = p.log, p.log.last, Ref{p.log.Name, p.log.lastSeq}
		}
		all = append(all, s)
	}
	return all
}

// markersIn returns the leaders of a job, and those that held its latch, whose logs are not here or end before. Their
// order is by the transactions that created nodes.
func (h *history) markersIn(n *line) (all []stranger) {
	seen := map[int64]bool{}
	for _, t := range n.terms {
		seen[t.Token] = true
	}
	add := func(m marker, by Ref) {
		if !seen[m.czxid] && m.path == n.terms[0].Node {
			seen[m.czxid] = true
			all = h.addMarkerOf(all, m, by)
		}
	}
	for _, l := range h.logs {
		for _, m := range l.markers {
			add(m, Ref{l.Name, m.seq})
		}
	}
	for _, life := range h.lives[n.terms[0].Node] {
		if life.owner != 0 {
			add(marker{path: n.terms[0].Node, czxid: life.created.Zxid, owner: life.owner}, Ref{})
		}
	}
	for i, t := range n.terms[1:] {
		if last := n.terms[i]; last.Token < t.Token && !h.covers(last.Token, t.Token) {
			all = append(all, h.latchesBetween(n, last, t)...)
		}
	}
	slices.SortStableFunc(all, func(a, b stranger) int { return cmp.Compare(a.order, b.order) })
	return all
}

// endWasSeen reports whether a log shows that the node of a term has gone.
func (h *history) endWasSeen(t *Term) bool {
	if !t.traits().FixedName {
		return t.Log.endedNodes()[t.Node] || h.wasSeenGone(t.Node)
	}
	return h.endOfTerm(t) != nil || t.Reason == events.ReasonNodeGone || t.Reason == events.ReasonDeleted ||
		t.deleted(t.Elected) != nil || slices.ContainsFunc(h.logs, func(l *Log) bool {
		return slices.ContainsFunc(l.gone, func(g sighting) bool { return l.isEndOf(t, g) })
	})
}
