package door_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A second Close while the first one's closeSession is pending waits for it: it must not
// abandon the session that is just being closed.
func TestCloseTwiceAtOnce(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		synctest.Wait()
		answer := make(chan struct{})
		defer w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpCloseSession {
				return zkmem.Verdict{Wait: answer}
			}
			return zkmem.Verdict{}
		})()
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- n.Close(context.Background()) }()
			synctest.Wait()
		}
		select {
		case err := <-errs:
			t.Errorf("a Close returned before the session was closed: %v", err)
		default:
		}
		close(answer)
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if left := w.srv.Sessions(); len(left) != 0 {
			t.Errorf("%d sessions are left", len(left))
		}
	})
}

// blockedWriter is a writer of a log that takes its header and then blocks until it is freed.
type blockedWriter struct {
	freed chan struct{}
	begun bool
}

func (s *blockedWriter) Write(b []byte) (int, error) {
	if s.begun {
		<-s.freed
	}
	s.begun = true
	return len(b), nil
}

// Close returns with its context although the log's writer blocks.
func TestCloseWithALogThatBlocks(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, log := &node{}, &blockedWriter{freed: make(chan struct{})}
		c, err := incumbent.Open(sources.With(context.Background(), w.sources(n)), incumbent.Config{
			Servers: "192.0.2.1:2181", Record: incumbent.RecordTo(log),
			Dial: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				go w.srv.ServeConn(server)
				return client, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v, want the context's end", err)
		} else if !strings.Contains(err.Error(), "the rest of the log could not be written to Config.Record") {
			t.Errorf("Close does not say what is left: %v", err)
		}
		if !n.ended() {
			t.Error("the loop waits for the log")
		}
		close(log.freed)
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// An executor may block, as a pool without room does: the loop goes on.
func TestExecutorMayBlock(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		room, full := make(chan struct{}), make(chan struct{})
		s, err := n.Selector("/line", func(*incumbent.Leadership) error { return nil },
			incumbent.SelectorOptions{Executor: func(run func()) {
				close(full)
				<-room
				run()
			}})
		if err != nil {
			t.Fatal(err)
		}
		ran := make(chan error)
		go func() { ran <- s.Run(context.Background()) }()
		<-full
		pass(time.Minute)
		if !s.HasLeadership() {
			t.Error("the heartbeat did not go on")
		}
		close(room)
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

// Work that ends its goroutine, as t.FailNow does, has ended. A listener that does so is
// called with the next change nevertheless.
func TestGoexit(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		s, err := w.open().Selector("/line", func(*incumbent.Leadership) error { runtime.Goexit(); return nil },
			incumbent.SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		stopped := make(chan struct{})
		s.AddListener(incumbent.Listener{IsLeader: func(incumbent.Term) { runtime.Goexit() },
			NotLeader: func(incumbent.Term, error) { close(stopped) }})
		if err := s.Run(context.Background()); !errors.Is(err, incumbent.ErrWorkFailed) {
			t.Errorf("Run: %v, want %v", err, incumbent.ErrWorkFailed)
		}
		<-stopped
	})
}

// TestAClosedHandleAsksNobody: calls of it in a loop fill no log.
func TestAClosedHandleAsksNobody(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		if err := n.latch.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before := len(n.tape.Records())
		for range 100 {
			if _, err := n.latch.Await(t.Context()); !errors.Is(err, incumbent.ErrClosed) {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if after := len(n.tape.Records()); after != before {
			t.Errorf("%d records of a closed handle", after-before)
		}
	})
}
