package why

import "github.com/incumbent-go/incumbent/internal/why/txnlog"

func newHistory(logs []*Log, txns []txnlog.Txn, ppm int64) *history {
	h := &history{logs: logs, all: txns, txns: map[int64]txnlog.Txn{}, lives: map[string][]*life{},
		sessions: map[int64]*Log{}, highest: map[*Log][]int64{}, kinds: map[string]nameKind{}}
	for _, t := range txns {
		h.txns[t.Zxid] = t
	}
	h.replaced = h.wasReplaced()
	if !h.replaced {
		h.foreign = h.foreignTxns()
	}
	if h.foreign != "" {
		h.all, h.txns = nil, map[int64]txnlog.Txn{}
	}
	for _, l := range logs {
		for _, s := range l.sessions {
			h.sessions[s.id] = l
		}
		high, top := make([]int64, l.sights.len()), int64(0)
		for i := range high {
			top = max(top, l.sights.at(i).zxid)
			high[i] = top
		}
		h.highest[l] = high
	}
	h.readLives()
	if h.findApart(); h.replaced && h.apart != nil {
		h.apart.sign = "" // the same number or session says nothing then
	}
	h.clocks = align(logs, h.txns, h.replaced, ppm)
	return h
}

// wasReplaced reports whether the ensemble's data were replaced by others, from a backup say:
// a client's later write has a lower zxid, or two nodes have the same.
func (h *history) wasReplaced() bool {
	for _, l := range h.logs {
		last := int64(0)
		for i := range l.sights.len() {
			s := l.sights.at(i)
			if !s.write {
				continue
			}
			if s.zxid < last {
				return true
			}
			last = s.zxid
		}
	}
	created := map[int64]string{}
	owner := map[int64]*Log{}
	for _, l := range h.logs {
		for path, n := range l.nodes {
			if other, there := created[n.czxid]; there && other != path && dirOf(other) == dirOf(path) &&
				!l.strangeTo(owner[n.czxid]) {
				return true
			}
			created[n.czxid], owner[n.czxid] = path, l
		}
	}
	return false
}

func (h *history) readLives() {
	bySession := map[int64][]string{}
	for i := range h.all {
		t := &h.all[i]
		for j := range t.Changes {
			c := &t.Changes[j]
			switch c.Kind {
			case txnlog.Create, txnlog.Create2:
				h.lives[c.Path] = append(h.lives[c.Path], &life{created: t, owner: ownerOf(t, c)})
				if c.Ephemeral {
					bySession[t.Session] = append(bySession[t.Session], c.Path)
				}
			case txnlog.Delete:
				h.endLife(c.Path, t, c)
			case txnlog.CloseSession:
				for _, path := range bySession[t.Session] {
					h.endLife(path, t, c)
				}
			}
		}
	}
}

func (h *history) endLife(path string, t *txnlog.Txn, c *txnlog.Change) {
	if l := h.lifeOf(path, 0); l != nil && l.ended == nil {
		l.ended, l.by = t, c
	}
}

func ownerOf(t *txnlog.Txn, c *txnlog.Change) int64 {
	if c.Ephemeral {
		return t.Session
	}
	return 0
}
