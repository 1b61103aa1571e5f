package why

import "time"

// Certainty says how it is known that two terms were one after the other.
type Certainty string

// Certainties, from the best.
const (
	Proven   Certainty = "proven"   // by the order of records and zxids
	Measured Certainty = "measured" // by clocks whose error is smaller than what lies between
	Both     Certainty = "both"     // both had the right to believe at once
	Unknown  Certainty = "unknown"  // neither can be shown
)

// Proof is about two terms of one line.
type Proof struct {
	Earlier, Later *Term
	Certainty      Certainty
	// Between is how long nobody had the right to believe, or less than 0: for how long both
	// had. Error is by how much it may be wrong; it is less than 0 if the clocks say nothing.
	Between time.Duration
	Error   time.Duration
	How     string // the steps of the proof, or what is missing
	Records []Ref
}

// endBounds returns between which readings of the log's clock the right to believe ended.
func (t *Term) endBounds() interval {
	right := t.rightUntil()
	switch {
	case t.uncertain != nil && t.Open():
		return interval{min(right, t.uncertain.before), endless}
	case t.uncertain != nil:
		return interval{min(right, t.uncertain.before), t.StoppedAt}
	}
	if t.Open() { // a process that was killed believed no longer than it lived
		return interval{min(right, max(t.Log.last, t.ElectedAt)), right}
	}
	return interval{right, right}
}

// compare finds out whether the right to believe of one term ended before another term began.
func (h *history) compare(a, b *Term) Proof {
	p := Proof{Earlier: a, Later: b, Certainty: Unknown, Error: -1}
	end := a.endBounds()
	if a.Open() && h.livedOn(a, b) != "" {
		end.hi = endless // as in gapBounds
	}
	between := h.gapBounds(a, b)
	if between.known() {
		p.Between = time.Duration(between.mid())
		p.Error = time.Duration(between.width() / 2)
	}
	h.prove(&p, between, end)
	return p
}

// prove sets how certain a comparison is. An order by zxids that the clocks contradict proves
// nothing: then the data were replaced, or a clock was set.
func (h *history) prove(p *Proof, between, end interval) {
	a, b := p.Earlier, p.Later
	switch {
	case a.Log == b.Log:
		h.proveAlone(p, end)
	case h.overlaps(p):
		p.Certainty = Both
	case between.hi < 0 && between.hi > -endless:
		if h.ordered(p) {
			p.Certainty, p.How, p.Records = Unknown,
				"the order of zxids and the clocks contradict each other: the ensemble's data were replaced, or a "+
					"clock was set", nil
			return
		}
		p.Certainty, p.How = Both, "by clocks"
	case h.ordered(p):
		p.Certainty = Proven
	case between.lo >= 0:
		p.Certainty, p.How = Measured, "by clocks"
	default:
		p.How = h.missing(p, between)
	}
}

// proveAlone compares two terms of one log.
func (h *history) proveAlone(p *Proof, end interval) {
	a, b := p.Earlier, p.Later
	switch {
	case a.Stopped != 0 && a.Stopped <= b.Elected, a.Machine == b.Machine, end.hi <= b.ElectedAt:
		p.Certainty, p.How = Proven, "by the order of one log's records"
		p.Records = []Ref{a.ref(max(a.Stopped, a.untilSeq)), b.ref(b.Elected)}
	case a.uncertain != nil:
		p.How = "the log of " + a.who() + " has a gap there"
	default:
		p.Certainty, p.How = Both, "by the order of one log's records"
		p.Records = []Ref{a.ref(a.untilSeq), b.ref(b.Elected)}
	}
}

// ordered reports whether records and zxids show that a term had stopped before another began.
func (h *history) ordered(p *Proof) bool {
	a, b := p.Earlier, p.Later
	if a.Stopped == 0 || a.uncertain != nil {
		return false
	}
	if h.leadsTo(a.Log, a.Stopped, a.StoppedAt, b.Log, b.Elected) {
		p.How = "by zxids: what it sent after its end was committed before the next began"
		p.Records = []Ref{a.ref(a.Stopped), b.ref(b.Elected)}
		return true
	}
	asked := h.endedItself(a)
	if asked == 0 || a.traits().FixedName { // whose marker has the same name in every term
		return false
	}
	seen := sawGone(b.Log, a.Node, b.Elected)
	if seen == 0 && b.listed.dir == a.Dir && b.listed.seq > 0 && !inListing(b.listed, a.Node) && b.Token > a.Token {
		seen = b.listed.seq
	}
	if seen == 0 {
		return false
	}
	p.How = "by causes: it stopped, then deleted its node, and the next saw the node gone"
	p.Records = []Ref{a.ref(a.Stopped), a.ref(asked), b.ref(seen)}
	return true
}

func inListing(l listing, path string) bool {
	for _, name := range l.children {
		if name == baseOf(path) {
			return true
		}
	}
	return false
}

// overlaps reports whether zxids show that a term began while another one still had the right
// to believe.
func (h *history) overlaps(p *Proof) bool {
	a, b := p.Earlier, p.Later
	right := a.rightUntil()
	// The last record of the earlier one within its right.
	i := a.Log.recs.since(right)
	if i == 0 {
		return false
	}
	last := a.Log.recs.at(i - 1).seq
	if a.Stopped != 0 {
		last = min(last, a.Stopped-1)
	}
	if a.uncertain != nil {
		last = min(last, a.uncertain.gap.From-1)
	}
	if last <= a.Elected || !h.leadsTo(b.Log, b.Elected, b.ElectedAt, a.Log, last) {
		return false
	}
	p.How = "by zxids: it still had the right when it saw what the next had written"
	p.Records = []Ref{a.ref(last), b.ref(b.Elected)}
	return true
}

// missing says why nothing can be shown, and what would show it.
func (h *history) missing(p *Proof, between interval) string {
	a := p.Earlier
	switch {
	case a.uncertain != nil:
		return "the log of " + a.who() + " has a gap there"
	case a.Open() && h.livedOn(a, p.Later) != "":
		return "the log of " + a.who() + " ends before its term did"
	case h.replaced:
		return "the ensemble's data were replaced, so zxids and node times say nothing"
	case !between.known() && len(h.all) == 0:
		return "the logs have too little in common to align their clocks; the ensemble's transaction log " +
			"would (--txnlog)"
	case !between.known():
		return "the logs have too little in common to align their clocks"
	case len(h.all) == 0:
		return "the clocks are known to ±" + span(p.Error) + ", which is not enough; the ensemble's transaction log " +
			"may be (--txnlog)"
	}
	return "the clocks are known to ±" + span(p.Error) + ", which is not enough"
}

// who names a participant: by its id, or by its log.
func (t *Term) who() string { return t.Log.nameOf(t.Machine) }

// gapBounds returns for how long at least and at most nobody had the right to lead between two terms: from the end of
// the right of one, which may be known up to bounds, to the beginning of the next. It is less than 0 for terms that
// overlap.
func (h *history) gapBounds(a, b *Term) interval {
	end := a.endBounds()
	if a.Open() && h.livedOn(a, b) != "" {
		end.hi = endless // it went on, and the log does not have until when
	}
	between := interval{-endless, endless}
	if end.hi < endless {
		between.lo = h.clocks.between(a.Log, end.hi, b.Log, b.ElectedAt).lo
	}
	between.hi = h.clocks.between(a.Log, end.lo, b.Log, b.ElectedAt).hi
	return between
}
