package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// executor does what zkio's package documentation promises: every request gets one
// reply. A connection's attached comes before all else of it, its suspended before the
// replies that its end caused, and those before the next attached. Nothing crosses
// sessions.
type executor struct {
	w        *World
	c        *Client
	session  int64 // number of the session opened last
	over     bool
	closing  bool
	id       int64         // ZooKeeper's; 0 before the first handshake
	ids      []int64       // and those of the sessions before, too
	timeout  time.Duration // as granted last; before that, as asked for
	shortest time.Duration // of those that the session was granted; 0: none was

	conn     *Conn // the one that is attached
	dialling *Conn // in its handshake
	attempt  int   // counts dials, so that what belongs to an older one is ignored
	next     int   // server to try
	failures int
	since    int64 // when the connection was lost
	probing  map[int]bool

	throttledUntil int64 // until when servers refuse its requests
	refusing       refusedMultis
	loseReply      bool // the next write is carried out, and its reply is lost
	misreport      bool // the next write is carried out, and answered by a code that says nothing about it
	nextUnanswered bool // the next server that it dials gets nothing
	nextUnheard    bool // what the next server that it dials answers is lost
	lastZxid       int64
	seen           int64         // lastZxid when the connection began
	lastFrameAt    int64         // when the last frame came, by the client's clock
	ownPause       time.Duration // the pause of this process that explains the end of the last connection; 0: none does
	contactGap     int64
	contacts       []contact
	pinged         []int64 // when the pings left that are not answered yet
	pending        []*Packet
	confirmations  events.Confirmations
	settingWatches bool
	queued         []*Packet // planted: requests that wait for the next connection
	earlyEvents    []frame
	watches        watchTable
	trees          treeSupport
}

// post puts an event into the loop's inbox.
func (x *executor) post(to events.ID, ev events.Event) { x.c.Post(to, ev) }

func (x *executor) tellSession(ev events.Event) {
	ev.Session = x.session
	x.post(events.SessionMachine, ev)
}

// execute performs one effect.
func (x *executor) execute(id events.ID, e events.Effect) {
	switch e := e.(type) {
	case events.Connect:
		x.open(e.Session)
	case events.CloseSession:
		x.close(e.Session)
	case events.Abandon:
		if e.Session == x.session && !x.over {
			x.end("abandoned")
		}
	case events.Leave:
		x.leave(e)
	case events.Request:
		x.submit(id, e)
	}
}

func (x *executor) open(n int64) {
	if x.session != 0 && !x.over {
		x.end("another session takes its place")
	}
	x.session, x.over, x.closing, x.id, x.timeout, x.shortest = n, false, false, 0, x.w.script.asked(), 0
	x.lastZxid, x.since, x.watches, x.probing, x.confirmations = 0, 0, watchTable{}, map[int]bool{},
		events.Confirmations{}
	x.dial(0)
}

// end ends the session on this side.
func (x *executor) end(why string) {
	if x.conn != nil {
		x.detach(events.ConnectionEndSession, why)
	}
	if x.dialling != nil {
		x.dialling.closeByClient()
		x.dialling = nil
	}
	x.over = true
	x.attempt++
}

// expired ends a session that has ended in the ensemble, perhaps by a pause of this process.
func (x *executor) expired(why string, paused time.Duration) {
	x.end(why)
	kind := events.ConnectionLost
	if x.closing {
		kind = events.ConnectionClosed
	}
	x.tellSession(events.Event{Kind: kind, Code: events.SessionExpired, Text: why, Paused: int64(paused)})
}

// close asks the ensemble to end the session.
func (x *executor) close(n int64) {
	switch {
	case n != x.session || x.over:
		x.post(events.SessionMachine,
			events.Event{Kind: events.ConnectionClosed, Session: n, Code: events.SessionExpired})
	case x.closing:
	case x.conn == nil:
		x.closing = true
		x.end("closed while not connected")
		x.tellSession(events.Event{Kind: events.ConnectionClosed, Code: events.ConnectionLoss,
			Text: "not connected: abandoned"})
	default:
		x.closing = true
		wire := x.conn
		wire.submit(func() { wire.server.closeSession(wire) })
		x.c.RunAfter(x.handshakeTimeout(), func() {
			if x.closing && !x.over {
				x.closed(events.ConnectionLoss)
			}
		})
	}
}

// ending reports whether the session has ended here, or its end was asked for: then
// its nodes go too.
func (x *executor) ending() bool {
	return x.over || x.closing || x.c.engine.Class(events.SessionMachine) == events.ClassIdle
}

// closed reports how a close went.
func (x *executor) closed(code events.Code) {
	x.end("closed")
	x.tellSession(events.Event{Kind: events.ConnectionClosed, Code: code})
}

func (x *executor) handshakeTimeout() time.Duration { return min(x.w.script.Timeout/3, 5*time.Second) }

// submit takes in a machine's request. What cannot leave now is answered now.
func (x *executor) submit(id events.ID, r events.Request) {
	x.accept(&Packet{ID: id, Request: x.c.fill(id, r), Conn: x.conn})
}

// accept takes in a request of a machine or of the library.
func (x *executor) accept(a *Packet) {
	switch r := a.Request; {
	case r.Header().Session != x.session || x.over:
		x.reply(a, events.SessionExpired, "not the live session")
	case x.conn == nil && x.w.observer.Happens(BugQueuesRequests):
		x.queued = append(x.queued, a)
	case x.conn == nil || x.closing:
		x.reply(a, events.NotSent, "not connected")
	case x.treeRefusal(r) != "":
		a.Conn = nil
		x.reply(a, events.Unimplemented, x.treeRefusal(r))
	default:
		x.send(a)
	}
}

// send sends one request. Here are the faults that cut a connection before a request
// leaves, after it has left, and after it was carried out.
func (x *executor) send(a *Packet) {
	wire, now := x.conn, x.c.Clock()
	a.SentAt, a.contact = now, x.contactBefore(now-x.reportLag())
	if x.w.observer.Happens(BugCountsUnanswered) {
		x.noteContact(now)
	}
	x.replaceTreeWatch(a.Request)
	x.watches.sent(a)
	x.pending = append(x.pending, a)
	x.w.observer.Sent(x.c, a)
	switch {
	case x.w.observer.Happens(CutBeforeSend):
		x.w.After(0, func() { x.connectionLost(wire, "cut before the request left") })
		return
	case x.w.observer.Happens(CutAfterSend):
		wire.submit(func() { wire.server.take(a) })
		x.w.After(x.c.dice.delay(), func() { x.connectionLost(wire, "cut after the request left") })
		return
	case Writes(a.Request) && (x.loseReply || x.w.observer.Happens(CutAfterApply)):
		x.loseReply = false
		wire.submit(func() { wire.server.take(a) })
		wire.down.stalled = Forever
		x.w.After(Between(x.c.dice.roll(dialDice), 20*time.Millisecond, x.w.script.Timeout/2), func() {
			x.connectionLost(wire, "cut after the request was carried out")
		})
		return
	}
	wire.submit(func() { wire.server.take(a) })
}

// Writes reports whether a request is a write.
func Writes(r events.Request) bool {
	switch r.(type) {
	case events.Create, events.Delete, events.Multi:
		return true
	}
	return false
}

// detach reports that the connection is gone, then answers what it carried.
func (x *executor) detach(end events.ConnectionEnd, why string) {
	server := x.conn.server
	x.conn.closeByClient()
	x.conn, x.since = nil, x.c.Clock()
	x.c.attached = false
	x.tellSession(events.Event{Kind: events.ConnectionSuspended, Code: events.ConnectionLoss, Text: why,
		Server: server.name(), End: end, Paused: int64(x.ownPause)})
	pending := x.pending
	x.pending = nil
	x.dropTreeWatches(pending)
	for _, a := range pending {
		x.reply(a, events.ConnectionLoss, why)
	}
}

// reply gives a request its one answer.
func (x *executor) reply(a *Packet, code events.Code, text string) {
	a.Code, a.text = code, text
	if a.Done != nil {
		a.Done(a) // the caller's goroutine gets it, not the loop
		x.confirm(a)
		return
	}
	x.watches.answered(a)
	x.noteTreeAnswer(a)
	h := a.Request.Header()
	ev := events.Event{Request: h.Request, Session: h.Session, Code: code, Text: text, SentAt: a.SentAt,
		Contact: a.contact,
		Zxid:    a.zxid, Children: a.Children, Stat: a.stat, Data: a.data}
	ev.Kind, ev.Path = ReplyTo(a.Request)
	if a.path != "" {
		ev.Path = a.path
	}
	if h.Keep {
		x.c.giveUserData(a.ID, &ev)
	}
	x.w.observer.Replied(x.c, a, ev)
	x.post(a.ID, ev)
}

// ReplyTo returns the kind and the path of the reply to a request.
func ReplyTo(r events.Request) (events.Kind, string) {
	switch r := r.(type) {
	case events.Create:
		return events.ReplyCreate, r.Path
	case events.Delete:
		return events.ReplyDelete, r.Path
	case events.Get:
		return events.ReplyStat, r.Path
	case events.Exists:
		return events.ReplyStat, r.Path
	case events.Children:
		return events.ReplyChildren, r.Path
	case events.Sync:
		return events.ReplySync, r.Path
	case events.AddWatch:
		return events.ReplyWatch, r.Path
	}
	return events.ReplyMulti, ""
}

// contact is a frame that was sent and answered: the server has heard of the session
// since then, at the earliest when the frame was sent.
type contact struct{ sent, answered int64 }

// noteContact notes a frame that was answered now.
func (x *executor) noteContact(sent int64) {
	if n := len(x.contacts); n > 0 && sent-x.contacts[n-1].sent < x.contactGap {
		return
	}
	x.contacts = append(x.contacts, contact{sent, x.c.Clock()})
}

// contactBefore returns when the last frame was sent that was answered by a time.
func (x *executor) contactBefore(at int64) int64 {
	for i := len(x.contacts) - 1; i >= 0; i-- {
		if x.contacts[i].answered <= at || i == 0 {
			return x.contacts[i].sent
		}
	}
	return 0
}

// take takes one frame.
func (x *executor) take(wire *Conn, f frame) {
	x.lastFrameAt = x.c.Clock()
	switch {
	case wire == x.dialling:
		x.handshakeFrame(wire, f)
		return
	case wire != x.conn:
		return
	case f.closed:
		if x.closing {
			x.closed(events.OK)
			return
		}
		x.connectionLost(wire, closedByServer)
	case f.pong:
		x.noteContact(x.pinged[0])
		x.pinged = x.pinged[1:]
		x.checkOverdue(wire)
	case f.watch != 0:
		x.fire(f)
	case f.reply != nil:
		i := slices.Index(x.pending, f.reply)
		if i < 0 {
			return
		}
		x.pending = slices.Delete(x.pending, i, i+1)
		x.see(f.zxid)
		a := f.reply
		x.noteContact(a.SentAt)
		a.path = cmp.Or(a.result.Path, a.path)
		if a.result.Err == 0 {
			a.noteCreated(createdNodes(a.result))
			a.stat = cmp.Or(a.stat, lastSetStat(a.result))
		}
		a.path = cmp.Or(a.path, a.atFault())
		x.reply(a, x.reported(a), "")
	}
}

// createdNodes returns the nodes that a transaction created.
func createdNodes(r zkmem.Result) (paths []string) {
	for _, sub := range r.Results {
		if sub.Code == zkmem.OpCreate {
			paths = append(paths, sub.Path)
		}
	}
	return paths
}

// lastSetStat returns the stat that the last "set" of a transaction left, nil for none.
func lastSetStat(r zkmem.Result) (stat *events.Stat) {
	for _, sub := range r.Results {
		if sub.Code == zkmem.OpSetData {
			stat = Stat(sub.Stat)
		}
	}
	return stat
}

// atFault returns the path of the operation for which a transaction was refused.
func (a *Packet) atFault() string {
	ops := opsOf(a.Request)
	for i, sub := range a.result.Results {
		if sub.Err != 0 && sub.Err == a.result.Err && i < len(ops) {
			return ops[i].Path
		}
	}
	return ""
}

// checkOverdue ends a connection that answers pings and nothing else.
func (x *executor) checkOverdue(wire *Conn) {
	for _, a := range x.pending {
		if x.c.Clock()-a.SentAt > int64(x.timeout) {
			x.connectionLost(wire, unanswered)
			return
		}
	}
}

func (x *executor) fire(f frame) {
	if x.conn != nil {
		x.conn.separates = x.conn.separates || f.zxid > 0
	}
	kind := [...]events.Kind{1: events.WatchCreated, 2: events.WatchDeleted, 3: events.WatchChanged,
		4: events.WatchChildren}[f.watch]
	for _, id := range x.watches.fired(kind, f.path) {
		x.post(id, events.Event{Kind: kind, Session: x.session, Path: f.path, Zxid: f.zxid})
	}
}

// confirm posts that a write was committed which no machine has sent.
func (x *executor) confirm(a *Packet) {
	multi, write := a.Request.(events.Multi)
	if write && a.Code == events.OK && x.confirmations.Confirmed(a.SentAt, x.timeout) {
		x.post(events.SessionMachine, events.Confirmation(multi, a.SentAt, a.contact, a.zxid))
	}
}
