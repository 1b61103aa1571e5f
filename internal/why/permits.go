package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Permits says whether a semaphore had enough permits when a term began.
type Permits struct {
	Limit     int // how many there are, as the acquisition knew it
	Own       int // of the term
	Held      int // of others that surely were held then
	Maybe     int // of others that may have been held then, too
	Certainty Certainty
	How       string
	Records   []Ref
	strangers int // permits of clients without a log among Maybe
}

// permitsOf returns how many permits a term has. A log whose beginning is missing does not say it: one at least.
func permitsOf(t *Term) int { return max(t.machine().permits, 1) }

// addPermitMoves adds the beginnings and the ends of the terms of a semaphore.
func (r *Report) addPermitMoves(all []Move, n *line) []Move {
	var held []*Term // those whose end was not shown to be before the last beginning
	strangers := r.h.strangePermits(n)
	for _, t := range n.terms {
		p := &Permits{Limit: t.machine().limit, Own: permitsOf(t), Certainty: Proven, How: "by the order of records and zxids"}
		all = append(all, Move{Path: n.path, To: t, Permits: p})
		held = r.addHeld(p, held, t)
		p.addStrangers(strangers)
		held = append(held, t)
		all = r.addEnd(all, n, t)
	}
	return all
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

// decide finds out whether there were permits enough.
func (p *Permits) decide(open []Proof) {
	switch {
	case p.Limit == 0:
		p.Certainty, p.How = Unknown, "how many permits there are is not in the log: its beginning is missing"
	case p.Held+p.Own > p.Limit:
		p.Certainty, p.How = Both, "by the order of records, zxids and clocks"
	case p.Held+p.Own+p.Maybe > p.Limit:
		p.Certainty, p.How = Unknown, "whether "+open[0].Earlier.who()+" still held its permits is open: "+cmp.Or(open[0].How, "a log has a gap")
	}
}

// addStrangers counts the permits of clients without a log: those that were seen. When they were held is not known.
func (p *Permits) addStrangers(n int) {
	p.strangers = n
	p.Maybe += n
	if p.Certainty != Both && p.Limit > 0 && p.Held+p.Own+p.Maybe > p.Limit {
		p.Certainty, p.How = Unknown, plural(n, "permit")+" of clients whose logs are not here may have been held, too"
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
		return fmt.Sprintf("%d permits of %s were held at once, of %d that there are, when %s got its own (token %d, %s)", p.Held+p.Own, m.Path, p.Limit, m.To.who(), m.To.Token, p.How)
	case Unknown:
		*unknown = cmp.Or(*unknown, "whether there was a permit too many when "+m.To.who()+" got its own (token "+itoa(m.To.Token)+") is open: "+p.How)
	case Measured:
		r.Verdict = NeverMeasured
	}
	return ""
}

// tellPermits says who got permits, and how many were held then.
func (r *Report) tellPermits(m *Move, add adder) {
	t, p := m.To, m.Permits
	of := ""
	if p.Limit > 0 {
		of = fmt.Sprintf(" of %d", p.Limit)
	}
	add(fmt.Sprintf("%s holds %d%s permits from %s with token %d: %s (row “%s”)", t.who(), p.Own, of, r.time(t.Log, t.ElectedAt), t.Token, t.how(), t.Row), t.ref(t.Elected))
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

// several reports whether a move that was asked for is in a line in which more than one may hold.
func (r *Report) several() bool {
	return slices.ContainsFunc(r.Moves, func(m Move) bool {
		return m.Permits != nil || m.From != nil && (m.From.shares || m.From.Recipe == "semaphore") || m.To != nil && m.To.shares
	})
}

// holds returns what a term does: it leads, or holds a lock.
func (t *Term) holds() string {
	switch {
	case t.Recipe == "semaphore":
		return "holds its permits"
	case t.shares:
		return "holds it for reading"
	case t.Recipe == "readwrite":
		return "holds it for writing"
	case strings.HasPrefix(t.Recipe, "mutex"):
		return "holds it"
	}
	return "leads"
}

// lease is the node of a permit. Transactions create and delete it, so it stands in no create's answer.
type lease struct {
	node
	gone   uint64 // the seq of the record that shows that its client deleted it; 0: none does
	goneAt int64
}

// pool returns the directory of a semaphore's permits; "" for another recipe, or if the log does not have the path.
func (m *machine) pool() string {
	if m.recipe != "semaphore" || m.path == "" {
		return ""
	}
	return machines.SemaphorePool(m.path, m.kazoo)
}

// askLeases notes which nodes a semaphore's transaction deletes.
func (l *Log) askLeases(r events.Record, e events.Multi) {
	if l.machineOf(r.Machine).pool() == "" {
		return
	}
	var gone []string
	for _, op := range e.Ops {
		if op.Verb == "delete" {
			gone = append(gone, op.Path)
		}
	}
	l.givenBack[timerKey{r.Machine, e.Request}] = gone
}

// answerLeases notes the permits that a transaction created, and those that it deleted.
func (l *Log) answerLeases(r events.Record) {
	ev, pool, key := r.Event, l.machineOf(r.Machine).pool(), timerKey{r.Machine, r.Event.Request}
	for _, path := range ev.Children {
		if pool != "" && dirOf(path) == pool {
			l.leases[path] = &lease{node: node{path: path, machine: r.Machine, seq: r.Seq,
				at: ev.At, sent: ev.SentAt, czxid: ev.Zxid, session: l.session.current}}
		}
	}
	for _, path := range l.givenBack[key] {
		if known := l.leases[path]; known != nil && known.gone == 0 {
			known.gone, known.goneAt = r.Seq, ev.At
		}
	}
	delete(l.givenBack, key)
}

// heldLease notes the first permit of a term, if no answer named it: the reply to its transaction was lost.
func (l *Log) heldLease(r events.Record, path string, token int64) {
	if l.machineOf(r.Machine).recipe == "semaphore" && l.leases[path] == nil {
		l.leases[path] = &lease{node: node{path: path, machine: r.Machine, seq: r.Seq, at: r.Event.At, czxid: token,
			session: l.session.current}}
	}
}

// ownNodes returns the nodes of all machines of a client, permits among them, in the order in which they were created.
func (l *Log) ownNodes() []*node {
	all := make([]*node, 0, len(l.nodes)+len(l.leases))
	for _, n := range l.nodes {
		all = append(all, n)
	}
	for _, n := range l.leases {
		all = append(all, &n.node)
	}
	slices.SortFunc(all, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(a.path, b.path))
	})
	return all
}
