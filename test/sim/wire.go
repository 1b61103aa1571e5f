package sim

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// wire is one TCP connection between a client's executor and a server. Each
// direction keeps its order; it may stall, and the whole may be cut.
type wire struct {
	w       *world
	x       *executor
	server  *server
	session int64 // ZooKeeper's id, once greeted
	up      way
	down    way
	gone    bool // at the server: nothing is read or written any more
	hung    bool // at the client

	queue []*asked // at the server: requests in the order in which they came

	inbox   []frame // at the client: in the socket's buffer
	reading bool
}

// way is one direction.
type way struct {
	next    int64 // nothing arrives before it
	stalled int64 // until then nothing arrives
}

// forever is longer than any world.
const forever = int64(1) << 60

// arrive is when a message that leaves now gets to the other side.
func (c *wire) arrive(d *way) int64 {
	t := max(d.next, c.w.now+int64(c.w.ens.delay()), d.stalled)
	d.next = t
	return t
}

// frame is one message to the client.
type frame struct {
	greeting *greeting
	pong     bool
	rearmed  bool
	synced   bool // the answer to a probe's sync
	closed   bool // the end of the stream
	watch    zkmem.EventType
	path     string
	reply    *asked
	zxid     int64
}

type greeting struct {
	session int64
	timeout time.Duration
}

// send hands a frame to the client's side.
func (c *wire) send(f frame) {
	if c.gone {
		return
	}
	t := c.arrive(&c.down)
	if t >= forever {
		return
	}
	c.w.at(t, func() {
		if !c.hung {
			c.inbox = append(c.inbox, f)
			c.x.readable(c)
		}
	})
}

// hangUp is the server's end of a connection.
func (c *wire) hangUp() {
	if c.gone {
		return
	}
	c.send(frame{closed: true})
	c.gone = true
	c.queue = nil
	c.server.watches.Drop(c)
	c.server.wires = slices.DeleteFunc(c.server.wires, func(o *wire) bool { return o == c })
}

// cutOff is hangUp, for a fault.
func (c *wire) cutOff() bool {
	c.hangUp()
	return true
}

// leave is the client's end; the server hears of it later, or never.
func (c *wire) leave() {
	if c.hung {
		return
	}
	c.hung = true
	t := c.arrive(&c.up)
	if t >= forever {
		t = c.w.now + 3*int64(c.w.Timeout) // keep-alive
	}
	c.w.at(t, c.hangUp)
}

// submit carries something to the server.
func (c *wire) submit(do func()) {
	t := c.arrive(&c.up)
	if t >= forever {
		return
	}
	c.w.at(t, func() {
		c.server.runs(func() {
			if !c.gone {
				do()
			}
		})
	})
}

// asked is one request, from the executor to its reply.
type asked struct {
	id      events.ID
	req     events.Request
	wire    *wire
	sent    int64
	contact int64

	told    func(*asked)   // of the door's own requests, which no machine awaits; may be nil
	guard   *guard         // of the door's own writes, which no machine awaits
	feigned events.Request // planted: what is sent in place of it

	// At the server.
	done   bool
	read   func() // of a request that the server answers by itself
	result zkmem.Result
	zxid   int64

	// The answer.
	code     events.Code
	text     string
	stat     *events.Stat
	children []string
	path     string
	data     []byte
}

// answer is the outcome of a write or a sync, which leaves behind everything
// that was asked before it.
func (a *asked) answer(r zkmem.Result, zxid int64) {
	a.done, a.result, a.zxid = true, r, zxid
	a.wire.drain()
}

// drain answers what stands first in line, in order.
func (c *wire) drain() {
	for len(c.queue) > 0 && !c.gone {
		a := c.queue[0]
		if a.read != nil && !a.done {
			a.done = true
			a.read()
		}
		if !a.done {
			return
		}
		c.queue = c.queue[1:]
		c.send(frame{reply: a, zxid: a.zxid})
	}
}
