package main

import (
	"context"
	"encoding/binary"
	"maps"
	"net"
	"sync/atomic"
)

// Codes of requests that are counted by themselves.
const (
	opList  = 12 // getChildren2
	opSync  = 9
	opMulti = 14
	opPing  = 11
	ops     = 128 // larger codes, and negative ones, are counted together under 0
)

// traffic counts what the clients of a process send and get. Its counters are only added to.
type traffic struct {
	requests    [ops]atomic.Int64
	connections atomic.Int64
	up, down    atomic.Int64
}

// Traffic is what was counted until a moment.
type Traffic struct {
	Requests    map[int]int64 // by code; without the connect requests
	Connections int64
	Up, Down    int64 // bytes
}

func (t *traffic) read() Traffic {
	now := Traffic{Requests: map[int]int64{}, Connections: t.connections.Load(), Up: t.up.Load(), Down: t.down.Load()}
	for op := range t.requests {
		if n := t.requests[op].Load(); n != 0 {
			now.Requests[op] = n
		}
	}
	return now
}

// add returns the sum.
func (t Traffic) add(other Traffic) Traffic {
	return t.combine(other, 1)
}

// since returns what was counted after an earlier moment.
func (t Traffic) since(earlier Traffic) Traffic {
	return t.combine(earlier, -1)
}

func (t Traffic) combine(other Traffic, sign int64) Traffic {
	sum := Traffic{
		Requests: maps.Clone(t.Requests), Connections: t.Connections + sign*other.Connections,
		Up: t.Up + sign*other.Up, Down: t.Down + sign*other.Down,
	}
	if sum.Requests == nil {
		sum.Requests = map[int]int64{}
	}
	for op, n := range other.Requests {
		sum.Requests[op] += sign * n
	}
	return sum
}

// all returns how many requests there were, without pings.
func (t Traffic) all() (n int64) {
	for op, count := range t.Requests {
		if op != opPing {
			n += count
		}
	}
	return n
}

// dial is a client's Config.Dial.
func (t *traffic) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	t.connections.Add(1)
	return &counted{Conn: conn, all: t}, nil
}

// counted is a connection whose requests are counted. A frame is its length, an xid and a code; the first one is the
// connect request, which has neither.
type counted struct {
	net.Conn
	all     *traffic
	head    []byte
	skip    int
	greeted bool
}

const headSize = 12

// Read counts the bytes.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.all.down.Add(int64(n))
	return n, err
}

// Write counts the frames. Only one goroutine at a time calls it.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.all.up.Add(int64(n))
	c.count(b[:n])
	return n, err
}

func (c *counted) count(b []byte) {
	for len(b) > 0 {
		if c.skip == 0 {
			n := min(headSize-len(c.head), len(b))
			c.head, b = append(c.head, b[:n]...), b[n:]
			if len(c.head) < headSize {
				return
			}
			c.skip = max(0, int(binary.BigEndian.Uint32(c.head))+4-headSize)
			c.note(int32(binary.BigEndian.Uint32(c.head[8:])))
			c.head = c.head[:0]
		}
		n := min(c.skip, len(b))
		c.skip, b = c.skip-n, b[n:]
	}
}

func (c *counted) note(op int32) {
	if !c.greeted {
		c.greeted = true
		return
	}
	if op < 0 || op >= ops {
		op = 0
	}
	c.all.requests[op].Add(1)
}
