package world

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Conn is one TCP connection between a client's executor and a server. Each direction
// keeps its order. It may stall, and the connection may be cut.
type Conn struct {
	w            *World
	x            *executor
	server       *Server
	session      int64         // ZooKeeper's id, after the handshake
	timeout      time.Duration // of the session, as the server has granted it
	up           direction
	down         direction
	serverClosed bool // the server reads and writes nothing any more
	clientClosed bool // the client reads and writes nothing any more
	separates    bool // as the client knows by an event: the server keeps watches of different modes apart

	queue     []*Packet // at the server: requests in the order of their arrival
	unclaimed int       // at the server: watches that it has and the client has forgotten

	inbox   []frame // at the client: in the socket's buffer
	reading bool
}

// direction is one direction of a connection.
type direction struct {
	next    int64 // nothing arrives before it
	stalled int64 // until then nothing arrives
}

// Forever is longer than any world.
const Forever = int64(1) << 60

// arrive returns when a message that leaves now gets to the other side.
func (c *Conn) arrive(d *direction) int64 {
	t := max(d.next, c.w.now+int64(c.x.c.dice.delay()), d.stalled)
	d.next = t
	return t
}

// frame is one message to the client.
type frame struct {
	connectResponse *connectResponse
	pong            bool
	watchesSet      bool
	synced          bool // the answer to a probe's sync
	closed          bool // the end of the stream
	watch           zkmem.EventType
	path            string
	reply           *Packet
	zxid            int64
}

type connectResponse struct {
	session int64
	timeout time.Duration
}

// send hands a frame to the client's side.
func (c *Conn) send(f frame) {
	if c.serverClosed {
		return
	}
	t := c.arrive(&c.down)
	if t >= Forever {
		return
	}
	c.w.At(t, func() {
		if !c.clientClosed {
			c.inbox = append(c.inbox, f)
			c.x.readable(c)
		}
	})
}

// closeByServer is the server's end of a connection.
func (c *Conn) closeByServer() {
	if c.serverClosed {
		return
	}
	c.send(frame{closed: true})
	c.serverClosed = true
	c.queue = nil
	c.server.watches.Drop(c)
	c.server.treeWatches.Drop(c)
	c.server.conns = slices.DeleteFunc(c.server.conns, func(o *Conn) bool { return o == c })
}

// closeByClient is the client's end. The server learns of it later, or never.
func (c *Conn) closeByClient() {
	if c.clientClosed {
		return
	}
	c.clientClosed = true
	t := c.arrive(&c.up)
	if t >= Forever {
		t = c.w.now + 3*int64(c.w.script.Timeout) // keep-alive
	}
	c.w.At(t, c.closeByServer)
}

// submit sends something to the server.
func (c *Conn) submit(do func()) {
	t := c.arrive(&c.up)
	if t >= Forever {
		return
	}
	c.w.At(t, func() {
		c.server.run(func() {
			if !c.serverClosed {
				do()
			}
		})
	})
}

// answerQueue answers the first requests of the queue that are done, in order.
func (c *Conn) answerQueue() {
	for len(c.queue) > 0 && !c.serverClosed {
		a := c.queue[0]
		if a.read != nil && !a.done {
			a.done = true
			a.read()
		}
		if !a.done || c.serverClosed {
			return
		}
		c.queue = c.queue[1:]
		c.send(frame{reply: a, zxid: a.zxid})
		if a.last {
			c.closeByServer()
		}
	}
}

// Packet is one request and its reply, as ZooKeeper's own client calls it.
type Packet struct {
	ID      events.ID      // the machine that asked
	Request events.Request // what it asks for
	Conn    *Conn          // the connection; nil for none
	SentAt  int64          // when it left, by the client's clock; 0 if it did not
	contact int64

	Done    func(*Packet)  // gets the reply of a request that is not a machine's; else nil
	Note    any            // for the one who made it; the world does not read it
	Feigned events.Request // planted: what is sent in its place

	// At the server.
	done   bool
	last   bool   // the server closes the connection after the answer
	read   func() // answers a request that needs no quorum
	result zkmem.Result
	zxid   int64

	// The answer.
	Code     events.Code // of the reply
	text     string
	stat     *events.Stat
	Children []string // a listing, and what a multi made
	path     string
	data     []byte
}

// identities returns those of the client that asked.
func (a *Packet) identities() []zkmem.Auth { return a.Conn.x.c.identities }

// refuse answers a write that the ensemble's leader did not propose. If the session has moved
// to another server, there is no answer: the server ends the connection.
func (a *Packet) refuse(code zkmem.Code) {
	if code == zkmem.SessionMoved {
		a.Conn.closeByServer()
		return
	}
	a.answer(zkmem.Result{Err: code}, a.Conn.server.tree.Zxid())
}

// answer sets the outcome of a write or a sync, and sends it after all that was asked before.
func (a *Packet) answer(r zkmem.Result, zxid int64) {
	a.done, a.result, a.zxid = true, r, zxid
	a.Conn.answerQueue()
}
