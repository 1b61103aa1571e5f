package world

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Why connections end, or cannot be made.
const (
	closedByServer    = "closed by the server"
	silent            = "silent for too long"
	unanswered        = "no answer to a request for a whole session timeout"
	noAnswer          = "no answer"
	closedInHandshake = "closed in the handshake"
	lags              = "it lags behind what this session has seen"
	lagged            = "it lagged behind what this session has seen"
)

// endOf returns the code for one of them, and EndNetwork for a connection that was cut.
func endOf(why string) events.ConnectionEnd {
	switch why {
	case closedByServer:
		return events.ConnectionEndClosed
	case silent, noAnswer:
		return events.ConnectionEndSilent
	case unanswered:
		return events.ConnectionEndUnanswered
	case closedInHandshake, lags, lagged:
		return events.ConnectionEndNotServing
	}
	return events.ConnectionEndNetwork
}

// name returns what clients have in their list of servers.
func (s *Server) name() string { return string(rune('a' + s.ID())) }

// address returns what the name resolves to.
func (s *Server) address() string { return fmt.Sprintf("10.0.0.%d:2181", s.ID()+1) }

// leave ends the connection to a server that goes on to answer with a code. The next server is dialled.
func (x *executor) leave(e events.Leave) {
	if wire := x.conn; e.Session == x.session && wire != nil {
		x.w.After(0, func() { x.connectionLost(wire, "left: "+string(e.Code)) })
	}
}

// connectionLost ends a connection, as the client sees it.
func (x *executor) connectionLost(wire *Conn, why string) {
	x.c.Run(func() {
		if x.conn != wire {
			return
		}
		end := endOf(why)
		if why, x.ownPause = x.endedByPause(why); x.ownPause != 0 {
			end = events.ConnectionEndOwnPause
		}
		x.detach(end, why)
		if x.closing {
			x.closed(events.ConnectionLoss)
			return
		}
		x.dial(Between(x.c.dice.roll(dialDice), 0, 20*time.Millisecond))
	})
}
