package door_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// mustSay fails if an error does not contain all of these words.
func mustSay(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("the error is %q, want %q in it", err, word)
		}
	}
}

// Without a connection Close returns within a session timeout and names what is left; the
// machine deletes it at the next connection.
func TestCloseInAnOutage(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		a, b := w.start(), w.start()
		own := a.ownPath()
		w.refuse(a, true)
		a.cut()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := a.latch.Close(ctx)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("Close took %s with a context of a second", took)
		}
		if !errors.Is(err, incumbent.ErrNotDeleted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v, want ErrNotDeleted and the context's end", err)
		}
		mustSay(t, err, "/line", own, "not connected", "no route to host")
		begun = time.Now()
		err = a.latch.Close(context.Background())
		if took := time.Since(begun); took != 15*time.Second {
			t.Errorf("Close took %s with a session timeout of 15s", took)
		}
		if !errors.Is(err, incumbent.ErrNotDeleted) {
			t.Errorf("Close: %v, want ErrNotDeleted", err)
		}
		w.refuse(a, false)
		pass(20 * time.Second)
		if !b.latch.HasLeadership() || a.latch.State() != incumbent.Closed {
			t.Errorf("b leads: %t; a is %s", b.latch.HasLeadership(), a.latch.State())
		}
	})
}

// After a short outage the machine of a handle whose Close has returned deletes the
// node in the session that lives on.
func TestTheDeletionGoesOnAfterClose(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		a, b := w.start(), w.start()
		session := a.session()
		w.refuse(a, true)
		a.cut()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.latch.Close(ctx); !errors.Is(err, incumbent.ErrNotDeleted) {
			t.Fatalf("Close: %v, want ErrNotDeleted", err)
		}
		w.refuse(a, false)
		pass(3 * time.Second)
		sessions := map[int64]bool{}
		for _, s := range w.srv.Sessions() {
			sessions[s.ID] = true
		}
		if !b.latch.HasLeadership() || !sessions[session] {
			t.Errorf("b leads: %t; a's session lives: %t", b.latch.HasLeadership(), sessions[session])
		}
	})
}

// Run and Client.Close end promptly with their context while the ensemble is down, so that
// a program that gets a signal ends.
func TestAProgramEndsWhileTheEnsembleIsDown(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		s, err := n.Selector("/line",
			func(l *incumbent.Leadership) error { <-l.Context().Done(); return l.Context().Err() },
			incumbent.SelectorOptions{AutoRequeue: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		pass(time.Second)
		if !s.HasLeadership() {
			t.Fatal("it does not lead")
		}
		w.refuse(n, true)
		n.cut()
		pass(time.Second)
		begun := time.Now()
		cancel()
		err = <-ended
		if !errors.Is(err, incumbent.ErrNotDeleted) {
			t.Errorf("Run: %v, want ErrNotDeleted", err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("Run took %s", took)
		}
		err = n.Close(ctx)
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("Run and Close took %s", took)
		}
		mustSay(t, err, "abandoned", "not connected")
	})
}

// Client.Close without a context that ends returns within a session timeout.
func TestClientCloseInAnOutageIsBounded(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		queue := must(incumbent.NewQueue(n.Client, "/queue", incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
		if err := queue.Put(t.Context(), "item"); err != nil {
			t.Fatal(err)
		}
		w.refuse(n, true)
		n.cut()
		begun := time.Now()
		mustSay(t, n.Close(context.Background()), "abandoned")
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("Close took %s with a session timeout of 15s", took)
		}
	})
}

// While work runs only the context bounds a close: no other participant may lead meanwhile.
// The bound of a session timeout counts from the work's return.
func TestClosingWaitsForTheWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held := n.leads()
		w.refuse(n, true)
		n.cut()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		begun := time.Now()
		if err := n.latch.Close(ctx); !errors.Is(err, incumbent.ErrWorkRunning) || time.Since(begun) != 10*time.Minute {
			t.Errorf("Close: %v after %s, want ErrWorkRunning with the context", err, time.Since(begun))
		}
		if err := n.Close(ctx); !errors.Is(err, incumbent.ErrWorkRunning) {
			t.Errorf("Client.Close: %v, want ErrWorkRunning", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- n.latch.Close(context.Background()) }()
		pass(10 * time.Minute)
		select {
		case err := <-closed:
			t.Errorf("Close returned while work runs: %v", err)
		default:
		}
		held.Release()
		pass(15 * time.Second)
		select {
		case <-closed:
		default:
			t.Error("Close has not returned a session timeout after the work")
		}
	})
}

// Run waits for its work, however long that takes, and warns.
func TestRunWaitsForTheWorkAndWarns(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &sharedLog{}
		n := w.open(func(c *incumbent.Config) { c.Logger = zerolog.New(log) })
		returns := make(chan struct{})
		s := must(n.Selector("/line", func(*incumbent.Leadership) error { <-returns; return nil },
			incumbent.SelectorOptions{}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		pass(time.Second)
		cancel()
		const warning = "work goes on long after it had to end"
		pass(14 * time.Second)
		if strings.Contains(log.String(), warning) {
			t.Error("it warns within a session timeout")
		}
		pass(2 * time.Second)
		if strings.Count(log.String(), warning) != 1 || !strings.Contains(log.String(), `"path":"/line"`) {
			t.Errorf("want one warning with the path, got %s", log.String())
		}
		if s.HasLeadership() {
			t.Error("it leads after the end of Run's context")
		}
		select {
		case err := <-ended:
			t.Errorf("Run returned while its work runs: %v", err)
		default:
		}
		close(returns)
		fine(t, <-ended)
		if len(w.srv.Sessions()) != 1 || n.machines() != 1 {
			t.Errorf("%d sessions and %d machines, want the client's own", len(w.srv.Sessions()), n.machines())
		}
	})
}

// A server that is slow to close the session leaves time for the end of the loop.
func TestCloseWithASlowServer(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(timeouts(4*time.Second, time.Second))
		defer w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpCloseSession {
				return zkmem.Verdict{Delay: 3 * time.Second}
			}
			return zkmem.Verdict{}
		})()
		begun := time.Now()
		err := n.Close(context.Background())
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("Close took %s", took)
		}
		if err != nil && strings.Contains(err.Error(), "loop has not ended") {
			t.Errorf("Close: %v", err)
		}
		if !n.ended() {
			t.Error("the loop runs on")
		}
		pass(5 * time.Second)
	})
}
