package why

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// itemWrite is a transaction about the items of a job: its leader deals them or offers some to be taken over, or an
// instance marks its own as running or takes one over.
type itemWrite struct {
	asked    uint64 // the seq of the record that sent it
	machine  events.ID
	answered uint64 // the seq of the answer
	at       int64  // of the answer
	code     events.Code
	refused  string  // the node that it was refused for
	shares   []share // by owner; one without an owner for what is no dealing
	kind     itemKind
}

// share is the items of one owner.
type share struct {
	owner string
	items []int
}

// itemKind says what a transaction does to items. It is the type of the fact, too.
type itemKind string

const (
	itemsDealt   itemKind = "dealt"
	itemsOffered itemKind = "offered"
	itemTaken    itemKind = "taken-over"
	itemsMarked  itemKind = "marked" // as running: only a refusal is of interest
	itemsRefused string   = "refused"
)

// askItems notes a transaction of a job's dealer or instance. The log has to have its machine's beginning, which names
// the job.
func (l *Log) askItems(r events.Record, e events.Multi) {
	m := l.machineOf(r.Machine)
	if m.path == "" || m.recipe != machines.JobDealerRecipe.Name() && m.recipe != machines.JobWorkerRecipe.Name() {
		return
	}
	w := &itemWrite{asked: r.Seq, machine: r.Machine}
	for _, op := range e.Ops {
		if op.Verb != "create" || op.Mode != events.Persistent && op.Mode != events.Ephemeral {
			continue
		}
		if n, leaf, of := itemOf(op.Path, m.path); of {
			w.add(n, leaf, string(op.Data))
		}
	}
	if w.kind != "" {
		l.itemsAsked[timerKey{r.Machine, e.Request}] = w
	}
}

// itemOf returns which item of a job a node is of, and its name there. An offer has none.
func itemOf(path, job string) (item int, leaf string, is bool) {
	rest, offer := strings.CutPrefix(path, machines.JobOffers(job)+"/")
	if !offer {
		if rest, is = strings.CutPrefix(path, machines.JobItems(job)+"/"); !is {
			return 0, "", false
		}
		if rest, leaf, is = strings.Cut(rest, "/"); !is {
			return 0, "", false
		}
	}
	item, err := strconv.Atoi(rest)
	return item, leaf, err == nil
}

// add adds an item to what the transaction does. What it does with less important nodes is left out: one that deals
// also offers, and proves that nothing runs.
func (w *itemWrite) add(item int, leaf, owner string) {
	kind := map[string]itemKind{"": itemsOffered, machines.ItemInstance: itemsDealt, machines.ItemFailover: itemTaken,
		machines.ItemRunning: itemsMarked}[leaf]
	order := []itemKind{itemsMarked, itemsOffered, itemTaken, itemsDealt}
	rank := slices.Index(order, kind)
	switch {
	case kind == "" || rank < slices.Index(order, w.kind):
		return
	case kind != w.kind:
		w.kind, w.shares = kind, nil
	}
	if kind != itemsDealt {
		owner = ""
	}
	i := slices.IndexFunc(w.shares, func(s share) bool { return s.owner == owner })
	if i < 0 {
		i, w.shares = len(w.shares), append(w.shares, share{owner: owner})
	}
	w.shares[i].items = append(w.shares[i].items, item)
}

// answerItems notes the answer to such a transaction.
func (l *Log) answerItems(r events.Record) {
	key := timerKey{r.Machine, r.Event.Request}
	w := l.itemsAsked[key]
	if w == nil {
		return
	}
	delete(l.itemsAsked, key)
	w.answered, w.at, w.code, w.refused = r.Seq, r.Event.At, r.Event.Code, r.Event.Path
	if w.code == events.OK {
		w.refused = ""
	}
	if w.code != events.OK || w.kind != itemsMarked {
		l.items = append(l.items, w)
	}
}

// leads reports whether a dealer's transaction was sent in a term.
func (w *itemWrite) leads(t *Term) bool {
	return t.Log.machineOf(w.machine).opener == t.Machine && w.asked >= t.Elected &&
		(t.Stopped == 0 || w.asked <= t.Stopped)
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

// mostItemLines is how many sentences about items a move has at most.
const mostItemLines = 6

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

// did returns what a transaction of a kind does to items, in the past.
func (k itemKind) did(items string) string {
	switch k {
	case itemsDealt:
		return "dealt " + items
	case itemsOffered:
		return "offered " + items + " to others"
	case itemTaken:
		return "took over " + items
	}
	return "marked " + items + " as running"
}

// items names the items of a transaction, and their owners.
func (w *itemWrite) items() string {
	var all []string
	for i, s := range w.shares {
		if i == mostItemLines {
			all = append(all, "and the rest to "+plural(len(w.shares)-i, "other"))
			break
		}
		text := itemNames(s.items)
		if w.kind == itemsDealt {
			text += " to " + quoteID(s.owner)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// itemNames returns "item 3", or "items 0–4, 7".
func itemNames(items []int) string {
	items = slices.Sorted(slices.Values(items))
	var spans []string
	for i := 0; i < len(items); {
		j := i
		for j+1 < len(items) && items[j+1] == items[j]+1 {
			j++
		}
		span := strconv.Itoa(items[i])
		switch {
		case j == i+1:
			span += ", " + strconv.Itoa(items[j])
		case j > i:
			span += "–" + strconv.Itoa(items[j])
		}
		spans, i = append(spans, span), j+1
	}
	if len(items) == 1 {
		return "item " + spans[0]
	}
	return "items " + strings.Join(spans, ", ")
}

// itemFacts returns what a log has of items: a fact for each owner.
func (r *Report) itemFacts(l *Log) (all []Fact) {
	for _, w := range l.items {
		for _, s := range w.shares {
			f := Fact{Type: string(w.kind), Path: l.machineOf(w.machine).path, Log: l.Name,
				Participant: l.nameOf(w.machine), From: r.at(l, w.at), Items: s.items, Owner: s.owner,
				Records: []Ref{{l.Name, w.asked}, {l.Name, w.answered}}}
			if w.code != events.OK {
				f.Type, f.Code, f.Node, f.How = itemsRefused, w.code, w.refused, string(w.kind)
			}
			all = append(all, f)
		}
	}
	return all
}

// redactItems replaces the names in what a log has of items.
func (l *Log) redactItems(p *pseudonyms) {
	for _, w := range l.items {
		w.refused = p.path(w.refused)
		for i := range w.shares {
			w.shares[i].owner = p.name("participant", w.shares[i].owner)
		}
	}
}
