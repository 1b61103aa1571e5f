package world

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

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
