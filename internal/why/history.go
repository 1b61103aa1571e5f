package why

import (
	"cmp"
	"slices"

	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

// history is what all logs say together.
type history struct {
	logs     []*Log
	clocks   *clocks
	txns     map[int64]txnlog.Txn
	all      []txnlog.Txn
	lives    map[string][]*life // by path, from the transaction logs, in their order
	sessions map[int64]*Log     // by ZooKeeper's id
	replaced bool               // the ensemble's data were replaced: zxids have no order
	foreign  string             // why the transaction logs were left out; "": they were not
	apart    *apart             // the logs may be of different ensembles; nil: they are of one
	highest  map[*Log][]int64   // at each sight, the highest zxid seen so far
	kinds    map[string]nameKind
	places   map[string][]place // what placesIn returns
	commands map[*Term][]stint  // that elect or lock ran
}

// life is what the transaction logs say of one node. Those of a job's leaders have one path.
type life struct {
	created, ended *txnlog.Txn
	owner          int64
	by             *txnlog.Change
}

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

func ownerOf(t *txnlog.Txn, c *txnlog.Change) int64 {
	if c.Ephemeral {
		return t.Session
	}
	return 0
}

func (h *history) endLife(path string, t *txnlog.Txn, c *txnlog.Change) {
	if l := h.lifeOf(path, 0); l != nil && l.ended == nil {
		l.ended, l.by = t, c
	}
}

// lifeOf returns what is known of the node that a transaction created at a path, of the last one there if zxid is 0;
// nil if nothing is.
func (h *history) lifeOf(path string, zxid int64) *life {
	all := h.lives[path]
	for i := len(all) - 1; i >= 0; i-- {
		if zxid == 0 || all[i].created.Zxid == zxid {
			return all[i]
		}
	}
	return nil
}

// endOf returns the transaction that ended such a node, nil if none is known.
func (h *history) endOf(path string, zxid int64) *life {
	if l := h.lifeOf(path, zxid); l != nil && l.ended != nil {
		return l
	}
	return nil
}

// deletedBy returns the first log whose client deleted the node of another's term.
func (h *history) deletedBy(t *Term) (*Log, *deletion) {
	for _, l := range h.logs {
		if l == t.Log {
			continue
		}
		for i := range l.deletes {
			if d := &l.deletes[i]; d.path == t.Node && d.zxid > t.Token && !l.ledFrom(t, d.zxid) {
				return l, d
			}
		}
	}
	return nil, nil
}

// ledFrom reports whether the client led on a node of the same path later than in a term, and before a transaction:
// then it is its own that it deleted, as the leaders of a job do.
func (l *Log) ledFrom(t *Term, zxid int64) bool {
	return slices.ContainsFunc(l.terms, func(o *Term) bool {
		return o.Node == t.Node && o.Token > t.Token &&
			o.Token < zxid
	})
}

// leadsTo reports whether what happened at one record of a log came before a record of another
// one, by the order of zxids: the first client had a write committed that it sent afterwards,
// and the second had seen the ensemble with that write.
func (h *history) leadsTo(a *Log, after uint64, at int64, b *Log, before uint64) bool {
	if h.replaced {
		return false
	}
	zxid := int64(0)
	for i := firstSight(a, after); i < a.sights.len(); i++ {
		if s := a.sights.at(i); s.write && s.seq > after && s.sent >= at {
			zxid = s.zxid
			break
		}
	}
	if zxid == 0 {
		return false
	}
	i := firstSight(b, before+1) - 1
	return i >= 0 && h.highest[b][i] >= zxid
}

// firstSight returns the index of the first sight at or after a record.
func firstSight(l *Log, seq uint64) int {
	return l.sights.first(func(s *sight) bool { return s.seq >= seq })
}

// sawGone returns the record by which a client knew, at a record of its own, that a node was
// gone; 0 if it did not.
func sawGone(l *Log, path string, by uint64) uint64 {
	if l.goneSeqs == nil {
		l.goneSeqs = map[string][]uint64{}
		for _, g := range l.gone {
			l.goneSeqs[g.path] = append(l.goneSeqs[g.path], g.seq)
		}
	}
	all := l.goneSeqs[path]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i] <= by {
			return all[i]
		}
	}
	return 0
}

// deleted returns the delete of the node that the client sent at or after a record of the term, and that was carried
// out; nil for none. The nodes of all leaders of a job have one path, so it is none of a later term.
func (t *Term) deleted(from uint64) *deletion {
	all := t.Log.deletes
	i, _ := slices.BinarySearchFunc(all, from, func(d deletion, seq uint64) int { return cmp.Compare(d.seq, seq) })
	for ; i < len(all); i++ {
		d := &all[i]
		if t.next != nil && t.next.Node == t.Node && t.next.Token != t.Token && d.seq >= t.next.Elected {
			return nil
		}
		if d.path == t.Node && d.zxid != 0 {
			return d
		}
	}
	return nil
}

// endedItself returns the record at which the client itself asked for the end of the node of a
// term, after the term: a delete that was carried out or, if the transaction logs say that it
// was this, the end of the session.
func (h *history) endedItself(t *Term) uint64 {
	if t.Stopped == 0 {
		return 0
	}
	if d := t.deleted(t.Stopped); d != nil {
		return d.seq
	}
	end := h.endOf(t.Node, t.Token)
	s := t.Log.sessionNumbered(t.Session)
	if end != nil && s != nil && end.by.Kind == txnlog.CloseSession && end.ended.Session == s.id && end.ended.Cxid != 0 && s.closeAsked >= t.Stopped {
		return s.closeAsked
	}
	return 0
}
