package zkio_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A handshake with credentials and watches, cut at every byte in either direction, is tried
// again until it succeeds; nothing is lost or posted twice.
func TestHandshakeCutAtEveryByte(t *testing.T) {
	for _, direction := range []zkmem.Direction{zkmem.Inbound, zkmem.Outbound} {
		t.Run(fmt.Sprintf("direction %d", direction), func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				p := newPipes(t, zkmem.Options{})
				auth := []zkio.Auth{zkio.AuthOf("digest", []byte("u:p"))}
				r, attached := pipedRig(t, p, zkio.Config{Auth: auth})
				r.ask(events.Exists{Call: r.call(), Path: "/n", Watch: true})
				const longer = 200 // than the whole handshake
				for cut := range int64(longer) {
					p.CutNext(direction, cut)
					p.Disconnect(attached.SessionID)
					again := r.await(events.ConnectionAttached, events.ConnectionLost)
					if again.SessionID != attached.SessionID {
						t.Fatalf("cut at %d: %+v", cut, again)
					}
					got := r.ask(events.Exists{Call: r.call(), Path: "/n", Watch: true})
					for got.Code != events.NoNode { // the cut came later
						if !strings.Contains("CONNECTIONLOSS NOTSENT", string(got.Code)) {
							t.Fatalf("cut at %d: %+v", cut, got)
						}
						r.await(events.ConnectionAttached)
						got = r.ask(events.Exists{Call: r.call(), Path: "/n", Watch: true})
					}
				}
				r.rest()
				p.Create("/n", nil, zkmem.Persistent)
				r.await(events.WatchCreated)
				r.ask(events.Sync{Call: r.call(), Path: "/"})
				if rest := r.rest(); len(rest) > 0 {
					t.Errorf("posted again: %+v", rest)
				}
			})
		})
	}
}

// The first handshake of a session, cut at every byte, in turn.
func TestFirstHandshakeCutAtEveryByte(t *testing.T) {
	for _, direction := range []zkmem.Direction{zkmem.Inbound, zkmem.Outbound} {
		virtual.Test(t, func(t *testing.T) {
			p := newPipes(t, zkmem.Options{})
			for cut := range int64(60) {
				p.CutNext(direction, cut)
			}
			_, attached := pipedRig(t, p, zkio.Config{})
			if attached.Session != 1 || attached.Reattached {
				t.Errorf("attached: %+v", attached)
			}
		})
	}
}

// An answer cut at every byte is an unknown outcome, posted once, after suspended.
func TestAnswerCutAtEveryByte(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, attached := pipedRig(t, p, zkio.Config{})
		r.ask(events.Create{Call: r.call(), Path: "/n", Mode: events.Ephemeral})
		const answer = 4 + 16 + 4 + 68 // prefix, header, no data, stat
		for cut := range int64(answer + 1) {
			synctest.Wait() // the server's writer is idle
			p.CutSession(attached.SessionID, zkmem.Outbound, cut)
			r.Execute(machine, events.Get{Call: r.call(), Path: "/n"})
			first, second := r.take().Event, r.take().Event
			if cut == answer { // whole; the cut comes right after it
				first, second = second, first
			} else if second.Code != events.ConnectionLoss || second.SentAt == 0 || second.Stat != nil {
				t.Errorf("cut at %d: %+v", cut, second)
			}
			if first.Kind != events.ConnectionSuspended || second.Kind != events.ReplyStat {
				t.Fatalf("cut at %d: %s before %s", cut, first.Kind, second.Kind)
			}
			r.await(events.ConnectionAttached)
		}
	})
}

// Hours of sessions that last, are cut and expire, on a virtual clock, over pipes: every
// request is answered once, every session ends in order.
func TestFactG_HoursInABubble(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r := newRig(t, zkio.Config{Servers: []string{"mem"}, Dial: p.dial})
		start := time.Now()
		for n := int64(1); n <= 10; n++ {
			r.Execute(events.SessionMachine, events.Connect{Session: n})
			attached := r.await(events.ConnectionAttached)
			for range 12 {
				virtual.Sleep(5 * time.Minute)
				if got := r.ask(events.Sync{Call: r.callIn(n), Path: "/"}); got.Code != "" {
					t.Fatalf("%+v", got)
				}
			}
			p.Disconnect(attached.SessionID)
			r.await(events.ConnectionAttached)
			p.ExpireSession(attached.SessionID)
			r.await(events.ConnectionLost)
		}
		if hours := time.Since(start).Hours(); hours < 10 {
			t.Errorf("only %.1f hours went by", hours)
		}
	})
}

// brokenConn fails every write after the first n, and has nothing to read from then on.
type brokenConn struct {
	net.Conn
	left *atomic.Int64
}

func (c brokenConn) Write(b []byte) (int, error) {
	if c.left.Add(-1) < 0 {
		_ = c.Close()
		return 0, errors.New("broken pipe")
	}
	return c.Conn.Write(b)
}

// A failed write ends the connection and leaves no call behind.
func TestFactE_FailedWrites(t *testing.T) {
	srv := zkmem.Start(t)
	var left atomic.Int64
	cfg := zkio.Config{Servers: []string{srv.Addr()}, Window: 8}
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		left.Store(20)
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return brokenConn{conn, &left}, err
	}
	r := newRig(t, cfg)
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	for round := range 40 {
		const n = 40
		for range n {
			r.Execute(machine, events.Sync{Call: r.call(), Path: "/"})
		}
		attached := true
		for replies := 0; replies < n || !attached; {
			switch e := r.take().Event; e.Kind {
			case events.ReplySync:
				replies++
			case events.ConnectionSuspended:
				attached = false
			case events.ConnectionAttached:
				attached = true
			case events.ConnectionLost:
				t.Fatalf("round %d: %+v", round, e)
			}
		}
	}
}

// stallConn blocks every Write from the time its gate is set until Close.
type stallConn struct {
	net.Conn
	stall   *atomic.Bool
	closing chan struct{}
	once    *sync.Once
}

func (c stallConn) Write(b []byte) (int, error) {
	if c.stall.Load() {
		<-c.closing
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

func (c stallConn) Close() error {
	c.once.Do(func() { close(c.closing) })
	return c.Conn.Close()
}

// A request that waits when the connection ends was answered then, and is not sent on the next one. zk.Conn of
// go-zookeeper keeps or drops its queue at random.
func TestFact03_AQueuedFrameIsSwallowed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		var stall atomic.Bool
		cfg := zkio.Config{Servers: []string{"mem"}}
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := p.dial(ctx, network, address)
			return stallConn{conn, &stall, make(chan struct{}), &sync.Once{}}, err
		}
		r := newRig(t, cfg)
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		attached := r.await(events.ConnectionAttached)
		for range 50 {
			stall.Store(true)
			for i := range 3 { // one in Write, one in the queue, one behind it
				r.Execute(machine, events.Create{Call: r.call(), Path: fmt.Sprintf("/%d", i), Mode: events.Ephemeral})
				synctest.Wait()
			}
			stall.Store(false)
			p.Disconnect(attached.SessionID)
			for i, want := range []events.Code{events.ConnectionLoss, events.NotSent, events.NotSent} {
				if got := r.await(events.ReplyCreate); got.Code != want {
					t.Errorf("request %d: %+v", i, got)
				}
			}
			r.await(events.ConnectionAttached)
			if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != "" {
				t.Errorf("afterwards: %+v", got)
			}
		}
		if n := p.Counts().ByOp[zkmem.OpCreate]; n != 0 {
			t.Errorf("%d creates left on a later connection", n)
		}
	})
}

// An event that comes before the reply that armed it reaches the machine.
func TestFact14_AnEventBeforeItsReply(t *testing.T) {
	greeting := "\x00\x00\x00\x24\x00\x00\x00\x00\x00\x00\x3a\x98\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x10" +
		strings.Repeat("p", 16)
	event := "\x00\x00\x00\x1e" + "\xff\xff\xff\xff" + strings.Repeat("\xff", 8) + "\x00\x00\x00\x00" +
		"\x00\x00\x00\x02" + "\x00\x00\x00\x03" + "\x00\x00\x00\x02/n"
	reply := "\x00\x00\x00\x54" + "\x40\x00\x00\x01" + "\x00\x00\x00\x00\x00\x00\x00\x09" + "\x00\x00\x00\x00" +
		strings.Repeat("\x00", 68)
	virtual.Test(t, func(t *testing.T) {
		cfg := zkio.Config{Servers: []string{"scripted"}}
		cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go speak(server, greeting+event+reply)
			return client, nil
		}
		r := newRig(t, cfg)
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		r.await(events.ConnectionAttached)
		r.Execute(machine, events.Exists{Call: r.call(), Path: "/n", Watch: true})
		first, second := r.take(), r.take().Event
		if first.To != machine || first.Event.Kind != events.WatchDeleted || first.Event.Path != "/n" {
			t.Errorf("first %+v", first)
		}
		if second.Kind != events.ReplyStat || second.Code != "" || second.Zxid != 9 {
			t.Errorf("then %+v", second)
		}
	})
}

// Bytes that are not ZooKeeper's protocol are refused or end the connection,
// and never bring the process down.
func TestForeignBytes(t *testing.T) {
	greeting := "\x00\x00\x00\x24\x00\x00\x00\x00\x00\x00\x3a\x98\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x10" +
		strings.Repeat("p", 16)
	reply := func(body string) string { // to the first request
		n := 16 + len(body)
		return greeting + string([]byte{0, 0, byte(n >> 8), byte(n)}) + "\x00\x00\x00\x01" +
			"\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x00" + body
	}
	cases := map[string]string{
		"http":            "HTTP/1.1 400 Bad Request\r\n\r\n",
		"empty greeting":  "\x00\x00\x00\x00",
		"negative length": "\xff\xff\xff\xff",
		"password too long": "\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x3a\x98\x00\x00\x00\x00\x00\x00\x00\x01" +
			"\x7f\xff\xff\xff",
		"password negative": "\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x3a\x98\x00\x00\x00\x00\x00\x00\x00\x01" +
			"\xff\xff\xff\xfe",
		"short answer":      greeting + "\x00\x00\x00\x03abc",
		"negative answer":   greeting + "\x80\x00\x00\x00",
		"many children":     reply("\x7f\xff\xff\xff"),
		"negative children": reply("\x80\x00\x00\x00"),
		"a child too long":  reply("\x00\x00\x00\x01\x7f\xff\xff\xff"),
		"no stat":           reply("\x00\x00\x00\x00"),
		"a watch event cut off": greeting +
			"\x00\x00\x00\x14\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x02",
	}
	for name, bytes := range cases {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				cfg := zkio.Config{Servers: []string{"odd"}}
				cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
					client, server := net.Pipe()
					go speak(server, bytes)
					return client, nil
				}
				r := newRig(t, cfg)
				r.Execute(events.SessionMachine, events.Connect{Session: 1})
				got := r.await(events.ConnectionRefused, events.ConnectionAttached)
				if got.Kind == events.ConnectionAttached {
					r.Execute(machine, events.Children{Call: r.call(), Path: "/"})
					got = r.await(events.ConnectionSuspended)
				}
				if !strings.Contains(got.Text, "odd:2181: ") {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// speak sends a connect response immediately and the rest after the first request.
func speak(conn net.Conn, text string) {
	defer conn.Close()
	in := make([]byte, 4096)
	_, _ = conn.Read(in)
	const greeting = 40
	if len(text) <= greeting {
		_, _ = conn.Write([]byte(text))
		_, _ = conn.Read(in)
		return
	}
	_, _ = conn.Write([]byte(text[:greeting]))
	_, _ = conn.Read(in)
	go func() { _, _ = conn.Write([]byte(text[greeting:])) }()
	for { // until the other side ends it
		if _, err := conn.Read(in); err != nil {
			return
		}
	}
}
