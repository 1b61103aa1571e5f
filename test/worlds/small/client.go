package small

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// link says what is wrong with a connection.
type link int

const (
	sound  link = iota
	deaf        // nothing comes any more from the server, which hears
	mute        // nothing gets to the server any more, which can be heard
	cutOff      // its server has lost the ensemble's leader: it answers reads, and confirms nothing
)

// client is one process with one handle: the real engine, the executor's side of
// its session, and the server's side of its connection.
type client struct {
	id       int
	engine   *engine.Engine
	borrowed bool // the engine is another world's, too: fork it before a step
	timers   []timer
	log      []events.Record
	shape    []item // see canon.go; nil: not known yet

	// The session, as the executor and the ensemble know it.
	number  int64 // 0: none asked for
	over    bool  // the executor is done with it
	zkid    int64 // 0: none given out yet
	alive   bool  // at the ensemble
	heard   int64 // by the ensemble's leader, last
	seen    int64 // the newest zxid that a reply carried
	contact int64 // when the last frame left that was answered well before now
	armed   []string

	// The connection.
	attached bool
	link     link
	paused   bool  // the process stands still
	since    int64 // when it began to, or the link to fail
	pending  []request
	inbox    []message // on the way to the loop, in order
	watches  []string  // at the server
	refused  refusal   // by access rights
	view     *tree     // what the server shows, where it lags
	spare    *tree     // a server that lags, to connect to

	// The handle.
	leads    bool
	path     string
	token    int64
	session  int64
	deadline events.Deadline
	robbed   string // the node that others took away from it
	excused  bool   // it believes in that node
	works    int
	command  uint64
	awaiting uint64
	again    bool        // ask for leadership once more
	terms    []shardTerm // of each shard
}

type timer struct {
	machine events.ID
	number  uint64
	at      int64
	frozen  bool // planted: it comes no nearer
}

type request struct {
	from          events.ID
	effect        events.Request
	sent, contact int64
}

// message is a frame on its way, or an event that the executor made.
type message struct {
	to    events.ID
	event events.Event
	local bool
	asked *request // of a reply
	zxid  int64    // in its header
}

const latch = "latch"

func (c *client) name() string { return string(rune('A' + c.id)) }

func newClient(w *world, id int) *client {
	return &client{id: id, engine: engine.New(w.record, machines.Recipes()...)}
}

// begin has the program open its handle, start it, and ask for leadership.
func (c *client) begin(w *world) {
	session := map[string]string{"tick": "400ms", "rideOut": fmt.Sprint(w.RideOut), "retry": "forever/-1/1s/0s",
		"noJitter": "true"}
	place := map[string]string{"rideOut": fmt.Sprint(w.RideOut), "retry": "forever/-1/1s/0s", "noJitter": "true",
		"oneFlight": fmt.Sprint(!w.Plain)}
	c.feed(w, events.SessionMachine,
		events.Event{Kind: events.CommandOpen, Recipe: "session", Seed: c.name(), Options: session})
	if !w.Plain { // as if an earlier latch of the client had read its node back
		c.feed(w, events.SessionMachine, events.Event{Kind: events.NodeReadBack, Path: dir})
	}
	if w.Shards > 0 {
		c.beginMember(w)
		c.ask(w, events.SessionMachine, events.CommandStart)
		c.ask(w, member, events.CommandStart)
		return
	}
	c.feed(w, latch,
		events.Event{Kind: events.CommandOpen, Recipe: latch, Path: dir, Data: []byte(c.name()), Seed: c.name(),
			Options: place})
	c.ask(w, events.SessionMachine, events.CommandStart)
	c.ask(w, latch, events.CommandStart)
	c.await(w)
}

func (c *client) ask(w *world, id events.ID, kind events.Kind) {
	c.command++
	if kind == events.CommandAwait {
		c.awaiting = c.command
	}
	c.feed(w, id, events.Event{Kind: kind, Request: c.command})
}

// await asks for leadership, unless that was asked or work runs.
func (c *client) await(w *world) {
	if c.awaiting == 0 && c.works == 0 && w.Shards == 0 {
		c.ask(w, latch, events.CommandAwait)
	}
}

// feed has the engine take one event.
func (c *client) feed(w *world, to events.ID, ev events.Event) {
	defer func() {
		if p := recover(); p != nil {
			w.wrong("panic: client %s: %v", c.name(), p)
		}
	}()
	if c.borrowed {
		c.engine, c.borrowed = fork(c.engine), false
	}
	ev.At = w.now
	if w.Plant != nil && w.Plant.Fed != nil && !w.Plant.Fed(c, &ev) {
		return
	}
	out := slices.Clone(c.engine.Step(events.Envelope{To: to, Event: ev}))
	if w.record {
		c.log = append(slices.Clip(c.log), c.engine.Records()...)
		for _, r := range c.engine.Records() {
			w.tell("%s", line(c, r))
		}
	}
	for _, a := range out {
		if w.Plant != nil && w.Plant.Asked != nil {
			if a.Effect = w.Plant.Asked(c, a.Effect); a.Effect == nil {
				continue
			}
		}
		c.perform(w, a)
	}
	if c.again {
		c.again = false
		c.await(w)
	}
}

// perform carries out one effect.
func (c *client) perform(w *world, a engine.Addressed) {
	switch e := a.Effect.(type) {
	case events.SetTimer:
		after := e.After
		if e.Name == "watch own" { // it is far shorter than a unit; other steps may come first
			after = 0
		}
		frozen := w.Plant != nil && w.Plant.Frozen == e.Name
		if w.Shards > 0 {
			after, frozen = ofMember(e, after)
		}
		c.timers = append(c.timers, timer{a.From, e.Request, w.now + int64(after), frozen})
	case events.StopTimer:
		c.timers = slices.DeleteFunc(c.timers, func(t timer) bool {
			return t.machine == a.From && t.number == e.Request
		})
	case events.Deadline:
		c.published(w, e)
	case events.Notify:
		if w.Shards > 0 {
			c.noteShard(w, e)
		} else {
			c.notified(w, e)
		}
	case events.Answer:
		c.answered(e)
	case events.Connect:
		c.number, c.over, c.zkid, c.alive, c.seen, c.armed = e.Session, false, 0, false, 0, nil
	case events.Leave: // only plants make servers refuse what they could carry out, and on all connections
	case events.CloseSession, events.Abandon:
		w.wrong("client %s: nobody asked to close, and it says %s", c.name(), e)
	case events.Request:
		c.submit(w, a.From, e)
	}
}

// submit takes a request in, as zkio does.
func (c *client) submit(w *world, from events.ID, e events.Request) {
	c.mayAsk(w, e)
	r := request{from, e, w.now, c.contact}
	switch {
	case e.Header().Session != c.number || c.over:
		c.refuse(r, events.SessionExpired)
	case !c.attached:
		c.refuse(r, events.NotSent)
	default:
		c.pending = append(c.pending, r)
	}
}

// refuse answers a request on this side.
func (c *client) refuse(r request, code events.Code) {
	m := reply(r, events.Event{Code: code})
	m.local, m.asked = true, nil
	if code != events.ConnectionLoss {
		m.event.SentAt, m.event.Contact = 0, 0
	}
	c.inbox = append(c.inbox, m)
}

func (c *client) post(ev events.Event) {
	ev.Session = c.number
	c.inbox = append(c.inbox, message{to: events.SessionMachine, event: ev, local: true})
}

// reply makes the answer to a request.
func reply(r request, ev events.Event) message {
	h := r.effect.Header()
	ev.Request, ev.Session, ev.SentAt, ev.Contact = h.Request, h.Session, r.sent, r.contact
	path := ""
	switch e := r.effect.(type) {
	case events.Create:
		ev.Kind, path = events.ReplyCreate, e.Path
	case events.Delete:
		ev.Kind, path = events.ReplyDelete, e.Path
	case events.Get:
		ev.Kind, path = events.ReplyStat, e.Path
	case events.Exists:
		ev.Kind, path = events.ReplyStat, e.Path
	case events.Children:
		ev.Kind, path = events.ReplyChildren, e.Path
	case events.Sync:
		ev.Kind, path = events.ReplySync, e.Path
	case events.Multi:
		ev.Kind = events.ReplyMulti
	}
	if ev.Path == "" {
		ev.Path = path
	}
	return message{to: r.from, event: ev, asked: &r}
}

// notice is a watch event on its way.
func (c *client) notice(w *world, kind events.Kind, path string) {
	key := watchKey(kind, path)
	c.watches = slices.DeleteFunc(c.watches, func(k string) bool {
		return k == key || kind == events.WatchDeleted && k == path+"/"
	})
	for _, to := range c.watchers(w, path) {
		c.inbox = append(c.inbox, message{to: to, event: events.Event{Kind: kind, Session: c.number, Path: path}})
	}
}

// watchers returns the machines that watch a path.
func (c *client) watchers(w *world, path string) []events.ID {
	if w.Shards == 0 || !strings.HasPrefix(path, machines.ShardWriters(dir)+"/") {
		return []events.ID{w.subject()}
	}
	return slices.DeleteFunc(c.engine.Machines(), func(id events.ID) bool {
		return !strings.HasPrefix(string(id), latch)
	})
}

// read is what the executor notes when a frame has come.
func (c *client) read(m message) {
	c.seen = max(c.seen, m.zxid)
	if m.asked != nil {
		if key := wants(m.asked.effect, m.event.Code); key != "" && !slices.Contains(c.armed, key) {
			c.armed = append(c.armed, key)
		}
		return
	}
	if !m.local {
		key := watchKey(m.event.Kind, m.event.Path)
		c.armed = slices.DeleteFunc(c.armed, func(k string) bool { return k == key })
	}
}

// wants returns the watch that a request with this answer leaves.
func wants(r events.Request, code events.Code) string {
	ok := code == events.OK
	switch r := r.(type) {
	case events.Get:
		if r.Watch && ok {
			return watchKey("", r.Path)
		}
	case events.Exists:
		switch {
		case r.Watch && ok:
			return watchKey("", r.Path)
		case r.Watch && code == events.NoNode:
			return watchKey(events.WatchCreated, r.Path)
		}
	case events.Children:
		if r.Watch && ok {
			return watchKey(events.WatchChildren, r.Path)
		}
	}
	return ""
}

// due returns the first timer that rings now; -1: none.
func (c *client) due(now int64) int {
	first := -1
	for i, t := range c.timers {
		if t.at <= now && (first < 0 || t.at < c.timers[first].at) {
			first = i
		}
	}
	return first
}

// deliverable reports whether the loop can take the next message out.
func (c *client) deliverable() bool {
	return !c.paused && len(c.inbox) > 0 && (c.link != deaf || c.inbox[0].local)
}
