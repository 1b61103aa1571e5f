package zkmem

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// A nil interceptor is none: the server goes on, and those that are there still decide.
func TestANilInterceptorDecidesNothing(t *testing.T) {
	s := Start(t)
	s.Intercept(func(r Request) Verdict {
		if r.Op == OpCreate {
			return Verdict{Action: Refuse, Code: NoAuth}
		}
		return Verdict{}
	})
	remove := s.Intercept(nil)
	c := newSession(t, s, time.Minute)
	if code, _, err := c.ask(OpCreate, create("/n", Persistent)); err != nil || code != NoAuth {
		t.Error(code, err)
	}
	remove()
	if code, _, err := c.ask(OpCreate, create("/n", Persistent)); err != nil || code != NoAuth {
		t.Error(code, err)
	}
}

func TestInterceptorsDecideWhatIsDoneAndWhatIsAnswered(t *testing.T) {
	for _, test := range []struct {
		name                 string
		verdict              Verdict
		done, answered, open bool
		code                 Code
	}{
		{"served", Verdict{}, true, true, true, OK},
		{"delayed", Verdict{Delay: time.Microsecond}, true, true, true, OK},
		{"refused", Verdict{Action: Refuse, Code: NoAuth}, false, true, true, NoAuth},
		{"cut before", Verdict{Action: CutBefore}, false, false, false, OK},
		{"cut after", Verdict{Action: CutAfter}, true, false, false, OK},
		{"reply lost", Verdict{Action: LoseReply}, true, false, true, OK},
		{"ignored", Verdict{Action: Ignore}, false, false, true, OK},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Start(t)
			c := newSession(t, s, time.Minute)
			asked := make(chan struct{}, 1)
			remove := s.Intercept(func(r Request) Verdict {
				if r.Op != OpCreate {
					return Verdict{}
				}
				asked <- struct{}{}
				return test.verdict
			})
			xid := c.send(OpCreate, create("/n", Persistent))
			<-asked
			if test.answered {
				if code, _, err := c.reply(xid); err != nil || code != test.code {
					t.Fatal(code, err)
				}
			}
			remove()
			code, _, err := c.ask(OpExists, read("/n", false))
			if open := err == nil; open != test.open {
				t.Fatalf("open %t, %v", open, err)
			}
			if test.open && (code == OK) != test.done {
				t.Fatal(code)
			}
			s.View(func(v *View) {
				if v.Exists("/n") != test.done {
					t.Errorf("done %t", v.Exists("/n"))
				}
			})
			if len(s.Sessions()) != 1 {
				t.Error("the session must survive")
			}
		})
	}
}

func TestAHeldRequestWaitsAloneOnItsConnection(t *testing.T) {
	s := Start(t)
	slow, quick := newSession(t, s, time.Minute), newSession(t, s, time.Minute)
	release := make(chan struct{})
	seen := make(chan Request, 1)
	s.Intercept(func(r Request) Verdict {
		if r.Session != slow.session {
			return Verdict{}
		}
		seen <- r
		return Verdict{Wait: release}
	})
	xid := slow.send(OpCreate, create("/slow", Persistent))
	if r := <-seen; r != (Request{Session: slow.session, Op: OpCreate, Path: "/slow", Xid: xid}) {
		t.Fatal(r)
	}
	quick.mustCreate("/quick", Persistent)
	if s.Snapshot().Exists("/slow") {
		t.Fatal("served while held")
	}
	close(release)
	if code, _, err := slow.reply(xid); code != OK || err != nil {
		t.Fatal(code, err)
	}
}

func TestFrozenRequestsAreServedAfterHealing(t *testing.T) {
	s := Start(t)
	c, other := newSession(t, s, time.Minute), newSession(t, s, time.Minute)
	s.Freeze(Inbound, c.session)
	xid := c.send(OpCreate, create("/c", Persistent))
	other.mustCreate("/other", Persistent)
	if s.Snapshot().Exists("/c") {
		t.Fatal("served while frozen")
	}
	s.Heal()
	if code, _, err := c.reply(xid); code != OK || err != nil {
		t.Fatal(code, err)
	}
}

func TestFrozenRepliesComeAfterHealing(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	s.Freeze(Outbound)
	xid := c.send(OpCreate, create("/c", Persistent))
	until(t, s, func(v *View) bool { return v.Exists("/c") })
	c.nc.SetReadDeadline(time.Now())
	if _, err := c.read(); err == nil {
		t.Fatal("answered while frozen")
	}
	c.nc.SetReadDeadline(time.Time{})
	s.Heal()
	if code, _, err := c.reply(xid); code != OK || err != nil {
		t.Fatal(code, err)
	}
}

func TestAHandshakeCutAtEveryByteLeavesNoHalfSession(t *testing.T) {
	s := Start(t)
	const answer = 4 + 37
	for n := range int64(answer) {
		s.CutNext(Outbound, n)
		c := overPipe(t, s)
		c.introduce(0, nil, time.Minute)
		if c.session != 0 {
			t.Fatalf("a session after %d bytes", n)
		}
		c.gone()
	}
	const question = 4 + 45 - 16
	for n := range int64(question) {
		s.CutNext(Inbound, n)
		c := overPipe(t, s)
		c.introduce(0, nil, time.Minute)
		if c.session != 0 {
			t.Fatalf("a session after %d bytes", n)
		}
	}
	if sessions := len(s.Sessions()); sessions != answer {
		t.Fatalf("%d sessions: cut answers leave one, cut questions none", sessions)
	}
}

func TestAnAnswerCutAtEveryByte(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	for n := range int64(4 + 16) {
		if !s.CutSession(c.session, Outbound, n) {
			t.Fatal("not connected")
		}
		c.send(OpPing, nil)
		got, err := io.ReadAll(c.nc)
		if int64(len(got)) != n || err != nil {
			t.Fatalf("%d bytes of %d: %v", len(got), n, err)
		}
		c = c.again(s)
		if c.session == 0 {
			t.Fatal("the session is gone")
		}
	}
	s.CutSession(c.session, Inbound, 12)
	xid := c.send(OpSync, func(e *encoder) {})
	if code, _, err := c.reply(xid); code != MarshallingError || err != nil {
		t.Fatal("a request that fits within the limit is answered", code, err)
	}
	c.gone()
}

func TestExpireAndDisconnect(t *testing.T) {
	s := Start(t)
	c, watcher := newSession(t, s, time.Minute), newSession(t, s, time.Minute)
	path := c.mustCreate("/n-", EphemeralSequential)
	if code, _, err := watcher.ask(OpExists, read(path, true)); code != OK || err != nil {
		t.Fatal(code, err)
	}
	if !s.Disconnect(c.session) || s.Disconnect(c.session) {
		t.Fatal("one connection to cut")
	}
	c.gone()
	c = c.again(s)
	if c.session == 0 || !s.Snapshot().Exists(path) {
		t.Fatal("a disconnect keeps the session and its nodes")
	}
	if !s.ExpireSession(c.session) || s.ExpireSession(c.session) {
		t.Fatal("one session to expire")
	}
	c.gone()
	event, err := watcher.read()
	if err != nil || s.Snapshot().Exists(path) {
		t.Fatal(err)
	}
	d := &decoder{buf: event}
	if xid, _, _, kind := d.int32(), d.int64(), d.int32(), d.int32(); xid != -1 || EventType(kind) != NodeDeleted {
		t.Fatal(xid, kind)
	}
	if c = c.again(s); c.session != 0 || c.timeout != 0 {
		t.Fatal("an expired session is refused")
	}
}

func TestRefusedConnections(t *testing.T) {
	s := Start(t)
	s.RefuseConnections(true)
	overPipe(t, s).gone()
	s.RefuseConnections(false)
	newSession(t, s, time.Minute)
}

func TestCountsAreOfRequestsWithoutPings(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	c.mustCreate("/n", Persistent)
	c.ask(OpPing, nil)
	c.ask(OpSync, func(e *encoder) { e.text("/") })
	counts := s.Counts()
	if counts.Total != 2 || counts.Pings != 1 || counts.Handshakes != 1 || counts.ByOp[OpCreate] != 1 ||
		counts.ByOp[OpSync] != 1 {
		t.Fatal(counts)
	}
	s.ResetCounts()
	if counts := s.Counts(); counts.Total != 0 || len(counts.ByOp) != 0 {
		t.Fatal(counts)
	}
}

func TestFourLetterWords(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	c.ask(OpExists, read("/missing", true))
	for word, want := range map[string]string{
		"ruok": "imok", "srvr": "Mode: standalone\n", "mntr": "zk_watch_count\t1\n", "wchp": "/missing\n\t0x",
		"stat": "Clients:\n", "cons": "sid=0x",
		"wchs": "1 connections watching 1 paths\nTotal watches:1\n", "wchc": "\n\t/missing\n", "isro": "rw",
		"envi": "zookeeper.version=3.9.5",
		"conf": "tickTime=2000\n", "dump": "Sets (1)/(1):\n", "dirs": "datadir_size: 0\n", "crst": "reset",
		"srst": "reset", "gtmk": "306",
	} {
		nc, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		io.WriteString(nc, word)
		answer, err := io.ReadAll(nc)
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %q %v", word, answer, err)
		}
	}
}

// A reset clears what was counted of each connection.
func TestCountsAreReset(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	c.ask(OpExists, read("/missing", false))
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.clients(true); strings.Contains(text, "recved=0,sent=0") {
		t.Errorf("before it: %q", text)
	}
	s.crst()
	if text := s.clients(true); !strings.Contains(text, "recved=0,sent=0") {
		t.Errorf("after it: %q", text)
	}
}
