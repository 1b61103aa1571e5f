package door_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// wordConn is a connection to a server that answers the word srvr in a way of its own; nil: with nothing, and the
// connection stays open.
type wordConn struct {
	net.Conn
	asked  *atomic.Int64
	answer *string
	word   bool
	once   sync.Once
	ended  chan struct{}
	rest   io.Reader
}

func (c *wordConn) Write(b []byte) (int, error) {
	if string(b) != "srvr" {
		return c.Conn.Write(b)
	}
	c.word = true
	c.asked.Add(1)
	if c.answer != nil {
		c.rest = strings.NewReader(*c.answer)
	}
	return len(b), nil
}

func (c *wordConn) Read(b []byte) (int, error) {
	switch {
	case !c.word:
		return c.Conn.Read(b)
	case c.answer == nil:
		<-c.ended
		return 0, net.ErrClosed
	}
	return c.rest.Read(b)
}

func (c *wordConn) Close() error {
	c.once.Do(func() { close(c.ended) })
	return c.Conn.Close()
}

// asking opens a client that asks what its server is, which answers like this. It has been asked so often.
func asking(t *testing.T, w *world, answer *string) (n *node, log *lines, asked *atomic.Int64) {
	log, asked = &lines{}, &atomic.Int64{}
	n = &node{w: w, asks: true}
	w.openNode(n, func(c *incumbent.Config) {
		c.Name, c.Silent, c.Logger = "jobs", false, zerolog.New(log)
		dial := c.Dial
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &wordConn{Conn: conn, asked: asked, answer: answer, ended: make(chan struct{})}, nil
		}
	})
	return n, log, asked
}

// A client asks its first server once which release it is. One warning names a release that is not supported; whatever
// else the answer is, nothing is warned of, and an answer that does not come holds up nothing.
func TestAServersRelease(t *testing.T) {
	text := func(s string) *string { return &s }
	const figures = ", built on 2020-01-01 00:00 UTC\nLatency min/avg/max: 0/0/0\nMode: follower\nNode count: 4\n"
	for _, c := range []struct {
		name, warning, line string
		answer              *string
	}{
		{"3.5", "the server is ZooKeeper 3.5.10: releases before 3.6.0", `"release":"3.5.10","mode":"follower"`,
			text("Zookeeper version: 3.5.10-abc" + figures)},
		{"the oldest", "", `"release":"3.6.0","mode":"follower"`, text("Zookeeper version: 3.6.0-b4c89dc" + figures)},
		{"3.10", "", `"release":"3.10.0"`, text("Zookeeper version: 3.10.0" + figures)},
		{"not on the whitelist", "", "", text("srvr is not executed because it is not in the whitelist.\n")},
		{"not serving", "", "", text("This ZooKeeper instance is not currently serving requests\n")},
		{"empty", "", "", text("")},
		{"endless", "", "", text(strings.Repeat("x", 1<<20))},
		{"silent", "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n, log, asked := asking(t, w, c.answer)
				if pass(1900 * time.Millisecond); asked.Load() != 0 {
					t.Errorf("asked %d times before 2 s", asked.Load())
				}
				pass(time.Minute)
				w.srv.ExpireSession(n.session())
				pass(time.Minute)
				log.parsed(t)
				if n.Connection() != incumbent.Connected || asked.Load() != 1 {
					t.Errorf("%s, asked %d times in two sessions, want once", n.Connection(), asked.Load())
				}
				warned := log.with(`"warn"`)
				want := 1 // of nodes that everybody may write
				if c.warning != "" {
					want++
				}
				if len(warned) != want || c.warning != "" && len(log.with(c.warning)) != 1 {
					t.Errorf("warned of %q, want once %q, and of access lists", warned, c.warning)
				}
				if got := log.with(`"message":"server"`); (c.line != "") != (len(got) == 1) ||
					len(got) == 1 && !strings.Contains(got[0], c.line) {
					t.Errorf("the log has %q, want %q", got, c.line)
				}
			})
		})
	}
}

// A client that closes before it asks does not ask, and one that waits for the answer does not wait longer to close.
func TestAServersReleaseAndClose(t *testing.T) {
	for _, after := range []time.Duration{time.Second, 3 * time.Second} {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			n, _, asked := asking(t, w, nil)
			pass(after)
			begun := time.Now()
			if err := n.Close(t.Context()); err != nil || time.Since(begun) > time.Millisecond {
				t.Errorf("Close after %s: %v, took %s", after, err, time.Since(begun))
			}
			pass(time.Minute)
			if got := asked.Load() == 1; got != (after > 2*time.Second) {
				t.Errorf("closed after %s: asked: %v", after, got)
			}
		})
	}
}
