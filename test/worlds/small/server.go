package small

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// lane returns how urgent a request is: it goes past what waits in higher ones.
func lane(r events.Request) int {
	if r.Header().Urgent {
		return 0
	}
	if _, deletes := r.(events.Delete); deletes {
		return 1
	}
	return 2
}

// reads reports whether a request only reads.
func reads(r events.Request) bool {
	switch r.(type) {
	case events.Get, events.Exists, events.Children:
		return true
	}
	return false
}

// reads reports whether a server answers a request by itself.
func (w *world) reads(r events.Request) bool {
	_, check := r.(events.Multi)
	return reads(r) || check && w.Plant != nil && w.Plant.Reads
}

// mayServe reports whether a request can be the next to be served.
func (c *client) mayServe(w *world, i int) bool {
	r := c.pending[i].effect
	if !c.attached || c.link == mute || c.link == cutOff && !w.reads(r) {
		return false
	}
	for _, before := range c.pending[:i] {
		if lane(before.effect) <= lane(r) {
			return false
		}
	}
	return true
}

// servable returns the first request that can be served; -1: none.
func (c *client) servable(w *world) int {
	for i := range c.pending {
		if c.mayServe(w, i) {
			return i
		}
	}
	return -1
}

// serve has a client's server deal with one of its requests, or refuse it.
func (w *world) serve(id, i int, refused bool) {
	c := w.touch(id)
	r := c.pending[i]
	c.pending = slices.Delete(c.pending, i, i+1)
	if c.link != cutOff {
		c.heard = w.now
	}
	if !w.reads(r.effect) {
		c.catchUp(w) // a server has everything that came before what it acknowledges
	}
	view := c.view
	if view == nil {
		view = &w.tree
	}
	at := &w.tree
	if w.reads(r.effect) {
		at = view
	}
	ev := events.Event{Code: events.NoAuth}
	if !refused && !c.mayNot(view, r.effect) {
		ev = w.carryOut(at, c.zkid, r.effect)
		c = w.clients[id]
	}
	if view = c.view; view == nil {
		view = &w.tree
	}
	m := reply(r, ev)
	m.zxid = view.zxid
	if key := wants(r.effect, ev.Code); key != "" && !slices.Contains(c.watches, key) {
		c.watches = append(c.watches, key)
	}
	c.inbox = append(c.inbox, m)
}

// carryOut has a server carry out a request. A client's own watch event comes before the
// reply.
func (w *world) carryOut(at *tree, session int64, r events.Request) events.Event {
	ev, told := at.do(session, w.asChecked(r))
	w.fire(told)
	return ev
}

// asChecked returns a request as a server takes it: planted, it only looks whether a node
// that it is to check is there.
func (w *world) asChecked(r events.Request) events.Request {
	if check, ok := r.(events.Multi); ok && w.reads(r) {
		return events.Exists{Path: check.Ops[0].Path}
	}
	return r
}

// catchUp is a server that lags and learns of everything.
func (c *client) catchUp(w *world) {
	if c.view == nil {
		return
	}
	old := c.view
	c.view = nil
	for _, key := range old.inOrder(c.watches) {
		if kind, path := w.tree.since(key, old.zxid); kind != "" {
			c.notice(w, kind, path)
		}
	}
}

// attach connects a client: to a server that is up to date, or to one that lags.
// Watches are set again, in either order.
func (w *world) attach(id int, backwards, lags bool) {
	c := w.touch(id)
	switch {
	case c.zkid == 0:
		w.ids++
		c.zkid, c.alive = w.ids, true
		w.tree.server.Open(c.zkid)
	case !c.alive:
		c.over, c.armed = true, nil
		c.post(events.Event{Kind: events.ConnectionLost, Code: events.SessionExpired})
		return
	}
	c.attached, c.link, c.heard, c.contact, c.watches = true, sound, w.now, w.now, nil
	view := &w.tree
	if lags {
		c.view, view = c.spare, c.spare
	}
	c.spare = nil
	c.post(events.Event{Kind: events.ConnectionAttached, SessionID: c.zkid, Timeout: int64(timeout)})
	armed := slices.Clone(c.armed)
	if backwards {
		slices.Reverse(armed)
	}
	for _, key := range armed {
		if kind, path := view.since(key, c.seen); kind != "" {
			c.notice(w, kind, path)
		} else {
			c.watches = append(c.watches, key)
		}
	}
}

// firm returns how many messages no cut can take back: the executor made them.
func (c *client) firm() int {
	for i := len(c.inbox) - 1; i >= 0; i-- {
		if c.inbox[i].local {
			return i + 1
		}
	}
	return 0
}

// cut ends a connection. What the executor has read of it stays; every other
// answer is lost, and told to be. Unsent: what had not been served never left.
func (c *client) cut(w *world, keep int, unsent bool) {
	lost := slices.Clone(c.inbox[keep:])
	c.inbox = c.inbox[:keep]
	for i, m := range c.inbox {
		if !m.local {
			c.read(m)
			c.inbox[i].local, c.inbox[i].asked = true, nil
		}
	}
	c.attached, c.link, c.view, c.watches = false, sound, nil, nil
	c.post(events.Event{Kind: events.ConnectionSuspended, Code: events.ConnectionLoss})
	for _, m := range lost {
		if m.asked != nil {
			c.refuse(*m.asked, events.ConnectionLoss)
		}
	}
	code := events.ConnectionLoss
	if unsent {
		code = events.NotSent
	}
	pending := c.pending
	c.pending = nil
	for _, r := range pending {
		if _, create := r.effect.(events.Create); create && w.Plant != nil && w.Plant.Queues {
			c.pending = append(c.pending, r)
			continue
		}
		c.refuse(r, code)
	}
}

// end is the end of a session at the ensemble. Its nodes go with it.
func (w *world) end(id int) {
	c := w.touch(id)
	c.alive = false
	w.fire(w.tree.end(c.zkid))
	if c = w.clients[id]; c.attached && c.link != cutOff {
		w.touch(id).cut(w, len(c.inbox), false)
	}
}

// rob has others take nodes away: their participants believe until they hear of
// it.
func (w *world) rob(gone ...node) {
	for _, n := range gone {
		c := w.touch(n.who)
		if w.Shards > 0 {
			c.robMember(dir + "/" + n.name)
			continue
		}
		c.robbed = dir + "/" + n.name
		c.excused = c.leads && c.path == c.robbed
	}
}
