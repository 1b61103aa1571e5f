package why

import (
	"cmp"
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/machines"
)

// seenGone is the first record of any log that shows that a node is gone.
type seenGone struct {
	log *Log
	seq uint64
	at  int64 // as it is shown
}

// findEnds finds the first sighting of the end of each node, and who asked for what.
func (p *painter) findEnds() {
	p.gone, p.deleted, p.written = map[string]seenGone{}, map[string]deletedBy{}, map[int64]map[*Log]uint64{}
	p.ended, p.closed = map[int64][]string{}, map[int64]*txnlog.Txn{}
	for _, l := range p.logs {
		for _, g := range l.gone {
			at := p.shown(l, g.at)
			if first, known := p.gone[g.path]; !known || at < first.at {
				p.gone[g.path] = seenGone{l, g.seq, at}
			}
		}
		for _, d := range l.deletes {
			if _, known := p.deleted[d.path]; !known && d.zxid != 0 {
				p.deleted[d.path] = deletedBy{l, d}
			}
		}
		for i := range l.sights.len() {
			if s := l.sights.at(i); s.write && p.window.hasRecord(p.index[l], s.seq) {
				if p.written[s.zxid] == nil {
					p.written[s.zxid] = map[*Log]uint64{}
				}
				p.written[s.zxid][l] = s.seq
			}
		}
		for _, path := range append(slices.Sorted(maps.Keys(l.nodes)), slices.Sorted(maps.Keys(l.leases))...) {
			if end := p.h.endOf(path, 0); end != nil {
				p.ended[end.ended.Zxid] = append(p.ended[end.ended.Zxid], "node "+shortNode(path))
			}
		}
	}
	for i := range p.h.all {
		if t := &p.h.all[i]; t.Kind == txnlog.CloseSession && p.closed[t.Session] == nil {
			p.closed[t.Session] = t
		}
	}
}

// machineKey names a participant in a line.
type machineKey struct {
	log     *Log
	machine events.ID
	dir     string
}

// machines returns all participants that had a node or a term, in the order of the first.
func (p *painter) machines() (all []PictureMachine) {
	byKey := map[machineKey]int{}
	find := func(l *Log, id events.ID, dir string) *PictureMachine {
		key := machineKey{l, id, dir}
		i, known := byKey[key]
		if !known {
			i = len(all)
			byKey[key] = i
			m := PictureMachine{Log: p.index[l], Machine: string(id), Who: l.Name, Line: dir, Nodes: []Span{},
				Right: []Span{}, Heard: []Span{}, Work: []Span{}}
			if known := l.machines[id]; known != nil && known.id != "" {
				m.Who = quoteID(known.id)
			}
			all = append(all, m)
		}
		return &all[i]
	}
	for _, l := range p.logs {
		for _, n := range l.ownNodes() {
			if l.machineOf(n.machine).opener != "" {
				continue
			}
			if s := p.node(l, n); p.window.hasSpan(s.From, s.To) {
				in := dirOf(n.path)
				if l.machineOf(n.machine).recipe == shardRecipe {
					if in = dirOf(in); !machines.IsShardMember(baseOf(n.path)) {
						continue // a parent
					}
				}
				m := find(l, n.machine, in)
				m.Nodes = append(m.Nodes, s)
			}
		}
		for _, one := range inOneLane(l.terms) {
			if t := one.Term; t.machine().opener == "" && p.window.hasTerm(p.index[l], t) {
				p.term(find(l, one.machine, one.dir), t, one.what)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(l.machines)) {
			if m := l.machines[id]; len(m.stays) > 0 && m.path != "" {
				p.stays(find(l, id, m.path), l, m.stays)
			}
		}
	}
	return all
}

// term adds a term to a participant.
func (p *painter) term(m *PictureMachine, t *Term, token string) {
	m.Right = append(m.Right, p.span(t.Log, t.ElectedAt, t.rightUntil(), t.Elected, token))
	if t.Stopped == 0 {
		heard := p.span(t.Log, t.ElectedAt, t.Log.last, t.Elected, token)
		heard.To = 0
		m.Heard = append(m.Heard, heard)
		return
	}
	m.Heard = append(m.Heard, p.span(t.Log, t.ElectedAt, t.StoppedAt, t.Stopped, token+", until: "+t.Reason.String()))
	if end, _ := t.workEnd(); end > t.StoppedAt {
		m.Work = append(m.Work,
			p.span(t.Log, t.StoppedAt, end, t.Stopped, "work ran on for "+span(timeSpan(end-t.StoppedAt))))
	}
}

// node returns for how long a node stood.
func (p *painter) node(l *Log, n *node) Span {
	s := Span{From: p.shown(l, cmp.Or(n.at, n.sent)), Record: n.seq,
		Text: "node " + shortNode(n.path) + " (czxid " + hex(n.czxid) + ")"}
	end, how := p.nodeEnd(l, n)
	if end > 0 {
		s.To, s.Text = max(end, s.From), s.Text+", until: "+how
	}
	return s
}

// nodeEnd returns when a node went, and how that is known; 0 if it stood, as far as the logs show.
func (p *painter) nodeEnd(l *Log, n *node) (at int64, how string) {
	if end := p.h.endOf(n.path, n.czxid); end != nil {
		return p.timeOf(end.ended), "zxid " + hex(end.ended.Zxid) + " of the ensemble's log"
	}
	if own := l.leases[n.path]; own != nil && own.gone != 0 {
		return p.shown(l, own.goneAt), l.Name + " deleted it"
	}
	if d, done := p.deleted[n.path]; done {
		return p.shown(d.log, d.log.rec(d.answer).at), d.log.Name + " deleted it"
	}
	if g, seen := p.gone[n.path]; seen {
		return g.at, "seen to be gone by " + Ref{g.log.Name, g.seq}.String()
	}
	switch s := n.session; {
	case s != nil && s.closed != 0:
		return p.shown(l, l.rec(s.closed).at), "its session was closed"
	case s != nil && s.lost != nil:
		return p.shown(l, s.lost.at), "its session was over by then"
	}
	return 0, ""
}
