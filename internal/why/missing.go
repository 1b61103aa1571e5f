package why

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

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
