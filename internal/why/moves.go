package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// addMoves adds the changes of leadership in a line: from each term to the next. Where several hold together, the end
// of one is a move of its own.
func (r *Report) addMoves(all []Move, n *line) []Move {
	if n.permits {
		return r.addPermitMoves(all, n)
	}
	if r.h.apart.sure() {
		return r.addEnds(all, n)
	}
	var last *Term
	var lingering []*Term // terms before the last whose work may run on
	for i, t := range n.terms {
		m := Move{Path: n.path, To: t, Proofs: r.conflicts(n, i)}
		m.Work, lingering = r.h.worksBefore(t, last, lingering)
		if last != nil {
			if conflict(last, t) {
				m.From, m.Ending = last, r.h.endingOf(last, t)
			} else {
				all = r.addEnd(all, n, last)
			}
		}
		m.strange = r.h.between(n, last, t)
		all = append(all, m)
		last = t
	}
	if last == nil {
		return all
	}
	before := len(all)
	if all = r.addEnd(all, n, last); len(all) > before {
		all[before].strange = r.h.between(n, last, nil)
	}
	return all
}

// addEnd adds the end of a term that nobody followed. A term that goes on where its log ends has none.
func (r *Report) addEnd(all []Move, n *line, t *Term) []Move {
	m := Move{Path: n.path, From: t, Ending: r.h.endingOf(t, nil)}
	if m.Ending.Cause == CauseLeads {
		return all
	}
	return append(all, m)
}

// addEnds adds the beginning and the end of each term, and compares none: of logs of different ensembles.
func (r *Report) addEnds(all []Move, n *line) []Move {
	for _, t := range n.terms {
		all = r.addEnd(append(all, Move{Path: n.path, To: t}), n, t)
	}
	return all
}

// conflicts compares a term with those before it that must not have gone on.
func (r *Report) conflicts(n *line, i int) (all []Proof) {
	t := n.terms[i]
	for j := i - 1; j >= 0; j-- {
		if conflict(n.terms[j], t) {
			all = append(all, r.h.compare(n.terms[j], t))
		}
		if !n.terms[j].shares {
			break
		}
	}
	return all
}

// judge finds the verdict over all moves that were asked for.
func (r *Report) judge(o Options) {
	r.Verdict = NeverProven
	if r.h.apart.sure() {
		r.Verdict, r.Why = CannotTell, r.h.apart.why()
		return
	}
	if len(r.Moves) == 0 {
		r.Verdict, r.Why = CannotTell, r.noTerm(o)
		if unread := r.unreadable(); unread != "" && len(r.lines) == 0 {
			r.Why = unread // there may have been terms
		}
		return
	}
	unknown := ""
	for i := range r.Moves {
		m := &r.Moves[i]
		if two := r.judgeMove(m, &unknown); two != "" {
			r.Verdict, r.Why = TwoAtOnce, two
			return
		}
		if len(m.strange) > 0 {
			unknown = cmp.Or(unknown, r.missingLog(*m))
		}
		if m.From != nil && (m.Ending.Cause == CauseUnknown || m.Ending.Cause == CauseGap) {
			unknown = cmp.Or(unknown, "why "+m.From.who()+" stopped is not in the logs")
		}
	}
	unknown = cmp.Or(r.h.foreign, unknown, r.missingTerm(), r.unreadable(), r.outlived(), o.cutTxns())
	if unknown != "" {
		r.Verdict, r.Why = CannotTell, unknown
		return
	}
	r.Why = r.assumption()
}

// cutTxns says that a transaction log is damaged, "" if none is.
func (o Options) cutTxns() string {
	if !o.TxnsCut {
		return ""
	}
	return "a transaction log is damaged: what follows was not read"
}

// judgeMove returns why two had the right at once in a move, "" if that is not shown. It sets unknown to the first
// thing that is open, and lowers the verdict.
func (r *Report) judgeMove(m *Move, unknown *string) (two string) {
	if m.Permits != nil {
		return r.judgePermits(m, unknown)
	}
	for _, p := range m.Proofs {
		first := "whether the term of " + p.Earlier.who() + " ended before " + p.Later.who() + " led is open: "
		switch {
		case (p.Certainty == Both || p.Certainty == Measured) && logsOf(p).holed():
			*unknown = cmp.Or(*unknown, first+"a log has a gap, and only clocks would tell")
		case p.Certainty == Both:
			return p.both() + m.byHand(p) + r.unlessApart(p)
		case p.Certainty == Unknown:
			*unknown = cmp.Or(*unknown, first+p.How)
		case p.Certainty == Measured:
			r.Verdict = NeverMeasured
		}
	}
	return ""
}

// unreadable says what of the logs could not be read, "" if all was.
func (r *Report) unreadable() string {
	for _, l := range r.logs {
		switch n := len(l.unread); {
		case l.Damage != "":
			return l.Name + "'s log is damaged (" + oneLine(l.Damage) + "): what follows was not read"
		case n > 0:
			return plural(n, "record") + " of " + l.Name + " could not be read, the first is " + Ref{l.Name,
				l.unread[0]}.String()
		case r.goneMeanwhile(l):
			return "records are missing from " + l.Name + "'s log, and it may have led meanwhile"
		}
	}
	return ""
}

// outlived says which log ends in a term before others of the line do: what came of the term is not known. "" if none
// does.
func (r *Report) outlived() string {
	for i := range r.Moves {
		if m := &r.Moves[i]; m.To != nil && r.endsEarly(m.To, m.Path) {
			return m.To.Log.Name + "'s log ends while " + m.To.who() + " " + m.To.holds() + ", and others go on" +
				r.txnsWouldShow()
		}
	}
	for _, n := range r.lines {
		if !slices.ContainsFunc(r.Moves, func(m Move) bool { return m.isOf(n) }) {
			continue
		}
		if why := cmp.Or(r.waitsOn(n), r.cutBefore(n)); why != "" {
			return why
		}
	}
	return ""
}

// waitsOn says which log ends while its client's node is in a line and others go on, so that it may have led since; ""
// if none does.
func (r *Report) waitsOn(n *line) string {
	for _, s := range n.strangers {
		if s.log == nil {
			continue
		}
		tolerance := s.log.session.current.timeout
		if s.log.ended() { // its process went on
			tolerance = 0
		}
		if r.othersGoOn(s.log, tolerance, n.path, anyLog) {
			return s.log.Name + "'s log ends while " + s.own() + " is in line, and others go on" +
				r.txnsWouldShow()
		}
	}
	return ""
}

// endsEarly reports whether a term goes on where its log ends, and another's log goes on for longer.
func (r *Report) endsEarly(t *Term, path string) bool {
	return t.Open() && r.isLast(t) && r.h.endingOf(t, nil).Cause == CauseLeads &&
		r.othersGoOn(t.Log, t.timeout(), path, func(l *Log) bool { return !l.sawMarkerLast(t) })
}

// othersGoOn reports whether the log of another client in a line, of those that count, may be longer by more than a
// session timeout.
func (r *Report) othersGoOn(than *Log, timeout time.Duration, path string, counts func(*Log) bool) bool {
	return slices.ContainsFunc(r.logs, func(l *Log) bool {
		if l == than || !l.queued(path) || l.Records == 0 || !counts(l) {
			return false
		}
		longer := r.h.clocks.between(than, than.last, l, l.last)
		return !longer.known() || longer.mid() > int64(timeout)
	})
}

func anyLog(*Log) bool { return true }

// goneMeanwhile reports whether records are missing from a log during the moves that were asked for, and its client
// was in one of their lines.
func (r *Report) goneMeanwhile(l *Log) bool {
	for _, g := range l.gaps {
		if g.before == 0 && g.gap.From <= 1 {
			continue
		}
		for i := range r.Moves {
			m := &r.Moves[i]
			from, to := m.began, m.when
			if l.queued(m.Path) && r.wall(l, g.before) <= max(from, to) && (g.after == 0 || r.wall(l,
				g.after) >= min(from, to)) {
				return true
			}
		}
	}
	return false
}

// assumes is what an assumption begins with.
const assumes = "if "

// assumption says what the verdict takes for granted, "" for nothing: of a log that just ends, that its process did.
func (r *Report) assumption() string {
	for _, m := range r.Moves {
		if m.assumesDeath() {
			return assumes + m.From.who() + " died where its log ends, without a close, at " +
				r.time(m.From.Log, m.From.Log.last) + " (if it ran on, the logs do not show until when it " +
				m.From.led() + ")"
		}
	}
	if l := r.assumedDead(); l != nil {
		if r.ofShards() {
			return assumes + l.Name + " died where its log ends, without a close, at " + r.time(l, l.last) +
				", while shards were assigned to it (if it ran on, it may have owned them)"
		}
		return assumes + l.Name + " died where its log ends, without a close, at " + r.time(l, l.last) +
			", while its node was in line (if it ran on, it may have led)"
	}
	return ""
}

// both says which two had the right to believe at once.
func (p Proof) both() string {
	return p.Earlier.who() + " and " + p.Later.who() + " both had the right to believe" + howLong(p) + " (tokens " +
		itoa(p.Earlier.Token) + " and " + itoa(p.Later.Token) + ", " + p.How + ")"
}

// unlessApart says what it takes that two logs are of one ensemble, "" if they surely are.
func (r *Report) unlessApart(p Proof) string {
	if !r.h.apart.between(p.Earlier.Log, p.Later.Log) {
		return ""
	}
	return "; that is so only if their logs are of one ensemble"
}

// byHand says why two had the right when a node was deleted while its client led, "" if it was not.
func (m *Move) byHand(p Proof) string {
	if c := m.Ending.Cause; p.Earlier != m.From || c != CauseDeleted && c != CauseEvicted {
		return ""
	}
	return "; this is inherent to deleting a leader's node by hand: the next leads before the former hears of it"
}

// cutBefore says whose log ends before its client was in a line, while others go on, so that it may have led since; ""
// if none does. One that could not get a place is not one of them. An instance of a job has no place before it may
// lead.
func (r *Report) cutBefore(n *line) string {
	if n.fixed() {
		return ""
	}
	for _, l := range r.logs {
		over := l.closed || l.lastLine != nil && !l.ended()
		if over || l.Records == 0 || len(l.failures) > 0 || n.permits || !l.mayQueue(n.path) || l.hasNode(n.dir) ||
			!r.othersGoOn(l, 0, n.path, anyLog) {
			continue
		}
		return l.Name + "'s log ends at " + r.time(l, l.last) + ", before it was in line, and others go on"
	}
	return ""
}

// mayQueue reports whether a client had opened something that leads or holds in a line, or nothing yet.
func (l *Log) mayQueue(path string) bool {
	opened := 0
	for id, m := range l.machines {
		if id != events.SessionMachine {
			opened++
		}
		if _, without := outside(m.recipe); m.path == path && !without && m.opener == "" {
			return true
		}
	}
	return opened == 0 && len(l.gaps) == 0
}

// hasNode reports whether a client created a node in a directory.
func (l *Log) hasNode(dir string) bool {
	for path := range l.nodes {
		if dirOf(path) == dir {
			return true
		}
	}
	return false
}

// assumedDead names a client whose log just ends while its node was in a line that was asked for, before the node was
// seen to be gone: it may have led in between, unless it died there; nil if there is none.
func (r *Report) assumedDead() *Log {
	for _, n := range r.lines {
		if n.permits || !slices.ContainsFunc(r.Moves, func(m Move) bool { return m.isOf(n) }) {
			continue
		}
		if n.dead != nil {
			return n.dead
		}
		for _, l := range r.logs {
			ended := l.endedNodes()
			for path, own := range l.nodes {
				if !ended[path] && dirOf(path) == n.dir && r.h.kindOf(baseOf(path)).kind == n.kind && l.leaves(own) &&
					l.lastLine == nil && !l.ledOn(path) && r.h.wasSeenGone(path) {
					return l
				}
			}
		}
	}
	return nil
}

// isLast reports whether no term of the line follows.
func (r *Report) isLast(t *Term) bool {
	for _, n := range r.lines {
		if i := slices.Index(n.terms, t); i >= 0 {
			return i == len(n.terms)-1
		}
	}
	return true
}
