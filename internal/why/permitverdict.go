package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// addStrangers counts the permits of clients without a log: those that were seen. When they were held is not known.
func (p *Permits) addStrangers(n int) {
	p.strangers = n
	p.Maybe += n
	if p.Certainty != Both && p.Limit > 0 && p.Held+p.Own+p.Maybe > p.Limit {
		p.Certainty, p.How = Unknown, plural(n, "permit")+" of clients whose logs are not here may have been held, too"
	}
}

// permitsOf returns how many permits a term has. A log whose beginning is missing does not say it: one at least.
func permitsOf(t *Term) int { return max(t.machine().permits, 1) }

// decide finds out whether there were permits enough.
func (p *Permits) decide(open []Proof) {
	switch {
	case p.Limit == 0:
		p.Certainty, p.How = Unknown, "how many permits there are is not in the log: its beginning is missing"
	case p.Held+p.Own > p.Limit:
		p.Certainty, p.How = Both, "by the order of records, zxids and clocks"
	case p.Held+p.Own+p.Maybe > p.Limit:
		p.Certainty = Unknown
		p.How = "whether " + open[0].Earlier.who() + " still held its permits is open: " +
			cmp.Or(open[0].How, "a log has a gap")
	}
}

// strangePermits returns how many permits were seen that no log's client has.
func (h *history) strangePermits(n *line) int {
	own := map[string]bool{}
	for _, l := range h.logs {
		for path := range l.tried {
			if dirOf(path) == n.dir {
				own[strings.TrimRight(baseOf(path), "0123456789")] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, l := range h.logs {
		for name := range l.seen[n.dir] {
			if h.kindOf(name).shares {
				seen[name] = true
			}
		}
	}
	strange := 0
	for name := range seen {
		if !own[strings.TrimRight(name, "0123456789")] {
			strange++
		}
	}
	return strange
}

// judgePermits is judgeMove for a semaphore.
func (r *Report) judgePermits(m *Move, unknown *string) (tooMany string) {
	p := m.Permits
	switch p.Certainty {
	case Both:
		return fmt.Sprintf("%d permits of %s were held at once, of %d that there are, "+
			"when %s got its own (token %d, %s)",
			p.Held+p.Own, m.Path, p.Limit, m.To.who(), m.To.Token, p.How)
	case Unknown:
		*unknown = cmp.Or(*unknown, "whether there was a permit too many when "+m.To.who()+" got its own (token "+
			itoa(m.To.Token)+") is open: "+p.How)
	case Measured:
		r.Verdict = NeverMeasured
	}
	return ""
}

// several reports whether a move that was asked for is in a line in which more than one may hold.
func (r *Report) several() bool {
	return slices.ContainsFunc(r.Moves, func(m Move) bool {
		return m.Permits != nil || m.From != nil && (m.From.shares || m.From.hasPermits()) ||
			m.To != nil && m.To.shares
	})
}

// tellPermits says who got permits, and how many were held then.
func (r *Report) tellPermits(m *Move, add adder) {
	t, p := m.To, m.Permits
	of := ""
	if p.Limit > 0 {
		of = fmt.Sprintf(" of %d", p.Limit)
	}
	add(fmt.Sprintf("%s holds %d%s permits from %s with token %d: %s (row “%s”)",
		t.who(), p.Own, of, r.time(t.Log, t.ElectedAt), t.Token, t.how(), t.Row), t.ref(t.Elected))
	how := " (" + string(p.Certainty) + " " + p.How + ")"
	switch {
	case p.Certainty == Both:
		add(fmt.Sprintf("with others' %d, that is more than there are", p.Held)+how, p.Records...)
	case p.Certainty == Unknown:
		add("whether that was too many is open: " + p.How)
	case p.Held+p.Maybe > 0:
		var might string
		if p.Maybe > 0 {
			might = fmt.Sprintf(", and perhaps %d more", p.Maybe)
		}
		add(fmt.Sprintf("others held %d%s", p.Held, might)+how, p.Records...)
	}
}

// addHeld counts the permits that others held when a term began, and returns those others that may go on.
func (r *Report) addHeld(p *Permits, held []*Term, t *Term) (kept []*Term) {
	var open []Proof
	for _, other := range held {
		proof := r.h.compare(other, t)
		switch proof.Certainty {
		case Proven:
			continue
		case Measured:
			if p.Certainty == Proven {
				p.Certainty, p.How = Measured, "by clocks"
			}
			if logsOf(proof).holed() {
				open, p.Maybe = append(open, proof), p.Maybe+permitsOf(other)
			}
			continue
		case Both:
			if logsOf(proof).holed() {
				open, p.Maybe = append(open, proof), p.Maybe+permitsOf(other)
				break
			}
			p.Held += permitsOf(other)
			p.Records = append(p.Records, other.ref(other.Elected))
		case Unknown:
			open, p.Maybe = append(open, proof), p.Maybe+permitsOf(other)
		}
		kept = append(kept, other)
	}
	p.decide(open)
	return kept
}

// addPermitMoves adds the beginnings and the ends of the terms of a semaphore.
func (r *Report) addPermitMoves(all []Move, n *line) []Move {
	var held []*Term // those whose end was not shown to be before the last beginning
	strangers := r.h.strangePermits(n)
	for _, t := range n.terms {
		p := &Permits{Limit: t.machine().limit, Own: permitsOf(t), Certainty: Proven,
			How: "by the order of records and zxids"}
		all = append(all, Move{Path: n.path, To: t, Permits: p})
		held = r.addHeld(p, held, t)
		p.addStrangers(strangers)
		held = append(held, t)
		all = r.addEnd(all, n, t)
	}
	return all
}
