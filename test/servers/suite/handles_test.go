package suite

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent"
)

func TestLatchCallsOutOfOrder(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		l := c.newLatch(e.dir(), incumbent.LatchOptions{})
		_, err := l.Await(c.ctx)
		is(t, err, incumbent.ErrNotStarted)
		is(t, l.Resign(c.ctx), incumbent.ErrNotStarted)
		if l.State() != incumbent.Latent || l.Phase() != "latent" || l.Path() != e.dir() {
			t.Fatal(l.State(), l.Phase(), l.Path())
		}
		ok(t, l.Start())
		is(t, l.Start(), incumbent.ErrAlreadyStarted)
		l.state("leading")
		if l.State() != incumbent.Started {
			t.Fatal(l.State())
		}
		l.close()
		l.close()
		is(t, l.Start(), incumbent.ErrClosed)
		is(t, l.Resign(c.ctx), incumbent.ErrClosed)
		_, err = l.Await(c.ctx)
		is(t, err, incumbent.ErrClosed)

		never := c.newLatch(e.dir(), incumbent.LatchOptions{})
		never.close()
		is(t, never.Start(), incumbent.ErrClosed)
		if never.State() != incumbent.Closed {
			t.Fatal(never.State())
		}
	})
}

func TestSelectorCallsOutOfOrder(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	work := func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil }
	s := c.newSelector(e.dir(), work, incumbent.SelectorOptions{})
	ok(t, s.Start())
	is(t, s.Start(), incumbent.ErrAlreadyStarted)
	is(t, s.Run(c.ctx), incumbent.ErrAlreadyStarted)
	ok(t, s.Close(c.ctx))
	ok(t, s.Close(c.ctx))
	is(t, s.Start(), incumbent.ErrClosed)
	is(t, s.Run(c.ctx), incumbent.ErrClosed)

	never := c.newSelector(e.dir(), work, incumbent.SelectorOptions{})
	ok(t, never.Close(c.ctx))
	is(t, never.Run(c.ctx), incumbent.ErrClosed)
	if _, err := c.Selector(e.dir(), nil, incumbent.SelectorOptions{}); err == nil {
		t.Fatal("a selector without work was made")
	}
}

func TestCloseEndsRunFromOutside(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	running := make(chan struct{})
	s := c.newSelector(e.dir(), func(l *incumbent.Leadership) error {
		close(running)
		<-l.Context().Done()
		return nil
	}, incumbent.SelectorOptions{AutoRequeue: true})
	end := s.run(context.Background())
	recv(t, running, "the work")
	ok(t, s.Close(c.ctx))
	is(t, recv(t, end, "Run"), incumbent.ErrClosed)
}

func TestClosedBeforeConnected(t *testing.T) {
	e := inMemory(t)
	e.Stop()
	c := open(t, e)
	l := c.newLatch(e.dir(), incumbent.LatchOptions{})
	ok(t, l.Start())
	awaited := make(chan error, 1)
	go func() { _, err := l.Await(context.Background()); awaited <- err }()
	waited := make(chan error, 1)
	go func() { waited <- c.WaitConnected(context.Background()) }()
	l.close() // there is no node to delete
	is(t, recv(t, awaited, "Await"), incumbent.ErrClosed)
	ended := make(chan error, 1)
	go func() { ended <- c.Close(c.ctx) }()
	ok(t, recv(t, ended, "Close")) // there was no session to end
	is(t, recv(t, waited, "WaitConnected"), incumbent.ErrClosed)
	ok(t, c.Close(c.ctx))
	if _, err := c.Latch(e.dir(), incumbent.LatchOptions{}); !errors.Is(err, incumbent.ErrClosed) {
		t.Fatal(err)
	}
}

func TestClosingTheClientClosesEverything(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		first := c.start(e.dir(), "leading")
		second := c.start(e.dir(), "waiting")
		s := c.newSelector(e.dir(), func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{})
		end := s.run(context.Background())
		s.state("leading")
		awaited := make(chan error, 1)
		go func() { _, err := second.Await(context.Background()); awaited <- err }()
		held := first.lead()
		context.AfterFunc(held.Context(), held.Release)
		ok(t, c.Close(c.ctx))
		ok(t, c.Close(c.ctx))
		is(t, recv(t, end, "Run"), incumbent.ErrClosed)
		// The second may have led for a moment, after the first and before its own close.
		if err := recv(t, awaited, "Await"); err != nil {
			is(t, err, incumbent.ErrClosed)
		}
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
		is(t, c.WaitConnected(c.ctx), incumbent.ErrClosed)
		if first.State() != incumbent.Closed || c.Connection() != incumbent.Lost {
			t.Fatal(first.State(), c.Connection())
		}
		is(t, first.Start(), incumbent.ErrClosed)
		_, err := c.Line(c.ctx, e.dir())
		if err == nil {
			t.Fatal("a closed client read a line")
		}
	})
}

func TestSlowAndPanickingListenersDelayNobody(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		first := c.newLatch(e.dir(), incumbent.LatchOptions{})
		stuck := make(chan struct{})
		first.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { <-stuck }})
		first.AddListener(incumbent.Listener{
			IsLeader:  func(incumbent.Term) { panic("a listener") },
			NotLeader: func(incumbent.Term, error) { panic("a listener") },
		})
		c.OnConnection(func(incumbent.ConnectionState) { <-stuck })
		c.OnConnection(func(incumbent.ConnectionState) { panic("a listener") })
		first.AddListener(incumbent.Listener{}) // hears nothing
		seen := watch(first.AddListener)
		ok(t, first.Start())
		seen.until(t, "started")
		second := connected(t, e).start(e.dir(), "waiting")
		held := first.lead()
		e.remove(held.Term().Path)
		<-held.Context().Done()
		second.lead().Release()
		seen.until(t, "started", "stopped")
		held.Release()
		first.close()
		close(stuck)
	})
}

func TestALateListenerLearnsWhatIsSo(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	first := c.start(e.dir(), "leading")
	second := c.start(e.dir(), "waiting")
	leader, waiter := watch(first.AddListener), watch(second.AddListener)
	leader.until(t, "started")
	removed := &history{more: make(chan struct{})}
	remove := first.AddListener(incumbent.Listener{
		IsLeader:  func(incumbent.Term) { removed.note("started") },
		NotLeader: func(incumbent.Term, error) { removed.note("stopped") },
	})
	removed.until(t, "started")
	remove()
	changes := c.states()
	changes.expect(incumbent.Connected)
	first.close()
	waiter.until(t, "started")
	leader.until(t, "started", "stopped")
	if got := removed.all(); !slices.Equal(got, []string{"started"}) {
		t.Fatalf("a removed listener was called with %q", got)
	}
	late := watch(first.AddListener)
	second.close()
	waiter.until(t, "started", "stopped")
	if got := late.all(); len(got) != 0 {
		t.Fatalf("a late listener of a closed latch was called with %q", got)
	}
}

func TestWhyLeadershipWasLost(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).newLatch(e.dir(), incumbent.LatchOptions{})
	why := make(chan error, 1)
	terms := make(chan incumbent.Term, 2)
	l.AddListener(incumbent.Listener{
		IsLeader:  func(t incumbent.Term) { terms <- t },
		NotLeader: func(t incumbent.Term, err error) { terms <- t; why <- err },
	})
	ok(t, l.Start())
	begun := recv(t, terms, "IsLeader")
	l.close()
	err := recv(t, why, "NotLeader")
	is(t, err, incumbent.ErrLeadershipLost)
	if ended := recv(t, terms, "NotLeader"); ended != begun || incumbent.LostReason(err) != incumbent.ReasonClosed {
		t.Fatalf("%+v, %+v, %v", begun, ended, err)
	}
}
