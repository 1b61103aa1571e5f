package why

import "cmp"

// moves returns the changes of leadership in a line: from each term to the next. Where several hold together, the end
// of one is a move of its own.
func (r *Report) moves(n *line) (all []Move) {
	if n.permits {
		return r.permitMoves(n)
	}
	var last *Term
	var lingering []*Term // terms before the last whose work may run on
	for i, t := range n.terms {
		m := Move{Path: n.path, To: t, Proofs: r.conflicts(n, i)}
		m.Work, lingering = r.h.worksBefore(t, last, lingering)
		from := int64(-1)
		if last != nil {
			from = orderOf(last.Node)
			if conflict(last, t) {
				m.From, m.Ending = last, r.h.endingOf(last, t)
			} else {
				all = r.addEnd(all, n, last)
			}
		}
		m.strange = n.between(from, orderOf(t.Node))
		all = append(all, m)
		last = t
	}
	if last == nil {
		return all
	}
	before := len(all)
	if all = r.addEnd(all, n, last); len(all) > before {
		all[before].strange = n.between(orderOf(last.Node), 1<<62)
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
		r.Verdict, r.Why = CannotTell, r.nothing(o)
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
	if unknown = cmp.Or(unknown, r.missingTerm()); unknown != "" {
		r.Verdict, r.Why = CannotTell, unknown
	}
}

// judgeMove returns why two had the right at once in a move, "" if that is not shown. It sets unknown to the first thing
// that is open, and lowers the verdict.
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
			return p.Earlier.who() + " and " + p.Later.who() + " both had the right to believe" + howLong(p) +
				" (tokens " + itoa(p.Earlier.Token) + " and " + itoa(p.Later.Token) + ", " + p.How + ")" + m.byHand(p)
		case p.Certainty == Unknown:
			*unknown = cmp.Or(*unknown, first+p.How)
		case p.Certainty == Measured:
			r.Verdict = NeverMeasured
		}
	}
	return ""
}

// byHand says why two had the right when a node was deleted while its client led, "" if it was not.
func (m *Move) byHand(p Proof) string {
	if c := m.Ending.Cause; p.Earlier != m.From || c != CauseDeleted && c != CauseEvicted {
		return ""
	}
	return "; this is inherent to deleting a leader's node by hand: the next leads before the former hears of it"
}
