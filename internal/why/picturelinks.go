package why

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/internal/why/txnlog"
)

func timeSpan(ns int64) time.Duration { return time.Duration(ns) }

// txns returns the transactions of a picture: those of the ensemble's log that concern the logs' sessions
// and lines, or else what the clients' replies show.
func (p *painter) txns() (all []PictureTxn) {
	if len(p.h.all) == 0 {
		return p.answeredTxns()
	}
	dirs := map[string]bool{}
	for _, l := range p.logs {
		for path := range l.nodes {
			dirs[dirOf(path)] = true
		}
		for _, t := range l.terms {
			dirs[t.Dir] = true
		}
	}
	for i := range p.h.all {
		if x := p.exactTxn(&p.h.all[i], dirs); x != nil && p.window.hasSpan(x.From, x.To) {
			all = append(all, *x)
		}
	}
	return all
}

// exactTxn returns a transaction of the ensemble's log, nil if it does not concern the picture.
func (p *painter) exactTxn(t *txnlog.Txn, dirs map[string]bool) *PictureTxn {
	x := &PictureTxn{Zxid: hex(t.Zxid), From: p.timeOf(t), To: p.timeOf(t), Exact: true, zxid: t.Zxid}
	_, ours := p.h.sessions[t.Session]
	session := "session " + hex(t.Session)
	switch {
	case t.Kind == txnlog.CreateSession && ours:
		x.Kind, x.Text = "opened", session+" opened"
	case t.Kind == txnlog.CloseSession && t.Cxid == 0:
		x.Kind, x.Text = "expired", session+" expired"
	case t.Kind == txnlog.CloseSession:
		x.Kind, x.Text = "closed", session+" closed"
	}
	var names []string
	for _, c := range t.Changes {
		switch c.Kind {
		case txnlog.Create, txnlog.Create2:
			x.Kind = cmp.Or(x.Kind, "create")
		case txnlog.Delete:
			x.Kind = cmp.Or(x.Kind, "delete")
		default:
			x.Kind = cmp.Or(x.Kind, "set")
		}
		ours = ours || dirs[dirOf(c.Path)]
		if c.Path != "" {
			names = append(names, oneLine(c.Path))
		}
	}
	if x.Text == "" {
		x.Text = x.Kind + " " + strings.Join(names, ", ") + ", " + session
	}
	if gone := p.ended[t.Zxid]; t.Kind == txnlog.CloseSession && len(gone) > 0 {
		ours = true
		x.Text += ", and with it " + strings.Join(gone, ", ")
	}
	if !ours || x.Kind == "" {
		return nil
	}
	return x
}

// answeredTxns returns the creates and deletes that the clients had carried out.
func (p *painter) answeredTxns() (all []PictureTxn) {
	add := func(l *Log, zxid, from, to int64, kind, path string) {
		from, to = p.shown(l, cmp.Or(from, to)), p.shown(l, to)
		if p.window.hasSpan(from, to) {
			all = append(all, PictureTxn{Zxid: hex(zxid), From: from, To: to, Kind: kind,
				Text: kind + " " + oneLine(path), zxid: zxid})
		}
	}
	for _, l := range p.logs {
		for _, n := range l.nodes {
			add(l, n.czxid, n.sent, n.at, "create", n.path)
		}
		for _, d := range l.deletes {
			if d.zxid != 0 {
				add(l, d.zxid, d.at, l.rec(d.answer).at, "delete", d.path)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b PictureTxn) int {
		return cmp.Or(cmp.Compare(a.zxid, b.zxid), strings.Compare(a.Text, b.Text))
	})
	return all
}

// links returns what caused what in another log.
func (p *painter) links(txns []PictureTxn) (all []PictureLink) {
	shown := map[int64]bool{}
	for _, x := range txns {
		shown[x.zxid] = true
		if cause, how := p.requested(x.zxid); cause.Seq != 0 {
			all = append(all, PictureLink{PictureEnd{Zxid: x.Zxid}, cause, how})
		}
	}
	for _, l := range p.logs {
		for _, g := range l.gone {
			if !p.window.hasRecord(p.index[l], g.seq) {
				continue
			}
			if cause, how := p.whyGone(l, g, shown); how != "" {
				all = append(all, PictureLink{PictureEnd{Log: l.Name, Seq: g.seq}, cause, how})
			}
		}
		for _, s := range l.sessions {
			if x := p.closed[s.id]; s.lost != nil && x != nil && shown[x.Zxid] {
				all = append(all,
					PictureLink{PictureEnd{Log: l.Name, Seq: s.lost.seq}, PictureEnd{Zxid: hex(x.Zxid)},
						"the session was over"})
			}
		}
	}
	return all
}

// requested returns the record that sent the request for a transaction.
func (p *painter) requested(zxid int64) (PictureEnd, string) {
	t, exact := p.h.txns[zxid]
	for _, l := range p.logs {
		seq, wrote := p.written[zxid][l]
		switch {
		case exact && p.h.sessions[t.Session] != l:
		case wrote:
			r := l.rec(seq)
			return PictureEnd{Log: l.Name, Seq: cmp.Or(r.cause, r.seq)}, "its request"
		case exact && t.Kind == txnlog.CloseSession:
			return p.endedSession(l, &t)
		}
	}
	return PictureEnd{}, ""
}

// endedSession returns the record by which a client closed its session, or the last answer that it got before the
// ensemble expired it.
func (p *painter) endedSession(l *Log, t *txnlog.Txn) (PictureEnd, string) {
	for _, s := range l.sessions {
		if s.id == t.Session && t.Cxid != 0 && s.closeAsked != 0 {
			return PictureEnd{Log: l.Name, Seq: s.closeAsked}, "its request"
		}
	}
	return p.lastHeard(l, t.Session, p.timeOf(t)), "the last answer that the client got before"
}

// lastHeard returns the record of the last answer in a session before a time.
func (p *painter) lastHeard(l *Log, session, before int64) PictureEnd {
	for i := l.sights.len() - 1; i >= 0; i-- {
		if s := l.sights.at(i); s.session == session && p.shown(l, s.at) <= before {
			return PictureEnd{Log: l.Name, Seq: s.seq}
		}
	}
	return PictureEnd{}
}

// whyGone returns what caused that a client saw a node gone: the transaction, the owner's request, or its silence.
func (p *painter) whyGone(l *Log, g sighting, shown map[int64]bool) (PictureEnd, string) {
	if end := p.h.endOf(g.path, 0); end != nil && shown[end.ended.Zxid] {
		return PictureEnd{Zxid: hex(end.ended.Zxid)}, "the transaction that ended the node"
	}
	if d, done := p.deleted[g.path]; done && (d.log != l || d.answer < g.seq) {
		return PictureEnd{Zxid: hex(d.zxid)}, "the transaction that ended the node"
	}
	for _, o := range p.logs {
		n := o.nodes[g.path]
		if n == nil || o == l || n.session == nil {
			continue
		}
		if n.session.closeAsked != 0 {
			return PictureEnd{Log: o.Name, Seq: n.session.closeAsked}, "its owner closed the session"
		}
		if heard := p.lastHeard(o, n.session.id, p.shown(l, g.at)); heard.Seq != 0 {
			return heard, "the last answer that its owner got before"
		}
	}
	return PictureEnd{}, ""
}
