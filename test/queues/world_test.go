package queues

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const queuePath = "/q"

// epoch is the leader's clock at the beginning, in milliseconds.
const epoch = 1_700_000_000_000

// world is one run. What happens next is drawn by its dice.
type world struct {
	*rand.Rand
	seed     int64
	kind     machines.ItemKind
	once     bool
	lonely   bool // one consumer, nothing fails: the order can be asked for
	calm     bool
	tampered bool
	failing  int // of twelve tries so many fail
	now      int64
	truth    *zkmem.Tree
	history  []zkmem.Txn
	clients  []*client
	lastID   int64
	plant    *plant
	checks
}

// client is one process with its loop, at one server.
type client struct {
	w        *world
	name     string
	engine   *engine.Engine
	offset   int64
	dead     bool
	number   int64 // of the session
	zkid     int64
	attached bool
	over     bool // the session, at the servers
	told     bool // that it is
	view     *zkmem.Tree
	applied  int
	watches  map[string]bool // on children
	pending  []asked
	inbox    []events.Envelope
	timers   []timer
	command  uint64
	payloads map[uint64]string
	last     uint64
	works    map[events.ID]*work
	kept     map[events.ID][]byte
	users    []events.ID
}

type asked struct {
	from events.ID
	r    events.Request
	sent int64
}

type timer struct {
	machine events.ID
	number  uint64
	at      int64
}

// work is an item in the hands of a handler.
type work struct {
	c         *client
	machine   events.ID
	item      string
	number    uint64
	session   int64
	withdrawn bool
}

func newWorld(seed int64, p *plant) *world {
	w := &world{Rand: rand.New(rand.NewPCG(uint64(seed), 77)), seed: seed, truth: zkmem.NewTree(), plant: p, now: int64(time.Second)}
	w.kind = []machines.ItemKind{machines.FIFO, machines.ByPriority, machines.ByDue, machines.ByID}[w.IntN(4)]
	w.failing = []int{1, 4, 11}[w.IntN(3)]
	w.once, w.lonely = w.IntN(3) == 0, w.IntN(4) == 0
	w.checks = newChecks(w)
	for i := range 2 + w.IntN(2) {
		c := &client{w: w, name: fmt.Sprint("c", i), offset: w.Int64N(int64(time.Hour)), view: zkmem.NewTree(), watches: map[string]bool{},
			payloads: map[uint64]string{}, works: map[events.ID]*work{}, kept: map[events.ID][]byte{}, engine: engine.New(true, machines.SessionRecipe, machines.ProducerRecipe, machines.ConsumerRecipe)}
		w.clients = append(w.clients, c)
		c.open(events.SessionMachine, "session", nil)
		c.ask(events.SessionMachine, events.CommandStart, events.Event{})
		options := map[string]string{"kind": string(w.kind), "once": fmt.Sprint(w.once), "retry": "bounded/-1/50ms/1s", "tries": fmt.Sprint(1 + w.IntN(3)), "backoff": "bounded/-1/100ms/2s", "refresh": "3"}
		if w.IntN(4) == 0 && !w.lonely {
			options["bound"], options["waits"] = "4", fmt.Sprint(w.IntN(2) == 0)
		}
		for k := range 1 + w.IntN(2) {
			c.open(events.ID(fmt.Sprintf("producer-%d", k)), "producer", options)
		}
		for k := range 1 + w.IntN(2) {
			if id := events.ID(fmt.Sprintf("consumer-%d", k)); !w.lonely || i == 0 && k == 0 {
				c.open(id, "consumer", options)
			}
		}
	}
	return w
}

func (c *client) open(id events.ID, recipe string, options map[string]string) {
	path := queuePath
	if recipe == "session" {
		path = ""
	} else {
		c.users = append(c.users, id)
	}
	c.feed(events.Envelope{To: id, Event: events.Event{Kind: events.CommandOpen, Recipe: recipe, Path: path, Seed: fmt.Sprintf("%d%s%s", c.w.seed, c.name, id), Options: options}})
}

func (c *client) ask(id events.ID, kind events.Kind, ev events.Event) uint64 {
	c.command++
	ev.Kind, ev.Request = kind, c.command
	c.w.checks.begun(c, id, ev)
	c.post(id, ev)
	return c.command
}

func (c *client) post(id events.ID, ev events.Event) {
	if c.w.plant != nil && c.w.plant.posted != nil && !c.w.plant.posted(c, id, &ev) {
		return
	}
	c.inbox = append(c.inbox, events.Envelope{To: id, Event: ev})
}

func (c *client) tell(ev events.Event) {
	ev.Session = c.number
	c.post(events.SessionMachine, ev)
}

func (c *client) clock() int64 { return c.w.now + c.offset }

// feed has the engine take one event, and performs what comes of it.
func (c *client) feed(env events.Envelope) {
	env.Event.At = c.clock()
	for _, a := range slices.Clone(c.engine.Step(env)) {
		switch e := a.Effect.(type) {
		case events.SetTimer:
			c.timers = append(c.timers, timer{a.From, e.Request, c.clock() + int64(e.After)})
		case events.StopTimer:
			c.timers = slices.DeleteFunc(c.timers, func(t timer) bool { return t.machine == a.From && t.number == e.Request })
		case events.Connect:
			c.number, c.over, c.told, c.zkid = e.Session, true, false, 0
		case events.CloseSession:
			c.w.expire(c)
			c.attached = false
			c.tell(events.Event{Kind: events.ConnectionClosed})
		case events.Notify:
			c.notice(a.From, e)
		case events.Answer:
			c.w.checks.answered(c, e)
		case events.Request:
			c.submit(a.From, e)
		}
	}
	c.w.checks.records(c)
}

func (c *client) notice(id events.ID, n events.Notify) {
	switch n.What {
	case events.Delivered:
		c.works[id] = &work{c, id, string(c.kept[id]), n.Work, c.zkid, false}
		c.w.checks.delivered(c.works[id], n)
	case events.Withdrawn:
		if one := c.works[id]; one != nil { // it may have returned just now
			one.withdrawn = true
		}
	case events.Failed:
		c.w.checks.failed(n)
	}
}

func (c *client) submit(id events.ID, r events.Request) {
	if c.w.plant != nil && c.w.plant.sent != nil {
		r = c.w.plant.sent(c, id, r)
	}
	a := asked{id, r, c.clock()}
	if !c.attached || r.Header().Session != c.number {
		c.reply(a, events.Event{Code: events.NotSent})
		return
	}
	c.pending = append(c.pending, a)
}

// reply posts the one answer to a request.
func (c *client) reply(a asked, ev events.Event) {
	h := a.r.Header()
	ev.Request, ev.Session, ev.SentAt = h.Request, h.Session, a.sent
	switch r := a.r.(type) {
	case events.Create:
		ev.Kind, ev.Path = events.ReplyCreate, cmp.Or(ev.Path, r.Path)
	case events.Delete:
		ev.Kind, ev.Path = events.ReplyDelete, r.Path
	case events.Get:
		ev.Kind, ev.Path = events.ReplyStat, r.Path
		if h.Keep {
			c.kept[a.from], ev.Data = ev.Data, nil
		}
	case events.Exists:
		ev.Kind, ev.Path = events.ReplyStat, r.Path
	case events.Children:
		ev.Kind, ev.Path = events.ReplyChildren, r.Path
	case events.Sync:
		ev.Kind, ev.Path = events.ReplySync, r.Path
	default:
		ev.Kind = events.ReplyMulti
	}
	c.post(a.from, ev)
}

// commit carries an operation out.
func (w *world) commit(session int64, op zkmem.Op) (zkmem.Txn, zkmem.Result) {
	txn := w.truth.Prepare(zkmem.Caller{Session: session}, op, int64(len(w.history)+1), epoch+w.now/int64(time.Millisecond))
	result, _ := w.truth.Apply(txn)
	w.history = append(w.history, txn)
	w.checks.committed(txn)
	return txn, result
}

// learn has the client's server apply so many transactions more; -1: all.
func (c *client) learn(n int) {
	for ; n != 0 && c.applied < len(c.w.history); n-- {
		_, told := c.view.Apply(c.w.history[c.applied])
		c.applied++
		for _, t := range told {
			kind := events.WatchChildren
			if t.Type == zkmem.NodeDeleted {
				kind = events.WatchDeleted
			}
			if t.Type != zkmem.NodeChildrenChanged && t.Type != zkmem.NodeDeleted || !c.watches[t.Path] || !c.attached {
				continue
			}
			delete(c.watches, t.Path)
			for _, id := range c.users {
				if strings.HasPrefix(string(id), "consumer") {
					c.post(id, events.Event{Kind: kind, Session: c.number, Path: t.Path})
				}
			}
		}
	}
}

// serve answers a request, or carries it out without a word.
func (c *client) serve(a asked, silent bool) {
	var ev events.Event
	code := func(err error) events.Code {
		names := map[zkmem.Code]events.Code{zkmem.NoNode: events.NoNode, zkmem.NodeExists: events.NodeExists, zkmem.BadVersion: events.BadVersion}
		if err == nil {
			return events.OK
		}
		if e, ok := err.(zkmem.Code); ok && e == 0 {
			return events.OK
		} else if known := names[e]; ok && known != "" {
			return known
		}
		return events.ServerError
	}
	switch r := a.r.(type) {
	case events.Create, events.Delete, events.Multi:
		txn, result := c.w.commit(c.zkid, c.operation(a.from, r))
		c.learn(-1)
		ev = events.Event{Code: code(result.Err), Zxid: txn.Zxid, Path: result.Path}
		for i, sub := range result.Results {
			if m, ok := r.(events.Multi); ok && sub.Err == result.Err && ev.Code != events.OK && ev.Path == "" {
				ev.Path = m.Ops[i].Path
			}
			if ev.Code == events.OK && sub.Stat.Mtime != 0 {
				ev.Stat = &events.Stat{Mtime: sub.Stat.Mtime, Version: sub.Stat.Version}
			}
		}
	case events.Sync:
		c.learn(-1)
	case events.Get:
		data, stat, err := c.view.Get(r.Path)
		ev = events.Event{Code: code(err), Data: data, Stat: &events.Stat{Version: stat.Version, EphemeralOwner: stat.EphemeralOwner}}
	case events.Exists:
		_, stat, err := c.view.Get(r.Path)
		ev = events.Event{Code: code(err), Stat: &events.Stat{NumChildren: stat.NumChildren}}
	case events.Children:
		names, _, err := c.view.Children(r.Path)
		ev = events.Event{Code: code(err), Children: names}
		c.watches[r.Path] = c.watches[r.Path] || r.Watch && err == nil
	}
	if !silent {
		c.reply(a, ev)
	}
}

// operation is what the server is asked for.
func (c *client) operation(id events.ID, r events.Request) zkmem.Op {
	modes := map[events.Mode]zkmem.Mode{events.Ephemeral: zkmem.Ephemeral, events.PersistentSequential: zkmem.PersistentSequential}
	data := func(own []byte, payload uint64) []byte {
		switch {
		case payload == 0:
			return own
		case strings.HasPrefix(string(id), "consumer"):
			return c.kept[id]
		}
		return []byte(c.payloads[payload])
	}
	switch r := r.(type) {
	case events.Create:
		return zkmem.Op{Code: zkmem.OpCreate, Path: r.Path, Data: data(r.Data, r.Payload), Mode: modes[r.Mode], ACL: zkmem.OpenACL()}
	case events.Delete:
		return zkmem.Op{Code: zkmem.OpDelete, Path: r.Path, Version: zkmem.AnyVersion}
	case events.Multi:
		op := zkmem.Op{Code: zkmem.OpMulti}
		codes := map[string]zkmem.OpCode{"check": zkmem.OpCheck, "delete": zkmem.OpDelete, "set": zkmem.OpSetData, "create": zkmem.OpCreate}
		for _, o := range r.Ops {
			op.Ops = append(op.Ops, zkmem.Op{Code: codes[o.Verb], Path: o.Path, Data: data(o.Data, o.Payload), Mode: modes[o.Mode], Version: o.Version, ACL: zkmem.OpenACL()})
		}
		return op
	}
	return zkmem.Op{}
}
