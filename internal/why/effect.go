package why

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// addReply notes what a reply says of zxids, nodes and times.
func (l *Log) addReply(r events.Record) {
	ev := r.Event
	switch ev.Kind {
	case events.ReplyCreate, events.ReplyDelete, events.ReplyMulti, events.ReplyStat, events.ReplyChildren,
		events.ReplySync, events.ReplyWatch:
	default:
		return
	}
	if ev.Code.Refusal() && r.Machine == events.SessionMachine {
		l.refusals = append(l.refusals, failure{seq: r.Seq, at: ev.At, code: ev.Code})
	}
	write := ev.Code == events.OK &&
		(ev.Kind == events.ReplyCreate || ev.Kind == events.ReplyDelete || ev.Kind == events.ReplyMulti)
	s := l.session.current
	if ev.Zxid > 0 && s != nil {
		l.sights.add(sight{r.Seq, ev.At, ev.SentAt, ev.Zxid, s.id, write && ev.SentAt > 0})
	}
	if ev.Kind == events.ReplyMulti {
		l.answerItems(r)
		l.answerPlan(r, write)
		l.answerDelete(r, write)
		if write {
			l.answerLeases(r)
		}
	}
	switch {
	case ev.Kind == events.ReplyCreate && write && ev.Path != "":
		l.nodes[ev.Path] = &node{path: ev.Path, machine: r.Machine, seq: r.Seq, at: ev.At, sent: ev.SentAt,
			czxid: ev.Zxid, session: s}
	case ev.Kind == events.ReplyDelete:
		l.answerDelete(r, write)
	case ev.Kind == events.ReplyChildren && ev.Code == events.OK:
		l.addListing(r)
	case ev.Kind == events.ReplyStat && ev.Code == events.OK:
		l.readPlan(r)
	case ev.Kind == events.ReplyStat && ev.Code == events.NoNode:
		l.gone = append(l.gone, sighting{r.Seq, ev.At, ev.Path})
	}
	if ev.Stat != nil && ev.Stat.Mtime > 0 {
		l.addStamp(r)
	}
	if ev.Stat != nil && ev.Stat.EphemeralOwner != 0 && ev.Path != "" {
		l.owners[ev.Path] = ev.Stat.EphemeralOwner
	}
}

func (l *Log) addStamp(r events.Record) {
	ev := r.Event
	st := stamp{seq: r.Seq, at: ev.At, zxid: ev.Stat.Mzxid, millis: ev.Stat.Mtime}
	if own := l.nodes[ev.Path]; own != nil && own.czxid == ev.Stat.Mzxid && own.sent > 0 {
		st.at, st.sent = own.at, own.sent
	}
	l.stamps.add(st)
}

func (l *Log) addListing(r events.Record) {
	ev := r.Event
	l.listings[r.Machine] = listing{r.Seq, ev.At, ev.Path, ev.Children}
	l.noteAbsent(ev.Path, ev.Children)
	in := l.seen[ev.Path]
	if in == nil && len(ev.Children) > 0 {
		in = map[string]uint64{}
		l.seen[ev.Path] = in
	}
	for _, name := range ev.Children {
		if _, there := in[name]; !there {
			in[name] = r.Seq
		}
	}
}

// listedFirst returns the first record whose listing has a node, 0 for none.
func (l *Log) listedFirst(path string) uint64 { return l.seen[dirOf(path)][baseOf(path)] }

func (l *Log) answerDelete(r events.Record, done bool) {
	key := timerKey{r.Machine, r.Event.Request}
	for _, i := range l.pending[key] {
		l.deletes[i].answer, l.deletes[i].denied = r.Seq, !done && !r.Event.Code.Transient()
		if done {
			l.deletes[i].zxid = r.Event.Zxid
			if n := l.nodes[l.deletes[i].path]; n != nil {
				n.gone = r.Event.Zxid
			}
		}
	}
	delete(l.pending, key)
}

// addEffect notes what an effect says. One of a newer version, or without what it needs, is counted.
func (l *Log) addEffect(r events.Record, effect events.Effect) {
	read := true
	switch e := effect.(type) {
	case events.Deadline:
		l.moveDeadline(r, e.Until)
	case events.Notify:
		read = l.addNotice(r, e)
	case events.SetTimer:
		l.timers[timerKey{r.Machine, e.Request}] = r.Event.At + int64(e.After)
	case events.StopTimer:
		delete(l.timers, timerKey{r.Machine, e.Request})
	case events.CloseSession:
		if s := l.session.current; s != nil {
			s.closeAsked = r.Seq
		}
	case events.Delete:
		l.askDelete(r, e.Request, e.Path)
	case events.Multi:
		l.addMulti(r, e)
	}
	if !read {
		l.unread = append(l.unread, r.Seq)
	}
}

// addMulti notes what a transaction is to create and to delete. The names of nodes are those before the ensemble adds
// a number.
func (l *Log) addMulti(r events.Record, e events.Multi) {
	l.askLeases(r, e)
	l.askItems(r, e)
	l.askPlan(r, e)
	for _, op := range e.Ops {
		switch op.Verb {
		case "create":
			l.tried[op.Path] = true
		case "delete":
			l.askDelete(r, e.Request, op.Path)
		}
	}
}

// askDelete notes that a node is to be deleted by a request.
func (l *Log) askDelete(r events.Record, n uint64, path string) {
	key := timerKey{r.Machine, n}
	if own := l.nodes[path]; own != nil {
		own.asked = true
	}
	l.pending[key] = append(l.pending[key], len(l.deletes))
	l.deletes = append(l.deletes, deletion{seq: r.Seq, at: r.Event.At, path: l.kept(path)})
}

// addNotice notes what a handle learns. It returns false if it cannot read it.
func (l *Log) addNotice(r events.Record, n events.Notify) bool {
	switch n.What {
	case events.Elected:
		if n.Path == "" || n.Token == 0 {
			return false
		}
		path := l.kept(n.Path)
		l.begin(r, path, n.Token)
		if machines.TraitsOf(l.machineOf(r.Machine).recipe).Callback { // its function is called without being granted
			l.workBegan(r)
		}
		l.heldLease(r, path, n.Token)
	case events.Granted:
		l.workBegan(r)
	case events.Stopped:
		if n.Path == "" || n.Token == 0 {
			return false
		}
		l.end(r, n)
	case events.Delivered:
		return l.ownShard(r, n)
	case events.Withdrawn:
		return l.disownShard(r, n)
	case events.Recovered:
		l.noteHealth(r, n)
	case events.Failed:
		l.noteHealth(r, n)
		l.failures = append(l.failures, failure{r.Seq, r.Event.At, r.Machine, n.Code, n.Text, givesUp(r)})
	default:
		return notices[n.What]
	}
	return true
}

// notices are those that say nothing about terms.
var notices = map[events.Notice]bool{
	events.Waiting: true, events.Ended: true, events.Revoked: true, events.PassedOver: true,
	events.Leader: true,
	events.Vacant: true, events.Present: true, events.Absent: true, events.Members: true, events.Value: true,
	events.Settled: true,
	events.Stale:   true, events.Connected: true,
	events.Suspended:   true,
	events.Reconnected: true, events.Lost: true, events.ShortGrant: true, events.Warning: true,
}
