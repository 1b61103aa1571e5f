package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// servers is how many addresses the ensemble has. One zkmem is behind all of them.
const servers = 3

// link is one connection of a client to a server.
type link struct {
	w      *world
	client *client
	number int // of the client's attempts to connect
	server int
	up     *way // to the server
	down   *way // to the client
}

func (l *link) String() string {
	return fmt.Sprintf("%s's connection %d to server %d", l.client.name, l.number, l.server)
}

// way is one direction of a link.
type way struct {
	link *link
	dice dice
	to   *stream // what its frames arrive in
	from *stream // what its sender reads

	mu   sync.Mutex
	buf  []byte // a part of a frame
	sent int    // frames

	dead atomic.Bool // nothing that is written from now on arrives
}

// dial makes a connection, if the dice let it.
func (w *world) dial(ctx context.Context, c *client, address string) (net.Conn, error) {
	c.mu.Lock()
	c.dials++
	number := c.dials
	c.mu.Unlock()
	host, _, _ := strings.Cut(address, ":")
	server, err := strconv.Atoi(strings.TrimPrefix(host, "zk"))
	if err != nil {
		return nil, err
	}
	d := c.dice.named("dial").about(uint64(number))
	wait := d.named("time").between(100*time.Microsecond, 3*time.Millisecond)
	switch storm := w.storming(); {
	case storm && w.plan.refuseDials && d.named("refused").chance(150):
		w.tell("%s: dial %d to server %d is refused", c.name, number, server)
		return nil, syscall.ECONNREFUSED
	case storm && d.named("lost").chance(60), w.cutOff(c, time.Now()):
		w.tell("%s: dial %d to server %d gets no answer", c.name, number, server)
		<-ctx.Done()
		return nil, ctx.Err()
	case storm && d.named("slow").chance(100):
		wait = d.named("long").between(0, w.plan.timeout/2)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return w.connect(c, number, server), nil
}

func (w *world) connect(c *client, number, server int) net.Conn {
	l := &link{w: w, client: c, number: number, server: server}
	d := c.dice.named("connection").about(uint64(number))
	atServer, atClient := newStream(), newStream()
	l.up = &way{link: l, dice: d.about(0), to: atServer, from: atClient}
	l.down = &way{link: l, dice: d.about(1), to: atClient, from: atServer}
	name := address(c.name + "-" + strconv.Itoa(number))
	ours := &conn{in: atClient, write: l.up.write, close: l.up.hangUp, addr: name}
	theirs := &conn{in: atServer, write: l.down.write, close: l.down.hangUp, addr: name}
	c.mu.Lock()
	c.link = l
	c.mu.Unlock()
	go w.srv.ServeConn(theirs)
	return ours
}

var errReset = errors.New("connection reset by peer")

// write takes bytes of the sender. Each whole frame gets its fate.
func (v *way) write(b []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dead.Load() && v.dice.named("write fails").chance(500) {
		return errReset
	}
	whole, rest := frames(append(v.buf, b...))
	for _, frame := range whole {
		v.send(frame)
	}
	v.buf = append([]byte(nil), rest...)
	return nil
}

// send sends one frame. v.mu is held.
func (v *way) send(frame []byte) {
	v.sent++
	l, w := v.link, v.link.w
	n := v.sent
	d := v.dice.about(uint64(n))
	now := time.Now()
	due := now.Add(d.named("delay").between(50*time.Microsecond, 2*time.Millisecond))
	up := v == l.up
	op := opOf(frame, n == 1)
	var arrived func()
	if up {
		arrived = l.leaves(frame, op, now)
	} else {
		if n == 1 {
			l.greeted(sessionOf(frame))
		}
		arrived = func() { l.arrives(frame, n == 1) }
	}
	fate := w.fate(l, up, op, d)
	due = w.held(l, up, op, due.Add(fate.stall))
	if fate.stall > time.Second {
		w.tell("%s: frame %d %s waits for %s", l, n, what(up, frame, n == 1), fate.stall)
	}
	if v.dead.Load() {
		return
	}
	switch fate.cut {
	case before:
	case middle:
		v.to.put(chunk{due: due, data: frame[:1+d.named("part").below(len(frame)-1)]})
	default:
		v.to.put(chunk{due: due, data: frame, read: arrived})
	}
	if fate.cut != uncut {
		w.tell("%s: cut %s frame %d %s", l, fate.cut, n, what(up, frame, n == 1))
		l.cut(v, due.Add(fate.noticedByReceiver), now.Add(fate.noticedBySender))
	}
}

// cut ends a connection: nothing that is written from now on arrives. Each side notices it at a time of its own.
func (l *link) cut(v *way, receiver, sender time.Time) {
	v.to.put(chunk{due: receiver, end: true})
	v.from.put(chunk{due: sender, end: true})
	l.up.dead.Store(true)
	l.down.dead.Store(true)
}

// hangUp is called when the sender closes its end: what it has written arrives, then the end does.
func (v *way) hangUp() {
	if v.dead.Swap(true) {
		return
	}
	w := v.link.w
	due := time.Now().Add(time.Millisecond)
	if w.storming() && v.dice.named("late end").chance(200) {
		due = due.Add(v.dice.named("end").between(0, w.plan.timeout))
	}
	v.to.put(chunk{due: w.held(v.link, v == v.link.up, opPing, due), end: true})
}

// breakNow cuts a client's present connection at once, on both sides.
func (c *client) breakNow() {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return
	}
	now := time.Now()
	l.cut(l.up, now, now)
}
