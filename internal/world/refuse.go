package world

import (
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// refusedMultis are transactions that servers refuse by a code that is not the client's fault: on one connection, as
// ZooKeeper before 3.5.4 did with SESSIONMOVED, or on all of a client.
type refusedMultis struct {
	code  zkmem.Code
	conn  *Conn // nil: on all
	until int64
}

// RefuseMultis has servers refuse a client's transactions for a while, on its present connection.
func (c *Client) RefuseMultis(code zkmem.Code, lasts time.Duration) {
	if c.x.conn != nil {
		c.x.refusing = refusedMultis{code, c.x.conn, c.w.now + int64(lasts)}
	}
}

// RefuseMultisEverywhere has servers refuse a client's transactions for a while, on every connection.
func (c *Client) RefuseMultisEverywhere(code zkmem.Code, lasts time.Duration) {
	c.x.refusing = refusedMultis{code, nil, c.w.now + int64(lasts)}
}

// RefusesMultis reports whether servers refuse a client's transactions on every connection.
func (c *Client) RefusesMultis() bool {
	return c.x.refusing.conn == nil && c.w.now < c.x.refusing.until
}

// refuses returns the code by which an operation is refused on this connection, 0 if it is not.
func (c *Conn) refuses(op zkmem.OpCode) zkmem.Code {
	if r := c.x.refusing; op == zkmem.OpMulti && c.w.now < r.until && (r.conn == nil || r.conn == c) {
		return r.code
	}
	return 0
}
