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
	plans    map[string][]*groupPlan
	commands map[*Term][]stint // that elect or lock ran
}

// life is what the transaction logs say of one node. Those of a job's leaders have one path.
type life struct {
	created, ended *txnlog.Txn
	owner          int64
	by             *txnlog.Change
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

// endOfTerm does so for the node of a term. A shard's token is not that of its member's node, whose name no other has.
func (h *history) endOfTerm(t *Term) *life {
	if t.Recipe == shardRecipe {
		return h.endOf(t.Node, 0)
	}
	return h.endOf(t.Node, t.Token)
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
	end := h.endOfTerm(t)
	s := t.Log.sessionNumbered(t.Session)
	if end != nil && s != nil && end.by.Kind == txnlog.CloseSession && end.ended.Session == s.id &&
		end.ended.Cxid != 0 && s.closeAsked >= t.Stopped {
		return s.closeAsked
	}
	return 0
}

// line is what queues together: the nodes of one directory whose names are of one kind.
type line struct {
	dir, kind string
	path      string // what the user named: the directory, or what it belongs to
	terms     []*Term
	strangers []stranger
	shard     int  // from 1: its terms are those of this shard of the group at path; 0: it is no shard's
	dead      *Log // of a member that seems to have died with its log while the shard was assigned to it; nil: none
	permits   bool // its terms are a semaphore's permits
	shared    bool // some of its terms hold together
}

// stranger is a place in a line of a client without a log.
type stranger struct {
	label string // what it is called if not by its node
	path  string
	order int64
	owner int64 // the session; 0 if unknown
	by    Ref   // who saw it
	reads bool
	log   *Log  // of its client, which ends, or has a gap, before the node has gone; nil: it is not here
	from  int64 // the log's last record before that
}

// place is a node that a client created.
type place struct {
	order int64
	log   *Log
	node  *node
}

// conflict reports whether two terms must not be at once.
func conflict(a, b *Term) bool { return !(a.shares && b.shares) }

// apart says that logs may be of different ensembles: their connect strings have no server in common, and no client saw
// a node or a session of the others.
type apart struct {
	groups [][]*Log
	zxid   int64  // which two groups gave to different writes; 0: none, so it may be one ensemble under two names
	sign   string // what shows that two logs with one connect string are not of one ensemble; "": nothing does
}

// fixed reports whether all nodes of a line have one name.
func (n *line) fixed() bool { return n.terms[0].traits().FixedName }

// position is where a node of a term is in its line: by its number or, if all have one name, by the transaction that
// created it.
func (n *line) position(t *Term) int64 {
	if n.fixed() || n.shard != 0 {
		return t.Token
	}
	return orderOf(t.Node)
}

// groupPlan is an assignment, and its writer.
type groupPlan struct {
	plan
	log    *Log // of the client that wrote it, or read it first
	before *groupPlan
}
