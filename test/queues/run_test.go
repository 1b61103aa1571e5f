package queues

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// run plays a world to its end and says what was broken.
func run(seed int64, p *plant) []string {
	w := newWorld(seed, p)
	if w.lonely { // all is put before the one consumer begins
		w.calm = true
		for range 6 {
			w.put(w.clients[w.IntN(len(w.clients))])
			w.play(30)
		}
		w.settle()
	}
	for _, c := range w.clients {
		c.startAll()
	}
	for range 500 {
		w.play(1)
	}
	w.calm = true
	w.settle()
	w.checks.atRest()
	w.farewell()
	return w.broken
}

func (c *client) startAll() {
	for _, id := range c.users {
		if strings.HasPrefix(string(id), "consumer") {
			c.ask(id, events.CommandStart, events.Event{})
		}
	}
}

// play lets so many things happen.
func (w *world) play(times int) {
	for range times {
		if len(w.broken) > 0 {
			return
		}
		c := w.clients[w.IntN(len(w.clients))]
		switch n := w.IntN(44); {
		case n >= 40 && w.calm || n >= 40 && w.IntN(4) > 0:
		case n == 40:
			c.closeOne()
		case n == 41 && c.command > 0:
			c.post(c.users[w.IntN(len(c.users))], events.Event{Kind: events.CommandCancel, Work: c.command - w.Uint64N(min(c.command, 3))})
		case n >= 42:
			w.operate()
		case n < 12:
			c.take()
		case n < 22:
			c.answer()
		case n < 25:
			c.learn(1 + w.IntN(3))
		case n < 28:
			w.ring()
		case n < 31:
			c.work(w.IntN(12) >= w.failing)
		case n < 33:
			c.connect()
		case n < 36 && !w.calm && !w.lonely:
			w.put(c)
		case n == 36 && !w.calm:
			c.cut()
		case n == 37 && !w.calm && w.IntN(3) == 0:
			w.expire(c)
		case n == 38 && !w.calm && w.IntN(12) == 0 && w.alive() > 1 && !w.lonely && c != w.clients[0]:
			c.die()
		case n == 39:
			w.now += w.Int64N(int64(300 * time.Millisecond))
		}
	}
}

func (w *world) alive() (n int) {
	for _, c := range w.clients {
		if !c.dead {
			n++
		}
	}
	return n
}

// put asks a producer for one put.
func (w *world) put(c *client) {
	id := c.users[w.IntN(len(c.users))]
	if c.dead || !strings.HasPrefix(string(id), "producer") {
		return
	}
	items := 1 + w.IntN(3)
	options := map[string]string{"items": fmt.Sprint(items), "bytes": "9"}
	switch w.kind {
	case machines.ByPriority:
		options["priority"] = fmt.Sprint(w.IntN(3) - 1)
	case machines.ByID:
		options["id"] = "a/b"
	case machines.ByDue:
		options["delay"] = (time.Duration(w.IntN(3000)) * time.Millisecond).String()
		if w.IntN(2) == 0 {
			delete(options, "delay")
			options["due"] = fmt.Sprint(epoch + w.now/int64(time.Millisecond) + w.Int64N(3000) - 1000)
		}
	}
	first := c.last + 1
	var all []string
	for range items {
		c.last++
		c.payloads[c.last] = fmt.Sprintf("%s/%d", c.name, c.last)
		all = append(all, c.payloads[c.last])
	}
	n := c.ask(id, events.CommandPut, events.Event{Work: first, Options: options})
	w.checks.wanted(c, n, all, options["delay"])
}

// closeOne ends one handle, but never the last consumer.
func (c *client) closeOne() {
	id := c.users[c.w.IntN(len(c.users))]
	if c.dead || c == c.w.clients[0] || c.w.clients[0].dead || c.w.lonely {
		return
	}
	c.ask(id, events.CommandClose, events.Event{})
}

// operate is what somebody does by hand: markers are deleted and written, empty
// directories deleted.
func (w *world) operate() {
	dirs := []string{"-producers", "-locks", "-dead"}
	dir := queuePath + dirs[w.IntN(len(dirs))]
	names, _, err := w.truth.Children(dir)
	switch {
	case err != nil:
	case len(names) == 0:
		w.commit(0, zkmem.Op{Code: zkmem.OpDelete, Path: dir, Version: zkmem.AnyVersion})
	case dir == queuePath+"-producers" && w.IntN(2) == 0:
		w.tampered = true // a marker that somebody meddled with may be left
		w.commit(0, zkmem.Op{Code: zkmem.OpDelete, Path: dir + "/" + names[w.IntN(len(names))], Version: zkmem.AnyVersion})
	case dir == queuePath+"-producers":
		w.tampered = true
		w.commit(0, zkmem.Op{Code: zkmem.OpSetData, Path: dir + "/" + names[w.IntN(len(names))], Version: zkmem.AnyVersion})
	}
}

// take has the loop take one event out of its inbox.
func (c *client) take() {
	if c.dead || len(c.inbox) == 0 {
		return
	}
	env := c.inbox[0]
	c.inbox = c.inbox[1:]
	c.feed(env)
}

// answer has the server deal with the oldest request.
func (c *client) answer() {
	if c.dead || !c.attached || len(c.pending) == 0 {
		return
	}
	a := c.pending[0]
	c.pending = c.pending[1:]
	if !c.w.calm && c.w.IntN(15) == 0 {
		code := []events.Code{events.Throttled, events.NoAuth}[c.w.IntN(2)]
		c.w.tampered = c.w.tampered || code == events.NoAuth // a marker that may not be read or deleted stays
		ev := events.Event{Code: code}
		if m, ok := a.r.(events.Multi); ok {
			ev.Path = m.Ops[c.w.IntN(len(m.Ops))].Path
		}
		c.reply(a, ev)
		return
	}
	c.serve(a, false)
}

// cut ends the connection: some of what was sent is carried out all the same.
func (c *client) cut() {
	if c.dead || !c.attached {
		return
	}
	c.tell(events.Event{Kind: events.ConnectionSuspended, Code: events.ConnectionLoss})
	carried := c.w.IntN(len(c.pending) + 1)
	pending := c.pending
	c.pending, c.attached = nil, false
	for i, a := range pending {
		if i < carried && !c.over {
			c.serve(a, true)
		}
		c.reply(a, events.Event{Code: events.ConnectionLoss})
	}
}

// expire ends a client's session at the servers.
func (w *world) expire(c *client) {
	if c.zkid == 0 || c.over {
		return
	}
	c.over = true
	w.commit(c.zkid, zkmem.Op{Code: zkmem.OpCloseSession})
	if c.attached {
		c.cut()
	}
}

// connect attaches a client, or tells it that its session is over.
func (c *client) connect() {
	if c.dead || c.attached || c.number == 0 || c.told {
		return
	}
	if c.over && c.zkid != 0 {
		c.told = true
		clear(c.watches)
		c.tell(events.Event{Kind: events.ConnectionLost, Code: events.SessionExpired})
		return
	}
	if c.zkid == 0 {
		c.w.lastID++
		c.zkid, c.over = c.w.lastID, false
		c.w.commit(c.zkid, zkmem.Op{Code: zkmem.OpCreateSession, Number: 10_000})
	}
	// Whatever its server has not told it, it is told now: its watches are set again.
	c.attached = true
	c.tell(events.Event{Kind: events.ConnectionAttached, SessionID: c.zkid, Timeout: int64(10 * time.Second), Server: "s"})
	c.learn(c.w.IntN(3))
}

func (c *client) die() {
	if c.dead {
		return
	}
	if c.attached {
		c.cut()
	}
	c.dead = true
	c.inbox, c.timers, c.pending = nil, nil, nil
	c.w.expire(c)
}

// work has one handler return.
func (c *client) work(well bool) {
	if c.dead {
		return
	}
	for _, id := range c.users {
		one := c.works[id]
		if one == nil {
			continue
		}
		delete(c.works, id)
		text := ""
		if !well && !c.w.calm && !c.w.lonely && !c.w.once {
			text = "broken"
		}
		c.w.checks.finished(one, text)
		c.post(id, events.Event{Kind: events.WorkReturned, Work: one.number, Text: text})
		return
	}
}

// ring moves on to the next timer.
func (w *world) ring() {
	var first *client
	at := int64(1<<63 - 1)
	for _, c := range w.clients {
		for _, t := range c.timers {
			if due := t.at - c.offset; due < at {
				at, first = due, c
			}
		}
	}
	if first == nil {
		return
	}
	w.now = max(w.now, at)
	for i, t := range first.timers {
		if t.at-first.offset == at {
			first.timers = slices.Delete(first.timers, i, i+1)
			first.post(t.machine, events.Event{Kind: events.TimerFired, Request: t.number})
			return
		}
	}
}

// settle lets everything run its course.
func (w *world) settle() {
	for range 4000 {
		busy := false
		for _, c := range w.clients {
			busy = busy || !c.dead && (len(c.inbox)+len(c.pending)+len(c.works) > 0 || !c.attached && !c.told)
			for range 3 {
				c.take()
			}
			c.answer()
			c.learn(-1)
			c.connect()
			c.work(true)
		}
		if !busy {
			if w.checks.done() {
				return
			}
			w.ring()
		}
	}
}

// farewell closes everything, and demands that nothing is left.
func (w *world) farewell() {
	for _, c := range w.clients {
		if c.dead {
			continue
		}
		for _, id := range c.users {
			c.ask(id, events.CommandClose, events.Event{})
		}
	}
	w.closing = true
	w.settle()
	w.checks.nothingLeft()
}
