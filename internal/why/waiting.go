package why

import "cmp"

// firstWaiting returns the first place behind a term that is in line where its client's log ends, nil for none.
func (r *Report) firstWaiting(t *Term) *place {
	kind := r.h.kindOf(baseOf(t.Node)).kind
	for _, p := range r.h.placesIn(t.Dir) {
		if p.order > orderOf(t.Node) && r.h.kindOf(baseOf(p.node.path)).kind == kind && p.log.leaves(p.node) &&
			!p.log.endedNodes()[p.node.path] && !r.h.wasSeenGone(p.node.path) {
			return &p
		}
	}
	return nil
}

// waitingAhead describes a place that is first in line and does not lead.
func (r *Report) waitingAhead(p *place) *InTheWay {
	return &InTheWay{Node: p.node.path, Participant: cmp.Or(p.log.nameOf(p.node.machine), p.log.Name),
		Session: hex(p.node.session.id), Host: p.log.Header.Host, PID: p.log.Header.PID,
		Why: "it waits where its log ends, at " + r.time(p.log, p.log.last), waits: true}
}
