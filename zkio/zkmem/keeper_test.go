package zkmem

import (
	"bytes"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// hello sends a connect request with this last zxid, and returns the whole answer.
func (c *rawClient) hello(seen int64) []byte {
	c.t.Helper()
	e := newFrame()
	e.int32(0)
	e.int64(seen)
	e.int32(1000)
	e.int64(0)
	e.bytes(make([]byte, 16))
	e.bool(false)
	c.nc.Write(e.frame())
	frame, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return frame
}

// The answer to a handshake has no flag behind an empty password, whatever zxid the client has seen. Without a leader
// it has protocol version 42 and session -1, and the connection ends.
func TestTheHandshakeOfKeeper(t *testing.T) {
	s := Start(t, Keeper())
	answer := overPipe(t, s).hello(1 << 40)
	if len(answer) != 36 || binary.BigEndian.Uint32(answer) != 0 || binary.BigEndian.Uint32(answer[4:]) != 10_000 ||
		int64(binary.BigEndian.Uint64(answer[8:])) <= 0 || !bytes.Equal(answer[20:], make([]byte, 16)) {
		t.Errorf("% x", answer)
	}
	s.Intercept(func(Request) Verdict { return Verdict{Action: Refuse} })
	c := overPipe(t, s)
	answer = c.hello(0)
	if len(answer) != 36 || binary.BigEndian.Uint32(answer) != 42 || binary.BigEndian.Uint32(answer[4:]) != 10_000 ||
		int64(binary.BigEndian.Uint64(answer[8:])) != -1 {
		t.Errorf("refused: % x", answer)
	}
	c.gone()
}

// A member without a quorum answers in the same way.
func TestTheHandshakeOfKeeperWithoutALeader(t *testing.T) {
	e, err := NewEnsemble(3, Keeper())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	e.Servers()[0].Stop()
	e.Servers()[1].Stop()
	c := overPipe(t, e.Servers()[2])
	if answer := c.hello(0); binary.BigEndian.Uint32(answer) != 42 {
		t.Errorf("% x", answer)
	}
	c.gone()
}

// A session of a client that says nothing ends within half a second after its timeout, and not before it.
func TestWhenASessionOfKeeperEnds(t *testing.T) {
	const timeout = 10 * time.Second
	for _, begun := range []time.Duration{0, 1, 499 * time.Millisecond, 500 * time.Millisecond,
		700 * time.Millisecond} {
		virtual.Test(t, func(t *testing.T) {
			s := New(Keeper())
			defer s.Close()
			virtual.Sleep(begun)
			newSession(t, s, timeout)
			virtual.Sleep(timeout - 1)
			synctest.Wait()
			before := len(s.Sessions())
			virtual.Sleep(500*time.Millisecond + 1)
			synctest.Wait()
			if after := len(s.Sessions()); before != 1 || after != 0 {
				t.Errorf("begun at %s: %d sessions before the timeout, %d half a second after it", begun, before, after)
			}
		})
	}
}

// Operations that Keeper does not know end the connection without an answer, also in a multi, and so does the end of a
// session.
func TestWhatKeeperDoesNotAnswer(t *testing.T) {
	for name, send := range map[string]func(*rawClient){
		"create2":      func(c *rawClient) { c.send(OpCreate2, create("/two", Persistent)) },
		"a container":  func(c *rawClient) { c.send(OpCreateContainer, create("/box", modeContainer)) },
		"addWatch":     func(c *rawClient) { c.send(OpAddWatch, func(e *encoder) { e.text("/"); e.int32(1) }) },
		"whoAmI":       func(c *rawClient) { c.send(OpWhoAmI, nil) },
		"any other":    func(c *rawClient) { c.send(4711, nil) },
		"closeSession": func(c *rawClient) { c.send(OpCloseSession, nil) },
		"one of a multi": func(c *rawClient) {
			c.send(OpMulti, func(e *encoder) {
				e.multiHeader(OpCreate, false, -1)
				create("/one", Persistent)(e)
				e.multiHeader(OpCreateContainer, false, -1)
				create("/box", modeContainer)(e)
				e.multiHeader(OpError, true, -1)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Start(t, Keeper())
			c := newSession(t, s, 10*time.Second)
			c.mustCreate("/own", Ephemeral)
			send(c)
			if frame, err := c.read(); err == nil {
				t.Fatalf("an answer: % x", frame)
			}
			s.View(func(v *View) {
				if ended := name == "closeSession"; v.Exists("/own") == ended || v.Exists("/one") {
					t.Errorf("/own exists: %t, /one exists: %t", v.Exists("/own"), v.Exists("/one"))
				}
			})
		})
	}
}

// Keeper counts a write of a child's data in the parent's Cversion, and does not note a deletion in its Pzxid.
func TestTheStatsOfKeeper(t *testing.T) {
	for _, o := range []Options{{}, Keeper()} {
		s := Start(t, o)
		c := newSession(t, s, 10*time.Second)
		c.mustCreate("/dir", Persistent)
		c.mustCreate("/dir/a", Persistent)
		made := stat(t, s, "/dir")
		if err := s.Set("/dir/a", []byte("x")); err != nil {
			t.Fatal(err)
		}
		set := stat(t, s, "/dir")
		if err := s.Delete("/dir/a"); err != nil {
			t.Fatal(err)
		}
		gone := stat(t, s, "/dir")
		if writes := set.Cversion - made.Cversion; (writes == 1) != o.Keeper || gone.Cversion != set.Cversion+1 {
			t.Errorf("Keeper %t: Cversion %d, %d, %d", o.Keeper, made.Cversion, set.Cversion, gone.Cversion)
		}
		if (gone.Pzxid == made.Pzxid) != o.Keeper {
			t.Errorf("Keeper %t: Pzxid %d, then %d", o.Keeper, made.Pzxid, gone.Pzxid)
		}
		if next := c.mustCreate("/dir/n", PersistentSequential); next != "/dir/n0000000001" {
			t.Errorf("Keeper %t: %s", o.Keeper, next)
		}
	}
}

func stat(t *testing.T, s *Server, path string) (stat Stat) {
	t.Helper()
	s.View(func(v *View) {
		var err error
		if _, stat, err = v.Get(path); err != nil {
			t.Fatal(err)
		}
	})
	return stat
}
