package why

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// headless is a term whose beginning is missing: it began in a gap, or before the first segment that is there.
type headless struct {
	at   int64  // until when it may have had the right to believe
	node string // "" if the log does not have its end
	goes bool   // it has not ended, as far as a checkpoint and the records behind it show
}

// takeCheckpoint notes which machines lead behind a gap: a leader may have no record of its own there.
func (l *Log) takeCheckpoint(c events.Checkpoint) {
	var state struct {
		Machines []struct {
			Machine struct {
				ID    events.ID `json:"id"`
				State string    `json:"state"`
			} `json:"machine"`
		} `json:"machines"`
	}
	if !l.session.afterGap || json.Unmarshal(c.State, &state) != nil { // a replay tells what is wrong with it
		return
	}
	for _, one := range state.Machines {
		if m := one.Machine; m.State == "leading" && len(l.open[m.ID]) == 0 && l.headless[m.ID] == nil {
			l.headless[m.ID] = &headless{at: max(l.last, l.Header.StartAt, l.session.deadline), goes: true}
		}
	}
}

// addHeadless notes that a machine leads whose term is not known.
func (l *Log) addHeadless(r events.Record) {
	h := l.headless[r.Machine]
	if h == nil {
		h = &headless{}
		l.headless[r.Machine] = h
	}
	h.goes = r.To == "leading"
	h.at = max(r.Event.At, r.Event.ValidUntil, l.session.deadline)
	for _, effect := range r.Effects {
		if n, is := effect.(events.Notify); is && n.What == events.Stopped {
			h.node = n.Path
		}
	}
}

// missingTerm names a term whose beginning is missing and which may have been during the moves that were asked for; ""
// if there is none.
func (r *Report) missingTerm() string {
	return r.eachHeadless(func(l *Log, h *headless) bool {
		during := func(t *Term) bool {
			return t != nil && (h.node == "" || dirOf(h.node) == t.Dir) && r.h.clocks.between(l, h.at, t.Log, t.ElectedAt).lo <= 0
		}
		return slices.ContainsFunc(r.Moves, func(m Move) bool { return during(m.From) || during(m.To) })
	})
}

// headlessAt names a term whose beginning is missing and which may be of a line; "" if there is none.
func (r *Report) headlessAt(path string) string {
	return r.eachHeadless(func(_ *Log, h *headless) bool {
		return path == "" || h.node == "" || dirOf(h.node) == path || strings.HasPrefix(h.node, path+"/")
	})
}

// eachHeadless names the first term whose beginning is missing and that is wanted.
func (r *Report) eachHeadless(wanted func(*Log, *headless) bool) string {
	for _, l := range r.logs {
		for _, id := range slices.Sorted(maps.Keys(l.headless)) {
			if h := l.headless[id]; wanted(l, h) {
				return l.nameOf(id) + " led in a term whose beginning is missing in its log (it may have had the right to believe until " + r.time(l, h.at) + ")"
			}
		}
	}
	return ""
}

// unseenIn returns the numbers between those of two terms that no node has which the logs show: somebody created it,
// and may have led. Transaction logs have all nodes of the time that they cover.
func (h *history) unseenIn(n *line) (all []stranger) {
	if len(n.terms) < 2 || n.shared || h.replaced {
		return nil
	}
	taken := map[int64]bool{}
	note := func(path string) {
		if dirOf(path) == n.dir {
			taken[orderOf(path)] = true
		}
	}
	for _, l := range h.logs {
		for path := range l.nodes {
			note(path)
		}
		for name := range l.seen[n.dir] {
			taken[orderOf(name)] = true
		}
		for path := range l.tried {
			if dirOf(path) == n.dir { // what a transaction creates has no known number
				return nil
			}
		}
	}
	for i, t := range n.terms[1:] {
		if h.covers(n.terms[i].Token, t.Token) {
			continue
		}
		last := orderOf(n.terms[i].Node)
		for order := last + 1; order < orderOf(t.Node) && len(all) < maxUnseen; order++ {
			if !taken[order] && !h.absentIn(n.dir, order) {
				all = append(all, stranger{order: order})
			}
		}
	}
	return all
}

// maxUnseen is how many places are named at most of which nothing is known but a number.
const maxUnseen = 100

// absentIn reports whether a listing shows that a node had gone while one ahead of it was there: it did not lead.
func (h *history) absentIn(dir string, order int64) bool {
	for _, l := range h.logs {
		for _, span := range l.absent[dir] {
			if span[0] < order && order < span[1] {
				return true
			}
		}
	}
	return false
}

// noteAbsent notes between which numbers of a listing it has no node.
func (l *Log) noteAbsent(dir string, children []string) {
	var orders []int64
	for _, name := range children {
		if n := orderOf(name); n >= 0 {
			orders = append(orders, n)
		}
	}
	slices.Sort(orders)
	for i := 1; i < len(orders); i++ {
		span := [2]int64{orders[i-1], orders[i]}
		if all := l.absent[dir]; span[1]-span[0] > 1 && (len(all) == 0 || all[len(all)-1] != span) {
			if l.absent == nil {
				l.absent = map[string][][2]int64{}
			}
			l.absent[dir] = append(all, span)
		}
	}
}

// covers reports whether the transaction logs have all transactions from one to another: the numbers of an epoch follow
// one another.
func (h *history) covers(from, to int64) bool {
	i, found := slices.BinarySearchFunc(h.all, from, func(t txnlog.Txn, zxid int64) int {
		return cmp.Compare(t.Zxid, zxid)
	})
	for ; found && i < len(h.all) && h.all[i].Zxid < to; i++ {
		if i+1 == len(h.all) || h.all[i+1].Zxid != h.all[i].Zxid+1 &&
			epochOf(h.all[i+1].Zxid) == epochOf(h.all[i].Zxid) {
			return false
		}
	}
	return found && i < len(h.all) && h.all[i].Zxid == to
}
