package why

import (
	"cmp"
	"slices"
)

// skipped returns who was in line ahead of the one that leads next, and did not lead.
func (r *Report) skipped(m Move) (all []Skipped) {
	if m.From == nil || m.To == nil || m.Permits != nil || m.To.shares || m.shard() != 0 {
		return nil
	}
	first, before := orderOf(m.From.Node), orderOf(m.To.Node)
	kind := r.h.kindOf(baseOf(m.To.Node)).kind
	places := r.h.placesIn(m.To.Dir)
	i, _ := slices.BinarySearchFunc(places, first+1, func(p place, order int64) int {
		return cmp.Compare(p.order,
			order)
	})
	for _, p := range places[i:] {
		if p.order >= before {
			break
		}
		mayHaveLed := slices.ContainsFunc(m.strange, func(s stranger) bool { return s.path == p.node.path })
		if r.h.kindOf(baseOf(p.node.path)).kind != kind || p.log.ledOn(p.node.path) || mayHaveLed {
			continue
		}
		if one := r.whySkipped(p.log, p.node, m.To); one.Why != "" {
			one.Participant, one.At = p.log.nameOf(p.node.machine), *at(r.wall(m.To.Log, m.To.ElectedAt))
			one.For, one.log, one.node = m.To.who(), p.log, p.node
			if end := r.h.endOf(p.node.path, p.node.czxid); end != nil {
				before := r.h.endOfTerm(m.From)
				one.early = before != nil && end.ended.Zxid < before.ended.Zxid
				one.Until = at(min(end.ended.Time*milli+r.byClock.shift, one.At.UnixNano()))
			}
			one.Text = one.text()
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b Skipped) int { return cmp.Compare(a.Participant, b.Participant) })
	return all
}

// text says until when it was ahead, and why it did not lead.
func (s Skipped) text() string {
	until := "its node went, before " + clockText(s.At.UnixNano())
	if s.Until != nil {
		until = "its node went at " + clockText(s.Until.UnixNano())
	}
	return s.Participant + " was ahead of " + s.For + " until " + until + ", and did not lead: " + s.Why
}

// whySkipped says why the participant on a node did not lead, nothing if it left the line by itself, or later, and
// since when.
func (r *Report) whySkipped(l *Log, n *node, next *Term) (one Skipped) {
	s := n.session
	began := r.wall(next.Log, next.ElectedAt)
	for _, d := range l.deletes {
		if d.path == n.path && d.zxid != 0 {
			return one
		}
	}
	if s == nil || s.closeAsked != 0 || r.wall(l, n.at) > began {
		return one
	}
	var lost *loss
	for i := range s.suspended {
		out := &s.suspended[i]
		inTime := func(at int64) bool { return r.wall(l, at) <= began }
		if r.wall(l, out.at) <= began+int64(s.timeout) && !s.backBefore(out, inTime) {
			lost = out
		}
	}
	switch {
	case lost != nil && lost.paused > 0:
		one.Cause, one.Why = CausePaused, "its process did not run for "+span(lost.paused)
		one.since = r.wall(l, lost.at-int64(lost.paused))
	case lost != nil:
		one.Cause, one.Why = disconnect(lost)
		one.Why, one.server, one.since = "it "+one.Why, lost.server(), r.wall(l, lost.at)
	case s.lost != nil && r.wall(l, s.lost.at) <= began+int64(s.timeout):
		one.Cause, one.Why, one.since = CauseSessionExpired, "the ensemble had ended its session", r.wall(l, s.lost.at)
	case r.wall(l, l.last) <= began:
		one.Cause, one.since = CauseKilled, r.wall(l, l.last)
		one.Why = "its log ends at " + r.time(l, l.last) + ": " + logJustEnds
	default:
		one.Cause, one.Why, one.since = CauseUnknown, "its log does not show why", began
	}
	return one
}
