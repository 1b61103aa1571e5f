package zkmem

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

func TestTimeoutsAreClampedToTicks(t *testing.T) {
	s := Start(t, Options{Tick: time.Second})
	for asked, want := range map[time.Duration]time.Duration{
		0: 2 * time.Second, time.Second: 2 * time.Second, 7 * time.Second: 7 * time.Second, time.Hour: 20 * time.Second,
		-time.Second: 2 * time.Second,
	} {
		if c := newSession(t, s, asked); c.timeout != milliseconds(want) {
			t.Errorf("asked for %v, got %d ms", asked, c.timeout)
		}
	}
}

func TestASilentSessionExpiresAtTheTickAfterItsTimeout(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{Tick: time.Second})
		defer s.Close()
		start := time.Now()
		c := newSession(t, s, 4*time.Second)
		c.mustCreate("/n", Ephemeral)
		virtual.Sleep(3500 * time.Millisecond)
		if code, _, err := c.ask(OpPing, nil); code != OK || err != nil {
			t.Fatal(code, err)
		}
		c.gone()
		if waited := time.Since(start); waited != 8*time.Second {
			t.Fatal("the last request came at 3.5 s, its timeout ends at 7.5 s, the tick is at 8 s:", waited)
		}
		if s.Snapshot().Exists("/n") || len(s.Sessions()) != 0 {
			t.Fatal("its node must be gone")
		}
		if c.again(s).session != 0 {
			t.Fatal("and so must the session")
		}
	})
}

// A client that reconnects asks for a timeout as at first, and is granted it from then on.
func TestASessionIsGrantedAnotherTimeoutWhenItComesBack(t *testing.T) {
	for asked, granted := range map[time.Duration]time.Duration{
		4 * time.Second: 4 * time.Second, 9 * time.Second: 9 * time.Second, 0: 2 * time.Second,
		time.Hour: 20 * time.Second,
	} {
		t.Run(asked.String(), func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				s := New(Options{Tick: time.Second})
				defer s.Close()
				first := newSession(t, s, 6*time.Second)
				first.timeout = milliseconds(asked)
				second := first.again(s)
				if second.session != first.session || second.timeout != milliseconds(granted) {
					t.Fatalf("asked for %v when it came back: granted %d ms, want %v", asked, second.timeout, granted)
				}
				start := time.Now()
				second.gone()
				if lived := time.Since(start); lived < granted || lived > granted+time.Second {
					t.Fatalf("granted %v when it came back, and over after %v of silence: want a tick more at most",
						granted, lived)
				}
			})
		})
	}
}

func TestSessionsTimeOutInABlackHoleButNotWhileTheServerIsDown(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{Tick: time.Second})
		defer s.Close()
		c := newSession(t, s, 4*time.Second)
		s.Stop()
		c.gone()
		virtual.Sleep(time.Hour)
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		if c = c.again(s); c.session == 0 {
			t.Fatal("it must outlive the server's absence")
		}
		s.Freeze(Inbound)
		virtual.Sleep(6 * time.Second)
		synctest.Wait()
		if len(s.Sessions()) != 0 {
			t.Fatal("it must expire")
		}
		c.gone()
	})
}

func TestContainersAreReapedFromTimeToTime(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{})
		defer s.Close()
		s.Do(Op{Code: OpCreateContainer, Path: "/c", ACL: OpenACL()})
		s.Create("/c/x", nil, Persistent)
		s.Delete("/c/x")
		virtual.Sleep(59 * time.Second)
		if !s.Snapshot().Exists("/c") {
			t.Fatal("too early")
		}
		virtual.Sleep(2 * time.Second)
		if s.Snapshot().Exists("/c") {
			t.Fatal("still there")
		}
	})
}

func TestASessionHasOneConnection(t *testing.T) {
	s := Start(t)
	first := newSession(t, s, time.Minute)
	first.ask(OpExists, read("/n", true))
	second := first.again(s)
	first.gone()
	if second.session != first.session {
		t.Fatal("the same session")
	}
	s.View(func(v *View) {
		if v.WatchCount() != 0 || v.Connections() != 1 {
			t.Error("watches belong to the connection", v.WatchCount(), v.Connections())
		}
	})
	second.secret[0]++
	if thief := second.again(s); thief.session != 0 || thief.timeout != 0 {
		t.Fatal("a wrong password")
	}
	second.gone()
}

func TestSetWatchesTellsWhatWasMissed(t *testing.T) {
	s := Start(t)
	s.Create("/a", nil, Persistent)
	c := newSession(t, s, time.Minute)
	seen := s.Snapshot().Zxid()
	s.Set("/a", []byte("new"))
	xid := c.send(OpSetWatches, func(e *encoder) {
		e.int64(seen)
		e.texts([]string{"/a", "/gone"})
		e.texts([]string{"/a", "/missing"})
		e.texts([]string{"/a"})
	})
	for _, want := range []EventType{NodeDataChanged, NodeDeleted, NodeCreated} {
		frame, err := c.read()
		if err != nil {
			t.Fatal(err)
		}
		d := &decoder{buf: frame[16:]}
		if got := EventType(d.int32()); got != want {
			t.Fatal(got, want)
		}
	}
	if code, _, err := c.reply(xid); code != OK || err != nil {
		t.Fatal(code, err)
	}
	s.View(func(v *View) {
		if v.Watches(DataWatch, "/missing") != 1 || v.Watches(ChildWatch, "/a") != 1 || v.WatchCount() != 2 {
			t.Error(v.WatchCount())
		}
	})
}

func TestRestoreBringsBackNodesSessionsAndZxid(t *testing.T) {
	s := Start(t)
	early := newSession(t, s, time.Minute)
	early.mustCreate("/early", Ephemeral)
	backup := s.Snapshot()
	late := newSession(t, s, time.Minute)
	late.mustCreate("/late", Ephemeral)
	s.Restore(backup)
	early.gone()
	late.gone()
	if tree := s.Snapshot(); tree.Zxid() != backup.Zxid() || !tree.Exists("/early") || tree.Exists("/late") {
		t.Fatal("not the tree of the backup")
	}
	if early.again(s).session == 0 || late.again(s).session != 0 {
		t.Fatal("the session of the backup lives, the later one does not")
	}
	s.Wipe()
	if s.Snapshot().Len() != NewTree().Len() || len(s.Sessions()) != 0 {
		t.Fatal("something is left")
	}
}

func TestAClientFromTheFutureIsRefused(t *testing.T) {
	s := Start(t)
	c := overPipe(t, s)
	e := newFrame()
	e.int32(0)
	e.int64(1 << 40)
	e.int32(4000)
	e.int64(0)
	e.bytes(make([]byte, 16))
	c.nc.Write(e.frame())
	c.gone()
}

func TestOtherServersHabits(t *testing.T) {
	t.Run("no containers, no create2", func(t *testing.T) {
		s := Start(t, Options{NoContainers: true, NoCreate2: true})
		for _, op := range []OpCode{OpCreateContainer, OpCreate2} {
			c := newSession(t, s, time.Minute)
			if code, _, err := c.ask(op, create("/n", Persistent)); code != Unimplemented || err != nil {
				t.Fatal(code, err)
			}
			c.gone()
		}
	})
	t.Run("a new session id on coming back", func(t *testing.T) {
		s := Start(t, Options{NewSessionIDOnReattach: true})
		c := newSession(t, s, time.Minute)
		if next := c.again(s); next.session == 0 || next.session == c.session || len(s.Sessions()) != 2 {
			t.Fatal(next.session, c.session)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		s := Start(t, Options{ReadOnly: true})
		c := overPipe(t, s)
		c.introduce(0, nil, time.Minute)
		if c.session != 0 {
			t.Fatal("a client that did not ask for it")
		}
		c = overPipe(t, s)
		c.nc.Write(append(frameOf(45, make([]byte, 24)), append(frameOf(16, make([]byte, 16)), 1)...))
		if _, err := c.read(); err != nil {
			t.Fatal(err)
		}
		if code, _, err := c.ask(OpCreate, create("/n", Persistent)); code != NotReadOnly || err != nil {
			t.Fatal(code, err)
		}
		if code, _, err := c.ask(OpExists, read("/", false)); code != OK || err != nil {
			t.Fatal(code, err)
		}
	})
}

func TestStopRestartAndClose(t *testing.T) {
	s := Start(t)
	before := s.Addr()
	c := newSession(t, s, time.Minute)
	path := c.mustCreate("/n", Ephemeral)
	s.Stop()
	s.Stop()
	overPipe(t, s).gone()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if s.Addr() != before || !s.Snapshot().Exists(path) || c.again(s).session == 0 {
		t.Fatal("the same address, nodes and sessions")
	}
	s.Close()
	s.Close()
	if err := s.Restart(); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if err := s.WaitFor(bounded(t), func(*View) bool { return false }); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if err := s.ListenAndServe("127.0.0.1:0"); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

// As on servers since 3.8.4: the watch is spent, but a client that may not read gets no
// event.
func TestAWatcherWhoMayNotReadHearsNothing(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	c.ask(OpExists, read("/secret", true))
	c.ask(OpExists, read("/open", true))
	s.Do(Op{Code: OpCreate, Path: "/secret", ACL: []ACL{{PermAll, "digest", "me:x"}}})
	s.Create("/open", nil, Persistent)
	frame, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	d := &decoder{buf: frame[24:]}
	if path := d.text(); path != "/open" {
		t.Fatal(path)
	}
	s.View(func(v *View) {
		if v.WatchCount() != 0 {
			t.Error("both watches are spent")
		}
	})
}
