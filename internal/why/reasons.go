package why

import (
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// reasons returns why a term ended, and what else was wrong from a session timeout before that until the next began:
// each cause of each participant once.
func (r *Report) reasons(m Move) (all []Because) {
	add := func(b Because) {
		if b.Participant != "" && !slices.ContainsFunc(all, func(a Because) bool {
			return a.Cause == b.Cause && a.Participant == b.Participant
		}) {
			all = append(all, b)
		}
	}
	t, ended := m.From, m.Ending.At
	if m.assumesDeath() { // it could believe for longer than it lived
		ended = t.Log.last
	}
	add(Because{Participant: t.who(), Cause: m.Ending.Cause, Text: t.who() + " " + plain(m.Ending.Text),
		Server: t.Log.serverAt(t.Session, m.Ending.At), log: t.Log, at: r.wall(t.Log, ended), Role: RoleEnded})
	r.ownReasons(m, add)
	for _, s := range r.skipped(m) {
		role := RoleDelayed
		if s.early {
			role = RoleNeither
		}
		add(Because{Participant: s.Participant, Cause: s.Cause, Text: s.Participant + " was skipped: " + plain(s.Why),
			Server: s.server, log: s.log, at: s.since, Role: role})
	}
	for _, trouble := range m.Troubles {
		add(Because{Participant: trouble.Participant, Cause: trouble.Cause, Text: plain(trouble.sentence().Text),
			log: trouble.Log, at: trouble.at, Role: RoleDelayed})
	}
	for _, l := range r.logs {
		if l != t.Log && l.Records > 0 && l.queued(m.Path) {
			r.othersReasons(m, l, add)
		}
	}
	return all
}

// plain returns a sentence without what it adds in parentheses.
func plain(text string) string {
	text, _, _ = strings.Cut(text, " (")
	return text
}

// period is the time in which what is wrong counts for a move, by a log's clock.
type period struct {
	from, to int64
	ended    int64 // when the term ended
}

// during returns the time in which what is wrong with a client counts for a move: from a session timeout before the
// term ended, or from its end if that did not come by the connection. Nothing counts that began before the term did.
// It returns false if the clocks do not tell.
func (r *Report) during(m Move, l *Log) (p period, began int64, known bool) {
	known = true
	show := func(of *Log, at int64) int64 {
		if r.h.clocks.ids[of] == r.h.clocks.ids[l] {
			return at
		}
		shows := r.h.clocks.read(of, at)[r.h.clocks.ids[l]]
		known = known && shows.known()
		return shows.mid()
	}
	began = show(m.From.Log, m.From.ElectedAt)
	ended := show(m.From.Log, m.Ending.At)
	p = period{ended, l.last, ended}
	if isOfConnection(m.Ending.Cause) {
		p.from -= int64(m.From.timeout())
	}
	if m.To != nil {
		p.to = show(m.To.Log, m.To.ElectedAt)
	}
	return p, began, known
}

// ownReasons finds what else was wrong with the client of a term.
func (r *Report) ownReasons(m Move, add func(Because)) {
	t, c := m.From, m.Ending.Cause
	who := t.who()
	own, _, _ := r.during(m, t.Log)
	if r.goneEarly(&m) {
		add(Because{Participant: who, Cause: CauseUnknown, Text: who + "'s node was gone while it still believed: " +
			"another client deleted it, or ended its session", log: t.Log, at: r.wall(t.Log, m.Ending.At),
			Role: RoleEnded})
	}
	if m.NodeEnd == NodeDeleted && c != CauseDeleted && c != CauseEvicted {
		add(Because{Participant: who, Cause: CauseDeleted, Text: "another client deleted " + who + "'s node " +
			shortNode(t.Node), log: t.Log, at: r.wall(t.Log, m.Ending.At), Role: RoleEnded})
	}
	if slices.Contains(m.Also, CauseForgottenRelease) {
		add(Because{Participant: who, Cause: CauseForgottenRelease, Text: who + "'s work went on long after its term",
			log: t.Log, at: r.wall(t.Log, t.StoppedAt), Role: m.roleOfWork()})
	}
	if !isOfConnection(c) && t.Stopped != 0 && t.paused == 0 {
		own.to += int64(t.timeout())
		after, role := m.unansweredDelete(), RoleDelayed
		if m.NodeEnd == NodeDeletedByOwn || t.deleted(t.Stopped) != nil {
			role = RoleNeither
		}
		r.addLosses(t.Log, who, own, t.ElectedAt, t.Session, func(b Because) {
			b.Text, b.Role = b.Text+after, role
			add(b)
		})
	}
}

// roleOfWork says what work did that went on after its term: the node stays for it, unless the session's end took the
// node.
func (m *Move) roleOfWork() Role {
	s := m.From.Log.sessionNumbered(m.From.Session)
	if m.NodeEnd == NodeExpired || m.NodeEnd == NodeClosed || s != nil && m.NodeEnd == "" && m.To != nil &&
		!m.From.Log.wroteAfter(s.id, m.From.StoppedAt) {
		return RoleNeither
	}
	return RoleDelayed
}

// unansweredDelete says what became of the node of a term if its client deleted it and got no answer, "" if it did not.
func (m *Move) unansweredDelete() string {
	t := m.From
	if !slices.ContainsFunc(t.Log.deletes, func(d deletion) bool {
		return d.path == t.Node && d.zxid == 0 && !d.denied && d.seq >= t.Stopped
	}) || t.deleted(t.Stopped) != nil || m.NodeEnd == NodeDeletedByOwn {
		return ""
	}
	if m.NodeEnd == NodeExpired {
		return ", so the deletion of its node was not answered, and the node stayed until the session expired"
	}
	return ", so the deletion of its node was not answered, and the node may have stayed until the session ended"
}

// isOfConnection reports whether a cause has the end of the connection or of the process in it: what the connection
// does then is no cause of its own.
func isOfConnection(c Cause) bool {
	switch c {
	case CauseClosed, CauseResigned, CauseReturned, CauseRevoked, CauseUnhealthy, CauseDisabled, CauseCannotDeal,
		CauseDeleted, CauseEvicted, CauseChanged, CauseNoRights, CauseTooLarge, CauseRefused:
		return false
	}
	return true
}

// addLosses adds why connections of a client ended in a period, and reports whether any did. Session is the number of
// the one that counts, 0 for any.
func (r *Report) addLosses(l *Log, who string, p period, began, session int64, add func(Because)) (any bool) {
	for _, s := range l.sessions {
		if session != 0 && s.number != session {
			continue
		}
		for i := range s.suspended {
			lost := &s.suspended[i]
			cause, text := disconnect(lost)
			from := lost.at - int64(lost.paused)
			switch {
			case lost.paused > 0:
				cause, text = CausePaused, "did not run for "+span(lost.paused)
			case cause == CauseSilent || cause == CauseServerCutOff:
				from = l.lastAnswer(lost.at)
			}
			if from >= began && from <= p.to && lost.at >= p.from {
				any = true
				add(Because{Participant: who, Cause: cause, Text: who + " " + plain(text),
					Server: lost.server(), log: l,
					at: r.wall(l, lost.at), over: s.backBefore(lost, func(at int64) bool { return at < p.ended })})
			}
		}
	}
	return any
}

// othersReasons finds what was wrong with another client in the line.
func (r *Report) othersReasons(m Move, l *Log, add func(Because)) {
	p, began, known := r.during(m, l)
	who := l.participantIn(m.Path)
	if m.To != nil && l == m.To.Log {
		asIs := add
		add = func(b Because) {
			if !b.over { // else the next did not wait for it
				b.Role = RoleDelayed
			}
			asIs(b)
		}
	}
	if !known || who == "" || r.addLosses(l, who, p, began, 0, add) {
		return
	}
	timeout := m.From.timeout()
	if m.To != nil && l == m.To.Log {
		if long := l.longestPause(p.from, p.to, timeout/4); long.long > 0 {
			add(Because{Participant: who, Cause: CausePaused, Text: who + " did not run for " + span(long.long), log: l,
				at: r.wall(l, long.at), over: long.at < p.ended})
		}
	}
	if s := l.slowestAnswer(p.from, p.to, timeout/8); s.at != 0 && s.sent >= began {
		add(Because{Participant: who, Cause: CauseSlowEnsemble, Text: "an answer to " + who + " took " +
			span(time.Duration(s.at-s.sent)), log: l, at: r.wall(l, s.at), over: s.at < p.ended})
	}
}

// participantIn returns the name of a client's participant in a line, "" for none.
func (l *Log) participantIn(path string) string {
	first := events.ID("")
	for id, m := range l.machines {
		if m.path == path && m.opener == "" && (first == "" || id < first) {
			first = id
		}
	}
	if first == "" {
		return ""
	}
	return l.nameOf(first)
}

// longestPause returns the longest pause of a process that touches a time, of those of a length at least.
func (l *Log) longestPause(from, to int64, least time.Duration) (most pause) {
	for _, p := range l.pauses {
		if p.at >= from && p.at-int64(p.long) <= to && p.long >= max(least, most.long) {
			most = p
		}
	}
	return most
}

// slowestAnswer returns the slowest answer to a write that came between two instants, of those that took a time at
// least while the client ran.
func (l *Log) slowestAnswer(from, to int64, least time.Duration) (most sight) {
	for i := l.sights.first(func(s *sight) bool { return s.at >= from }); i < l.sights.len(); i++ {
		s := *l.sights.at(i)
		if s.at > to {
			break
		}
		if !s.write || s.sent == 0 || s.at-s.sent < int64(least) || s.at-s.sent <= most.at-most.sent {
			continue
		}
		if l.longestPause(s.sent, s.at, least/2).long == 0 {
			most = s
		}
	}
	return most
}
