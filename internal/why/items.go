package why

import (
	"slices"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

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

// mostItemLines is how many sentences about items a move has at most.
const mostItemLines = 6

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
