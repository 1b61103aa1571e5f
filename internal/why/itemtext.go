package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// nextLed returns when the next term of the line of a term began.
func (r *Report) nextLed(t *Term) int64 {
	next := int64(endless)
	for _, n := range r.lines {
		for _, other := range n.terms {
			if at := r.wall(other.Log, other.ElectedAt); n.dir == t.Dir && at > r.wall(t.Log, t.ElectedAt) {
				next = min(next, at)
			}
		}
	}
	return next
}

// itemSentence says what a transaction did, or why it did not.
func (r *Report) itemSentence(l *Log, w *itemWrite) Sentence {
	who, at, what := l.nameOf(w.machine), r.time(l, w.at), w.items()
	var text string
	switch {
	case w.code == events.OK:
		text = who + " " + w.kind.did(what) + " at " + at
	case w.code.Unknown():
		text = who + " " + w.kind.did(what) + ", or did not: its answer at " + at + " was " + string(w.code)
	default:
		refused := string(w.code)
		if w.refused != "" {
			refused += " " + oneLine(w.refused)
		}
		text = who + " would have " + strings.Replace(w.kind.did(what), "took", "taken", 1) + " at " + at +
			", and was refused: " + refused
	}
	return Sentence{text, []Ref{{l.Name, w.asked}, {l.Name, w.answered}}}
}

// eachItemWrite adds a sentence for each of the transactions that are asked for, in the order of time. Of too many,
// the first are left out.
func (r *Report) eachItemWrite(add adder, asked func(*Log, *itemWrite) bool) {
	type story struct {
		at   int64
		said Sentence
	}
	var all []story
	for _, l := range r.logs {
		for _, w := range l.items {
			if asked(l, w) {
				all = append(all, story{r.wall(l, w.at), r.itemSentence(l, w)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b story) int { return cmp.Compare(a.at, b.at) })
	if more := len(all) - mostItemLines; more > 0 {
		add(fmt.Sprintf("before what follows, items were dealt, taken over or refused in %s more (--facts has them)",
			plural(more, "transaction")))
		all = all[more:]
	}
	for _, s := range all {
		add(s.said.Text, s.said.Records...)
	}
}

// tellItems says what a term's leader has dealt, and who has taken over or was refused what until the next leads.
func (r *Report) tellItems(t *Term, add adder) {
	job := t.machine().path
	if t.Recipe != machines.JobElectionRecipe.Name() || job == "" {
		return
	}
	from, to := r.wall(t.Log, t.ElectedAt), r.nextLed(t)
	r.eachItemWrite(add, func(l *Log, w *itemWrite) bool {
		m, at := l.machineOf(w.machine), r.wall(l, w.at)
		if m.recipe == machines.JobDealerRecipe.Name() {
			return m.path == job && l == t.Log && w.leads(t)
		}
		return m.path == job && at >= from && at < to
	})
}
