package why

import (
	"cmp"
	"slices"
)

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

// findLeader finds who leads at the end of the logs, or since when nobody does.
func (r *Report) findLeader(s *LineSummary, last Move, end int64) {
	if t := last.To; t != nil {
		if r.endsEarly(t, last.Path) {
			s.Unknown = t.Log.Name + "'s log ends while " + t.who() + " " + t.holds() + ", and others go on"
			return
		}
		ending := r.h.endingOf(t, nil)
		switch {
		case ending.Cause != CauseLeads:
		case r.wall(t.Log, t.rightUntil()) >= end:
			s.AsOf = *at(r.wall(t.Log, t.Log.last))
			s.Leader, s.Token, s.Since = t.who(), t.Token, at(r.wall(t.Log, t.ElectedAt))
			return
		default:
			s.Unknown = t.Log.Name + "'s log ends at " + r.time(t.Log, t.Log.last) + " while " + t.who() + " " +
				t.holds() + ": it does so still, unless its process is dead"
			return
		}
		last = Move{Path: last.Path, From: t, Ending: ending}
	}
	if last.From == nil || !r.isLast(last.From) {
		return
	}
	if last.From.Open() && last.Ending.Cause == CauseGap {
		s.Unknown = "until when " + last.From.who() + " led is not in its log"
		return
	}
	if s.Unknown = r.mayLeadNow(last); s.Unknown != "" {
		return
	}
	from := r.wall(last.From.Log, last.Ending.At)
	var ahead *InTheWay
	var by *Log
	if s.Shard == nil {
		ahead, by = r.ahead(last)
	}
	if s.Unknown = r.mayHaveGone(last.From, by); s.Unknown != "" {
		return
	}
	if ahead != nil {
		if until := r.wall(by, by.last); until < end {
			if r.wall(by, by.session.granted) < end {
				s.Unknown = by.Name + "'s log ends at " + clockText(until) + " while its node " +
					shortNode(ahead.Node) +
					" is in line, and others go on"
				return
			}
			end = until
			s.AsOf = *at(end)
		}
	}
	if from >= end {
		return
	}
	s.NobodySince, s.InTheWay = at(from), ahead
	_, onPurpose := planned[last.From.Reason]
	s.Left = onPurpose && s.InTheWay == nil && len(last.Troubles) == 0
	if !s.Left {
		gap := interval{end - from, end - from}
		if last.assumesDeath() {
			gap.hi = max(gap.hi, end-r.wall(last.From.Log, max(last.From.Log.last, last.From.ElectedAt)))
		}
		s.addGap(from, gap)
	}
}

// ahead finds the node for which nobody leads, and the log of its client; nil if there is none.
func (r *Report) ahead(last Move) (*InTheWay, *Log) {
	if b := r.inTheWay(last); b != nil {
		return b, last.From.Log
	}
	if first := r.firstWaiting(last.From); first != nil {
		return r.waitingAhead(first), first.log
	}
	return nil, nil
}

// mayHaveGone says that a term's node may have gone, and somebody behind it may lead whose log is not here, "" if that
// is not so. By is the log of the node that is ahead of all.
func (r *Report) mayHaveGone(t *Term, by *Log) string {
	s := t.Log.sessionNumbered(t.Session)
	if t.Recipe == shardRecipe || by != nil && by != t.Log || t.Log.confirmed() || t.Log.closed ||
		r.h.endWasSeen(t) || s == nil || s.lost != nil || s.closeAsked != 0 {
		return ""
	}
	return "nothing confirmed " + t.Log.Name + "'s session any more, so its node " + shortNode(t.Node) +
		" may have gone, and somebody may lead whose log is not here"
}

// mayLeadNow says who may lead behind the last term, although no log shows it; "" if nobody may.
func (r *Report) mayLeadNow(last Move) string {
	if len(last.strange) > 0 {
		return r.missingLog(last)
	}
	if i := slices.IndexFunc(r.lines, func(n *line) bool { return slices.Contains(n.terms, last.From) }); i >= 0 {
		return cmp.Or(r.waitsOn(r.lines[i]), r.cutBefore(r.lines[i]))
	}
	return ""
}

// inTheWay finds the node for which nobody leads: that of the last term, if the logs do not show that it has gone.
func (r *Report) inTheWay(m Move) *InTheWay {
	t := m.From
	if r.h.endWasSeen(t) {
		return nil
	}
	b := &InTheWay{Node: t.Node, Participant: t.who(), Host: t.Log.Header.Host, PID: t.Log.Header.PID}
	s := t.Log.sessionNumbered(t.Session)
	if s != nil {
		b.Session = hex(s.id)
	}
	switch {
	case s != nil && (s.lost != nil || s.closed != 0):
		return nil
	case t.worksLeft > 0 && t.Stopped != 0:
		b.Why = "its work has not returned, or its Leadership was not released"
	default:
		b.Why = "it has not been deleted"
	}
	return b
}
