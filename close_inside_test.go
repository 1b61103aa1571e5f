package incumbent

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// slowHandle is a handle that blocks the loop once it is asked to.
type slowHandle struct{ held, freed chan struct{} }

func (b slowHandle) notice(events.Notify) {}
func (b slowHandle) entered(string)       {}
func (b slowHandle) answer(events.Answer) {
	close(b.held)
	<-b.freed
}

// If a term begins in the machine when Close gives up waiting, no work begins: the session
// is closed right after, and the node is deleted with it.
func TestNoWorkBeginsOnceClosed(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		first, second := w.open(), w.open()
		leader, err := first.Selector("/line", func(l *Leadership) error { <-l.Context().Done(); return nil },
			SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		next, err := second.Selector("/line", func(*Leadership) error {
			t.Error("work ran")
			return nil
		}, SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Selector{leader, next} {
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		b := slowHandle{make(chan struct{}), make(chan struct{})}
		id, err := second.register(machines.LatchRecipe.Name(), func(events.ID) receiver { return b },
			events.Event{Path: "/other"})
		if err != nil {
			t.Fatal(err)
		}
		second.post(id, events.Event{Kind: events.CommandStart})
		<-b.held
		if err := leader.participant.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the event waits in the inbox of the second
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		closed := make(chan error)
		go func() { closed <- second.Close(ended) }()
		synctest.Wait()
		close(b.freed)
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// An await that is granted in the moment of a Close returns ErrClosed.
func TestNoAwaitIsGrantedOnceClosed(t *testing.T) {
	c := unconnected(t)
	l, err := c.Latch("/line", LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, ch := l.participant.commands.Reserve(&c.commands)
	l.participant.seal()
	l.notice(events.Notify{What: events.Granted, Work: n})
	if r := <-ch; r.Grant != nil || !errors.Is(r.Err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", r.Err)
	}
}

// unconnected opens a client that reaches no server.
func unconnected(t *testing.T) *Client {
	t.Helper()
	c, err := Open(context.Background(), Config{
		Servers: "192.0.2.1:2181",
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no route to host")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil && !errors.Is(err, ErrSuspended) {
			t.Error(err)
		}
	})
	return c
}

// A selector that is opened while its client closes leaves no hook behind.
func TestTheHookGoesWithItsSelector(t *testing.T) {
	c := unconnected(t)
	work := func(*Leadership) error { return nil }
	s, err := c.Selector("/line", work, SelectorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.participant.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.hook = func(ConnectionState) error { return nil }
	s.listen()
	if n := c.session.listeners.Len(); n != 0 {
		t.Errorf("%d hooks are left", n)
	}
	var both sync.WaitGroup // for the race detector
	both.Go(func() {
		_, _ = c.Selector("/line", work, SelectorOptions{OnConnection: func(ConnectionState) error { return nil }})
	})
	both.Go(func() { _ = c.Close(context.Background()) })
	both.Wait()
}

// The grace counts too if the caller takes the leadership after its end.
func TestWorkGraceOfAGrantTakenLate(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		l, err := n.Latch("/line", LatchOptions{WorkGrace: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
		_, granted, err := l.participant.commands.Begin(&n.Client.commands, l.participant.id,
			events.Event{Kind: events.CommandAwait})
		if err != nil {
			t.Fatal(err)
		}
		r := <-granted
		closed := make(chan error)
		go func() { closed <- l.participant.Close(context.Background()) }()
		synctest.Wait()
		r.Grant(context.Background()) // and never released
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// lateClosingLatch is a latch that is closed after another one is gone.
type lateClosingLatch struct {
	*Latch
	after chan struct{}
}

func (l lateClosingLatch) Close(ctx context.Context) error {
	<-l.after
	return l.Latch.participant.Close(ctx)
}

// When a client is closed, the deletion of one participant's node makes the next one
// leader: that one's wait ends with ErrClosed nevertheless, not with a leadership that ends
// immediately.
func TestNobodyIsElectedByTheClientsEnd(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		first, err := c.Latch("/line", LatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		next := lateClosingLatch{&Latch{}, make(chan struct{})}
		next.Latch.participant.prepare(c.Client, "/line", LatchOptions{})
		if _, err := c.register(machines.LatchRecipe.Name(), func(id events.ID) receiver {
			next.Latch.participant.id = id
			return next
		}, LatchOptions{}.open("/line", c.config)); err != nil {
			t.Fatal(err)
		}
		for _, l := range []*Latch{first, next.Latch} {
			if err := l.Start(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		waited, closed := make(chan error, 1), make(chan error, 1)
		go func() {
			l, err := next.Await(context.Background())
			if err == nil {
				l.Release()
			}
			waited <- err
		}()
		synctest.Wait()
		go func() { closed <- c.Close(context.Background()) }()
		synctest.Wait() // the first is gone, and the next one's machine leads
		if first.participant.State() != Closed || next.Latch.participant.Phase() != "leading" {
			t.Errorf("the first is %s, the next %s", first.participant.State(), next.Latch.participant.Phase())
		}
		close(next.after)
		if err := <-waited; !errors.Is(err, ErrClosed) {
			t.Errorf("Await: %v, want ErrClosed", err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// A process may end after Close, so Close waits for the file that a loss had written. Its error says if that takes too
// long.
func TestCloseWaitsForTheLastRecords(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		says  string
	}{"soon": {calls.LastMoment / 4, ""}, "a hung disk": {time.Hour, "the last records could not be written"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start(func(c *Config) { c.Record = RecordIn(t.TempDir(), RecordOptions{Ring: 12}) })
				written := make(chan struct{})
				n.ring.Done = written // a file that takes so long
				time.AfterFunc(c.takes, func() { close(written) })
				err := n.Close(context.Background())
				select {
				case <-written:
				default:
					if c.says == "" {
						t.Error("Close returns before the last records are written")
					}
				}
				if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Error(err)
				}
			})
		})
	}
}
