package zkio

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/invariants"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// session is one ZooKeeper session: one keeper, at most one wire at a time.
//
// mu orders everything: all events are posted under it, so that the inbox has them in the
// order in which they happened here.
type session struct {
	a      *Adapter
	number int64
	keeper *keeper
	ctx    context.Context    // ends with the session: dial stops then
	cancel context.CancelFunc // ends ctx

	mu       guard
	over     bool  // nothing is dialled, sent or posted any longer
	closing  bool  // the close request was sent
	quitting bool  // the keeper is being closed
	dialled  *wire // the newest connection, in its handshake or later
	wire     *wire // the attached connection; nil while suspended

	lanes   lanes
	parked  []*call         // suspected: they wait behind all others
	pending map[int32]*call // by xid: written, not answered
	last    *call           // submitted, sent or answered last: what a broken invariant names
	order   uint64
	watches watches
	callers callers

	confirmations events.Confirmations

	lastZxid   int64
	past       past
	rejections rejections
	timeout    time.Duration // the shortest that was granted: see paced
	pauses     pauses
	refused    refusals

	watchdog     *time.Timer
	watchedSince int64 // when it was started last

	stalled chan struct{} // closed when the loop runs again; nil unless it stands still
}

// openSession starts a session. It dials the first connection immediately.
func openSession(a *Adapter, number int64) *session {
	s := &session{
		a: a, number: number, past: past{seen: a.history.seen.Load()},
		lanes:   lanes{window: a.cfg.Window},
		pending: map[int32]*call{},
		callers: callers{},
		watches: watches{trees: treeWatches{}},
		timeout: a.cfg.Timeout,
		refused: refusals{},
	}
	if _, checked := invariants.Inbox(); checked {
		s.mu.broken, s.mu.name = s.brokenInvariant, "session "+itoa(number)+" of "+a.String()
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.mu.Lock() // dial waits for it
	defer s.mu.Unlock()
	s.keeper = keep(s.ctx, a.cfg.Timeout, s.dial)
	a.work.Add(1) // quit calls Done
	s.watchedSince = a.cfg.Now()
	a.hosts.opened(s.watchedSince, a.cfg.Timeout)
	s.watchdog = time.AfterFunc(s.watchdogTimeout(), s.watchdogFired)
	return s
}

// submit takes a call. If the call cannot be sent on the present connection, it is answered
// immediately, so that no call of one connection is sent on the next.
func (s *session) submit(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order++
	c.order, s.last = s.order, c
	switch {
	case s.over:
		s.answer(c, c.event(events.SessionExpired, "the session has ended"), Kept{})
	case s.closing:
		s.answer(c, c.event(events.NotSent, "the session is being closed"), Kept{})
	case s.wire == nil:
		s.answer(c, c.event(events.NotSent, "not connected"), Kept{})
	default:
		s.callers.add(c)
		s.queue(c)
	}
}

// advance starts the writer if there are calls that may be sent now. s.mu is held.
func (s *session) advance() {
	if s.wire != nil && !s.closing && s.lanes.ready() {
		s.startWriter(s.wire) // takeBatch checks whether the loop stands still
	}
}

// noteFrame notes that a ping or the close is written now.
func (s *session) noteFrame(w *wire, frame []byte) {
	b := jute.Decoder{Rest: frame[jute.LengthSize:]}
	xid, op := b.Int32(), b.Int32()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch op {
	case opPing:
		w.contacts.pinged(s.a.cfg.Now())
	case opClose:
		w.closeXid = xid
	}
}

// noteSent notes that a call's frame is written now, with this xid. s.mu is held.
func (s *session) noteSent(w *wire, c *call, xid int32, now int64) {
	s.replaceTreeWatch(w, c)
	s.watches.subscribe(c)
	s.pending[xid], s.last = c, c
	if featureOf(c.request) != noFeature {
		w.optional = append(w.optional, xid)
	}
	c.sentAt, c.contact = now, w.contacts.before(now-int64(s.a.cfg.Lag()))
}

// receive processes one frame from the server and returns what the keeper is to read of it, nil
// for nothing. An error ends the connection.
func (s *session) receive(w *wire, a answer) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wire != w {
		return nil, errOver
	}
	s.pauses.heard = s.a.cfg.Now() // once for a frame: to read the clock is a system call
	out, err := s.process(w, a)
	if err == nil && s.wire == w {
		err = s.overdue(w, s.pauses.heard)
	}
	return out, err
}

// process gives an answer's frame to its call, and posts watch events. It returns the stub
// that the keeper reads in place of the answer to its close, nil for any other frame.
func (s *session) process(w *wire, a answer) ([]byte, error) {
	if a.xid != xidWatchEvent {
		w.noLogin = events.ServerCode(a.code) == events.RequiresSASL
	}
	switch {
	case a.xid == xidWatchEvent:
		w.separates = w.separates || a.zxid > 0
		return nil, s.fire(a)
	case a.xid == xidPing:
		w.contacts.ponged(s.pauses.heard)
		return nil, nil
	case a.xid == w.closeXid && a.xid != xidNone && !w.noLogin:
		s.closed(events.OK, "")
		return stub(a.xid), nil
	}
	c := s.pending[a.xid]
	if c == nil {
		return nil, nil
	}
	e, kept, ok := c.reply(&s.a.coding, a)
	if !ok {
		return nil, errProtocol
	}
	if e.Kind == events.ReplyCreate && e.Code == events.NoNode && s.a.cfg.Chroot != "" {
		e.Text = s.a.full(c.path) + ": the chroot " + s.a.cfg.Chroot + " has to exist already: create it first"
	}
	delete(s.pending, a.xid)
	s.a.suspects.answered(c)
	if f := featureOf(c.request); f != noFeature {
		e.Code, e.Text = s.a.known.answered(f, e.Code, e.Text)
	}
	s.answerIgnored(a.xid)
	w.contacts.note(c.sentAt, s.pauses.heard)
	s.lastZxid = max(s.lastZxid, a.zxid)
	s.noteZxid(a)
	s.answer(c, e, kept)
	s.advance()
	return nil, nil
}

// fire posts a watch event to all machines that wait for it.
func (s *session) fire(a answer) error {
	number := a.body.Int32()
	a.body.Int32() // the state of the connection
	path := s.a.short(a.body.Text())
	if a.body.Bad {
		return errProtocol
	}
	kind := watchEvent(number)
	if kind == "" {
		return nil
	}
	for _, id := range s.watches.fire(kind, path) {
		s.a.post(id, events.Event{Kind: kind, Session: s.number, Path: path, Zxid: max(a.zxid, 0)})
	}
	return nil
}

// overdue ends a connection whose server goes on sending, but leaves a request or a ping
// without an answer for a whole session timeout. It checks at most 64 times in a timeout,
// however many frames come.
func (s *session) overdue(w *wire, now int64) error {
	if now-w.checkedAt < int64(s.timeout)/64 {
		return nil
	}
	w.checkedAt = now
	for _, c := range s.pending {
		if now-c.sentAt > int64(s.timeout) {
			return refusal{events.ConnectionLoss, "no answer to a request for a whole session timeout"}
		}
	}
	if sent, waits := w.contacts.waiting(); waits && now-sent > int64(s.timeout) {
		return refusal{events.ConnectionLoss, "no answer to a ping for a whole session timeout"}
	}
	return nil
}

// attach makes a connection the session's own when its handshake has ended.
func (s *session) attach(w *wire, g connectResponse, paced time.Duration, early []answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return errOver
	}
	s.watchdog.Stop()
	s.wire, s.timeout, s.refused, s.rejections = w, paced, refusals{}, rejections{}
	s.a.known.connected()
	if w.unflagged {
		s.a.known.turnOffAll("the server answers the handshake as ClickHouse Keeper does, " +
			"which may end the session of a client that asks for it")
	}
	w.checkedAt = s.a.cfg.Now()
	s.pauses = pauses{heard: w.checkedAt}
	s.a.signs.request(w.checkedAt)
	s.a.hosts.attached(w.target, w.address, w.checkedAt)
	s.postEvent(events.Event{
		Kind: events.ConnectionAttached, SessionID: g.sessionID, Timeout: int64(g.timeout),
		Server: w.server, Address: remoteAddress(w.Conn), Reattached: w.offeredID != 0,
	})
	for _, a := range early {
		if err := s.fire(a); err != nil {
			return err
		}
	}
	return nil
}

// ended is called once for every wire, when it can be read no longer.
func (s *session) ended(w *wire, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || w.ended {
		return
	}
	w.ended = true
	s.restartWatchdog()
	if s.wire != w {
		s.refuse(w, why)
		return
	}
	if s.closing && w.unflagged && w.closeXid != xidNone && errors.Is(why, errClosed) {
		s.closed(events.OK, "") // this is how ClickHouse Keeper answers the request that closes a session
		return
	}
	text, end := why.Error(), endOf(why)
	if s.pauses.own = s.pauseBehind(why); s.pauses.own != 0 {
		end = events.ConnectionEndOwnPause
		text = events.PauseText(s.pauses.own) + ", and lost its connection to " + w.server
	}
	// after the question that may note a pause: pauseBehindExpiry adds only later ones
	s.rejections.since = s.a.cfg.Now()
	s.a.hosts.detached(s.rejections.since, s.pauses.heard, s.timeout)
	if end == events.ConnectionEndSilent || end == events.ConnectionEndUnanswered {
		s.a.hosts.silent(w.target, w.address, s.rejections.since)
	}
	if errors.Is(why, errLogin) {
		s.refuseWritten()
	}
	s.detach(end, text)
	if s.closing {
		s.closed(events.ConnectionLoss, s.abandonedText(text))
	}
}

// answer gives a call its one reply.
func (s *session) answer(c *call, e events.Event, kept Kept) {
	if c.answered {
		return
	}
	c.answered, s.last = true, c
	if c.started {
		s.lanes.answered(c)
		s.watches.settle(c, e.Code)
	}
	s.callers.done(c)
	s.confirm(c, e)
	if !c.unwanted() {
		c.deliver(e, kept)
	}
}

// withdraw removes a call that still waits and reports whether it did.
func (s *session) withdraw(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.parked, c); i >= 0 {
		s.parked = slices.Delete(s.parked, i, i+1)
		return true
	}
	return s.lanes.withdraw(c)
}

// postEvent posts an event about the connection.
func (s *session) postEvent(e events.Event) {
	e.Session, e.Text = s.number, events.Foreign(e.Text, events.MaxText)
	s.a.post(events.SessionMachine, e)
}

// forget notes that a machine has closed: see Adapter.Forget.
func (s *session) forget(id events.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers.forget(id)
	s.watches.forget(id)
	for _, path := range s.watches.trees.forget(id) {
		s.leave(path)
	}
}

// armed returns the watches that a new connection has to set again.
func (s *session) armed() []setWatchesBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches.batches(s.a.full)
}
