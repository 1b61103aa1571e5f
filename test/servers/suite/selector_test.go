package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

type selector struct {
	*incumbent.Selector
	handle
}

func (c *client) newSelector(dir string, work incumbent.Work, o incumbent.SelectorOptions) selector {
	c.t.Helper()
	if o.Retry == (incumbent.RetryPolicy{}) {
		o.Retry = incumbent.RetryForever(0)
	}
	s, err := c.Selector(dir, work, o)
	ok(c.t, err)
	c.made["selector"]++
	return selector{s, handle{c, events.ID(fmt.Sprintf("selector-%d", c.made["selector"]))}}
}

// run runs the selector until its context ends or it ends by itself.
func (s selector) run(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return ended
}

// turn is one call of a selector's work, which goes on until the test lets it.
type turn struct {
	who    int
	held   *incumbent.Leadership
	finish chan error
}

func turns(to chan turn, who int) incumbent.Work {
	return func(l *incumbent.Leadership) error {
		t := turn{who, l, make(chan error)}
		to <- t
		return <-t.finish
	}
}

// finish ends every further term as soon as it begins, and ends when nobody can
// begin one any more.
func (c *client) finish(terms chan turn) {
	done := make(chan struct{})
	c.t.Cleanup(func() { close(done) })
	go func() {
		for {
			select {
			case late := <-terms:
				late.finish <- nil
			case <-done:
				return
			}
		}
	}()
}

// lasting is how long work takes that is not paced: a term that ends immediately is
// followed by a pause, in which others may pass.
const lasting = 110 * time.Millisecond

func TestFiveSelectorsLeadOnceARoundInQueueOrder(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		ctx, cancel := context.WithCancelCause(context.Background())
		terms := make(chan turn)
		var all []selector
		var ends []<-chan error
		for i := range 5 {
			s := connected(t, e).newSelector(e.dir(), turns(terms, i), incumbent.SelectorOptions{
				ID: fmt.Sprint(i), AutoRequeue: true})
			all, ends = append(all, s), append(ends, s.run(ctx))
			if i > 0 {
				s.settled("waiting")
			} else {
				s.state("leading")
			}
		}
		var last int64
		for round := range 3 {
			for i, s := range all {
				now := recv(t, terms, "a term")
				if now.who != i || now.held.Token() <= last || now.held.Check() != nil {
					t.Fatalf("round %d: selector %d leads in place of %d, token %d after %d", round, now.who, i,
						now.held.Token(), last)
				}
				last = now.held.Token()
				if round+i == 0 {
					requeued, err := s.Requeue()
					if requeued || err != nil || !s.AutoRequeue() {
						t.Fatalf("requeue while leading: %t, %v", requeued, err)
					}
				}
				<-time.After(lasting) // pause: work lasts that long, or a back-off follows it
				now.finish <- nil
				s.enrolled(round + 2)
				s.settled("waiting")
			}
		}
		// The context of running work ends, and the work is awaited.
		now := recv(t, terms, "a term")
		enough := errors.New("enough")
		cancel(enough)
		<-now.held.Context().Done()
		now.finish <- nil
		all[0].c.finish(terms) // somebody may lead for a moment before its own context ends
		for _, end := range ends {
			ok(t, recv(t, end, "Run"))
		}
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
	})
}

func TestTheContextOfRunEndsTheWork(t *testing.T) {
	e := inMemory(t)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, "kept"))
	causes := make(chan error, 1)
	running := make(chan struct{})
	s := connected(t, e).newSelector(e.dir(), func(l *incumbent.Leadership) error {
		close(running)
		<-l.Context().Done()
		causes <- context.Cause(l.Context())
		if l.Context().Value(key{}) != "kept" {
			t.Error("the work's context does not derive from Run's")
		}
		return nil
	}, incumbent.SelectorOptions{AutoRequeue: true})
	end := s.run(ctx)
	recv(t, running, "the work")
	cancel(why)
	is(t, recv(t, causes, "the end of the work's context"), why)
	ok(t, recv(t, end, "Run"))
	if s.State() != incumbent.Closed {
		t.Fatal(s.State())
	}
}

type key struct{}

func TestInterruptEndsTheWorkAndLeadershipIsGivenUp(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		terms := make(chan turn)
		first := connected(t, e).newSelector(e.dir(), turns(terms, 1), incumbent.SelectorOptions{AutoRequeue: true})
		second := connected(t, e).newSelector(e.dir(), turns(terms, 2), incumbent.SelectorOptions{AutoRequeue: true})
		if first.Interrupt() {
			t.Fatal("there was no work")
		}
		ok(t, first.Start())
		one := recv(t, terms, "the first term")
		ok(t, second.Start())
		second.settled("waiting")
		if !first.Interrupt() {
			t.Fatal("there was work")
		}
		<-one.held.Context().Done()
		is(t, context.Cause(one.held.Context()), incumbent.ErrInterrupted)
		one.finish <- nil
		two := recv(t, terms, "the second term")
		if two.who != 2 {
			t.Fatalf("%d leads", two.who)
		}
		one.held.Release() // means nothing: the return is what counts
		two.finish <- nil
		first.c.finish(terms)
		ok(t, first.Close(first.c.ctx))
		ok(t, second.Close(second.c.ctx))
	})
}

func TestWithoutAutoRequeueOneTermAndTheWorksError(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		broken := errors.New("the disk is full")
		for _, work := range []struct {
			err  error
			want error
		}{{nil, nil}, {broken, incumbent.ErrWorkFailed}} {
			s := connected(t, e).newSelector(e.dir(), func(*incumbent.Leadership) error { return work.err },
				incumbent.SelectorOptions{})
			err := recv(t, s.run(context.Background()), "Run")
			if !errors.Is(err, work.want) || work.want == nil && err != nil {
				t.Fatalf("Run returned %v, want %v", err, work.want)
			}
			if left := e.children(e.dir()); len(left) != 0 {
				t.Fatalf("left behind: %q", left)
			}
		}
	})
}

func TestRequeueByHand(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		terms := make(chan turn)
		s := connected(t, e).newSelector(e.dir(), turns(terms, 0), incumbent.SelectorOptions{})
		_, err := s.Requeue()
		is(t, err, incumbent.ErrNotStarted)
		ok(t, s.Start())
		for range 3 {
			now := recv(t, terms, "a term")
			if again, err := s.Requeue(); again || err != nil {
				t.Fatalf("requeue while leading: %t, %v", again, err)
			}
			now.finish <- nil
			s.state("idle")
			e.untilChildren(e.dir(), 0)
			if again, err := s.Requeue(); !again || err != nil {
				t.Fatalf("requeue from outside the line: %t, %v", again, err)
			}
		}
		now := recv(t, terms, "a term")
		now.finish <- nil
		s.state("idle")
		ok(t, s.Close(s.c.ctx))
		_, err = s.Requeue()
		is(t, err, incumbent.ErrClosed)
	})
}

func TestTheNextTermStartsOnlyAfterTheWorkReturned(t *testing.T) {
	e := inMemory(t)
	terms := make(chan turn)
	s := connected(t, e).newSelector(e.dir(), turns(terms, 0), incumbent.SelectorOptions{AutoRequeue: true})
	ok(t, s.Start())
	one := recv(t, terms, "the first term")
	e.remove(one.held.Term().Path)
	<-one.held.Context().Done()
	is(t, context.Cause(one.held.Context()), incumbent.ErrLeadershipLost)
	s.state("draining")
	e.ExpireSession(e.Sessions()[0].ID)
	s.c.tape.Until("the next session", func(r []events.Record) bool {
		return s.c.Connection() == incumbent.Reconnected
	})
	if s.Phase() != "draining" || len(e.children(e.dir())) != 0 {
		t.Fatalf("%s, %q: it enrolled while its work was running", s.Phase(), e.children(e.dir()))
	}
	one.finish <- nil
	two := recv(t, terms, "the second term")
	if two.held.Token() <= one.held.Token() || two.held.Term().Session != 2 {
		t.Fatalf("%+v after %+v", two.held.Term(), one.held.Term())
	}
	go func() { two.finish <- nil }()
	ok(t, s.Close(s.c.ctx))
}

// short asks for a session that Keeper, where no other connection takes it over, ends a few seconds after a cut.
func short(c *incumbent.Config) { c.SessionTimeout = 4 * time.Second }

func TestWithoutAutoRequeueALostConnectionEndsRun(t *testing.T) {
	for _, leading := range []bool{true, false} {
		t.Run(map[bool]string{true: "leading", false: "waiting"}[leading], func(t *testing.T) {
			both(t, func(t *testing.T, e ensemble) {
				terms := make(chan turn)
				if !leading {
					other := connected(t, e).newSelector(e.dir(), func(l *incumbent.Leadership) error {
						<-l.Context().Done()
						return nil
					}, incumbent.SelectorOptions{AutoRequeue: true})
					ok(t, other.Start())
					other.state("leading")
				}
				s := connected(t, e, short).newSelector(e.dir(), turns(terms, 0), incumbent.SelectorOptions{})
				end := s.run(context.Background())
				if leading {
					now := recv(t, terms, "the term")
					s.c.cut()
					<-now.held.Context().Done()
					is(t, context.Cause(now.held.Context()), incumbent.ErrLeadershipLost)
					now.finish <- nil
				} else {
					s.settled("waiting")
					s.c.cut()
				}
				is(t, recv(t, end, "Run"), incumbent.ErrSuspended)
				e.untilChildren(e.dir(), map[bool]int{true: 0, false: 1}[leading])
			})
		})
	}
}

func TestWithoutAutoRequeueAnExpiryEndsRun(t *testing.T) {
	e := inMemory(t)
	terms := make(chan turn)
	s := connected(t, e).newSelector(e.dir(), turns(terms, 0), incumbent.SelectorOptions{})
	end := s.run(context.Background())
	now := recv(t, terms, "the term")
	e.ExpireSession(e.session(now.held.Term().Path))
	<-now.held.Context().Done()
	now.finish <- nil
	err := recv(t, end, "Run")
	// The server reports that the node is gone before it ends the connection, and both may come first here.
	first := errors.Is(err, incumbent.ErrSuspended) || errors.Is(err, incumbent.ErrSessionExpired) ||
		incumbent.LostReason(err) == incumbent.ReasonDeleted
	if !first || !incumbent.Retryable(err) {
		t.Fatal(err)
	}
}

func TestTheConnectionHookCancelsLeadership(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		terms := make(chan turn)
		states := make(chan incumbent.ConnectionState, 10)
		cancelAt := make(chan incumbent.ConnectionState, 1)
		c := connected(t, e, short, func(c *incumbent.Config) { c.RideOut = true })
		s := c.newSelector(e.dir(), turns(terms, 0), incumbent.SelectorOptions{AutoRequeue: true,
			OnConnection: func(state incumbent.ConnectionState) error {
				states <- state
				if state == incumbent.Suspended {
					cancelAt <- state
					return fmt.Errorf("as Curator does: %w", incumbent.ErrCancelLeadership)
				}
				return errors.New("something else")
			}})
		ok(t, s.Start())
		now := recv(t, terms, "the term")
		if state := recv(t, states, "the present state"); state != incumbent.Connected {
			t.Fatal(state)
		}
		if now.held.Context().Err() != nil {
			t.Fatal("another error cancelled the work")
		}
		c.cut()
		recv(t, cancelAt, "SUSPENDED")
		<-now.held.Context().Done()
		is(t, context.Cause(now.held.Context()), incumbent.ErrCancelLeadership)
		now.finish <- nil
		again := recv(t, terms, "the next term")
		go func() { again.finish <- nil }()
		ok(t, s.Close(c.ctx))
	})
}

func TestRunReturnsWhatDoesNotPassByItself(t *testing.T) {
	never := func(*incumbent.Leadership) error { panic("it must not lead") }
	t.Run("no authorisation", func(t *testing.T) {
		e := inMemory(t)
		e.directory(zkmem.PermRead)
		s := connected(t, e).newSelector(e.dir(), never, incumbent.SelectorOptions{AutoRequeue: true})
		is(t, recv(t, s.run(context.Background()), "Run"), incumbent.ErrNoAuth)
	})
	t.Run("persistent node", func(t *testing.T) {
		e := inMemory(t)
		e.directory(zkmem.PermAll)
		e.create(e.dir()+"/_c_00000000-0000-4000-8000-000000000000-lock-0000000000", "", 0)
		s := connected(t, e).newSelector(e.dir(), never, incumbent.SelectorOptions{AutoRequeue: true})
		is(t, recv(t, s.run(context.Background()), "Run"), incumbent.ErrPersistentNode)
		e.untilChildren(e.dir(), 1)
	})
	t.Run("a policy that gives up", func(t *testing.T) {
		e := inMemory(t)
		e.directory(zkmem.PermRead)
		s := connected(t, e).newSelector(e.dir(), never, incumbent.SelectorOptions{Retry: incumbent.RetryOnce(0)})
		is(t, recv(t, s.run(context.Background()), "Run"), incumbent.ErrNoAuth)
	})
}

func TestAnExecutorRunsTheWork(t *testing.T) {
	e := inMemory(t)
	queue := make(chan func(), 1)
	ran := make(chan struct{})
	s := connected(t, e).newSelector(e.dir(), func(l *incumbent.Leadership) error { close(ran); return nil },
		incumbent.SelectorOptions{Executor: func(run func()) { queue <- run }})
	end := s.run(context.Background())
	run := recv(t, queue, "the work")
	s.state("leading")
	run()
	recv(t, ran, "the work's own call")
	if err := recv(t, end, "Run"); err != nil {
		t.Fatal(err)
	}
}

func TestTheSelectorsListenersHearEveryTerm(t *testing.T) {
	e := inMemory(t)
	terms := make(chan turn)
	s := connected(t, e).newSelector(e.dir(), turns(terms, 0), incumbent.SelectorOptions{})
	seen := watch(s.AddListener)
	ok(t, s.Start())
	now := recv(t, terms, "the term")
	seen.until(t, "started")
	now.finish <- nil
	seen.until(t, "started", "stopped")
	s.state("idle")
	if got := seen.all(); !slices.Equal(got, []string{"started", "stopped"}) {
		t.Fatal(got)
	}
}
