package incumbent

import (
	"context"
	"errors"
	"maps"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Work that returns because the context of Run has ended may be noticed before that end is: the cause is in the error
// nevertheless, and so is what the work returned.
func TestRunHasTheCauseWhateverIsNoticedFirst(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		s, err := w.open().Selector("/line", func(*Leadership) error { return nil }, SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cause := errors.New("the host shuts down")
		ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now(), cause)
		defer cancel()
		for range 100 { // a select with two ready cases takes either
			s.participant.finishRun(ErrWorkFailed)
			if err := s.outcome(ctx); !errors.Is(err, cause) {
				t.Fatal(err)
			}
		}
		select {
		case <-s.participant.runs().ending:
		default:
		}
		s.participant.finishRun(ErrWorkFailed)
		if err := s.outcome(context.Background()); !errors.Is(err, ErrWorkFailed) {
			t.Error(err)
		}
	})
}

// openAs opens a latch whose events another receiver gets, which passes on what it does not hold back.
func openAs(t *testing.T, n *node, l *Latch, to receiver) {
	t.Helper()
	l.participant.prepare(n.Client, "/line", LatchOptions{})
	_, err := n.register(machines.LatchRecipe, func(id events.ID) receiver {
		l.participant.base.Machine = id
		return to
	}, LatchOptions{}.open("/line", n.config))
	fine(t, err)
}

// delayedLatch is a latch that learns its machine's state late.
type delayedLatch struct {
	*Latch
	freed chan struct{}
}

func (l delayedLatch) entered(now events.Entered) {
	<-l.freed
	l.Latch.entered(now)
}

// The answer to Start comes before the notice of the state; Start waits for both, so that a
// call right after it does not return ErrNotStarted.
func TestStartReturnsWhenStarted(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		l := delayedLatch{&Latch{}, make(chan struct{})}
		openAs(t, c, l.Latch, l)
		started := make(chan error, 1)
		go func() { started <- l.Start() }()
		synctest.Wait()
		early := len(started) > 0
		close(l.freed)
		if err := <-started; err != nil || early || l.Latch.participant.State() != Started {
			t.Errorf("Start: %v, before the state was known: %t; State is %s", err, early, l.Latch.participant.State())
		}
	})
}

// A try of a plain mutex that only listed the line has no place in it when its answer is delivered, so the caller's
// next try is not behind it. One that has a node keeps its place until that is deleted.
func TestATryOfAPlainMutexLeavesNoPlace(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		for class, free := range map[events.Class]bool{events.ClassLooking: true, events.ClassBusy: false} {
			h, path := &holdHandle{}, "/"+string(class)
			h.prepare(n.Client, path, LatchOptions{})
			a := acquisition{path: path, options: MutexOptions{Plain: true, Prefix: "n_"}, try: true}
			fine(t, h.takePlace(t.Context(), a, events.Event{Options: map[string]string{}}))
			h.entered(events.Entered{Class: class})
			h.answer(events.Answer{Code: events.Locked})
			place := plainPlace(path, "n_")
			if n.reserve(place) != free {
				t.Errorf("%s: the place is free: %t, want %t", class, !free, free)
			}
			h.entered(events.Entered{Class: events.ClassClosed}) // frees it once, and not the next one's
			if n.reserve(place) == free {
				t.Errorf("%s: after the end the place is free: %t", class, free)
			}
		}
	})
}

// The command of a put has the number of its items and of their bytes, next to its own options, which stay as they are.
func TestPutCommandsCountItemsAndBytes(t *testing.T) {
	options := map[string]string{"priority": "3"}
	for _, c := range []struct {
		nodes        [][]byte
		items, bytes string
	}{
		{[][]byte{[]byte("abc"), []byte("de"), nil}, "3", "5"},
		{[][]byte{nil}, "1", "0"},
	} {
		got := putCommand(7, c.nodes, options)
		want := map[string]string{"priority": "3", "items": c.items, "bytes": c.bytes}
		if got.Kind != events.CommandPut || got.Work != 7 || !maps.Equal(got.Options, want) {
			t.Errorf("%+v, want the options %v", got, want)
		}
	}
	if len(options) != 1 {
		t.Errorf("the options were changed: %v", options)
	}
}

// An await that is granted in the moment of a Close returns ErrClosed.
func TestNoAwaitIsGrantedOnceClosed(t *testing.T) {
	c := unconnected(t)
	l, err := c.Latch("/line", LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, ch := l.participant.base.Commands.Reserve(&c.core.Commands)
	l.participant.seal()
	l.notice(events.Notify{What: events.Granted, Work: n})
	if r := <-ch; r.Grant != nil || !errors.Is(r.Err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", r.Err)
	}
}

// A machine that has a user's data sent or read has a handle for them: they are not lost without a word.
func TestNoDataAreLostWithoutAWord(t *testing.T) {
	c := unconnected(t)
	const id = "number-0"
	x := &numberCall{}
	x.init(c, "/number")
	c.handles.Set(id, x)
	defer c.core.Forget(id)
	for name, lose := range map[string]func(){
		"sent": func() { c.payload(id, 1, true) }, "read": func() { c.keep(id, 1, zkio.Kept{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("they are lost")
				}
			}()
			lose()
		})
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
		_, granted, err := l.participant.base.Begin(events.Event{Kind: events.CommandAwait})
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
		openAs(t, c, next.Latch, next)
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

// The watch ends with its client.
func TestTheWatchEndsWithItsClient(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		ran := n.pauses.LastRan
		before := ran()
		pass(time.Minute)
		if ran() == before {
			t.Error("it does not run while the client is open")
		}
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		before = ran()
		pass(time.Minute)
		if ran() != before {
			t.Error("it runs, and the client is closed")
		}
	})
}

// The watch counts with the shortest timeout that the session was granted, as belief does.
func TestTheWatchCountsWithTheShortestTimeout(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(func(c *Config) { c.Tick, c.RideOut = 2*time.Second, true })
		for _, granted := range []time.Duration{6 * time.Second, 12 * time.Second} {
			w.srv.SetSessionTimeouts(granted, granted)
			n.cut()
			pass(time.Minute)
		}
		if period := n.pauses.Period(); period != 6*time.Second/40 {
			t.Errorf("it has a period of %s, want a fortieth of 6 s", period)
		}
	})
}

// AloneUntil is over when a tick grew, and not when belief ends.
func TestTheTimeThatIsLeftForTheWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held := n.leads()
		session := held.Term().Session
		executor{n.Client}.Execute(events.SessionMachine, events.Deadline{Session: session})
		if time.Until(held.AloneUntil()) <= 0 {
			t.Error("the end of belief ends the time that is left for the work")
		}
		executor{n.Client}.Execute(events.SessionMachine, events.Deadline{Session: session, Alone: n.core.Clock.Now()})
		if left := time.Until(held.AloneUntil()); left > 0 {
			t.Errorf("%s are left although the tick grew", left)
		}
		held.Release()
	})
}

// The reason is that of the moment in which the context ended: what the call does then, to
// leave nothing behind, is not in it.
func TestTheReasonIsOlderThanTheEnd(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		w.start()
		second := w.start().latch
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		_, err := second.participant.await(ctx, ctx, "await", func(uint64) { fine(t, second.Close(t.Context())) })
		if !strings.HasPrefix(err.Error(), "incumbent: await /line: waiting behind the node ") {
			t.Error(err)
		}
	})
}
