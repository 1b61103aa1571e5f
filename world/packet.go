package world

import (
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Packet is one request and its reply, as ZooKeeper's own client calls it.
type Packet struct {
	ID      events.ID      // the machine that asked
	Request events.Request // what for
	Conn    *Conn          // over which connection; nil while there is none
	SentAt  int64          // when it left, by the client's clock; 0: it did not
	contact int64

	Done    func(*Packet)  // of the door's own requests, which no machine awaits; may be nil
	Note    any            // of the one who made it; no business of the world
	Feigned events.Request // planted: what is sent in place of it

	// At the server.
	done   bool
	read   func() // of a request that the server answers by itself
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

// answer is the outcome of a write or a sync, which leaves behind everything
// that was asked before it.
func (a *Packet) answer(r zkmem.Result, zxid int64) {
	a.done, a.result, a.zxid = true, r, zxid
	a.Conn.answerQueue()
}
