package door_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Requests with the root, with paths that end in a slash and with empty paths get errors
// that help.
func TestRequestsOfOddPaths(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		ctx := t.Context()
		_, err := c.Set("/", []byte("x")).Do(ctx)
		fine(t, err)
		_, err = c.Multi(incumbent.CheckVersion("/", incumbent.AnyVersion),
			incumbent.SetData("/", nil, incumbent.AnyVersion)).Do(ctx)
		fine(t, err)
		for name, ask := range map[string]func() error{
			"the root": func() error { _, err := c.Create("/", nil).Do(ctx); return err },
			"BADARG":   func() error { return c.Delete("/").Do(ctx) },
			"slash":    func() error { _, err := c.Multi(incumbent.CreateNode("/a/", nil)).Do(ctx); return err },
			"NODEEX":   func() error { _, err := c.Create("/zookeeper", nil).Do(ctx); return err },
		} {
			if err := ask(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A TTL has whole milliseconds, as many as ZooKeeper can encode.
func TestBoundsOfATTL(t *testing.T) {
	bubble(t, zkmem.Options{ExtendedTypes: true}, func(t *testing.T, w *world) {
		c := w.open()
		const maxTTL = (1<<40 - 1) * time.Millisecond
		for ttl, refused := range map[time.Duration]bool{
			0: true, time.Millisecond: false, maxTTL: false, maxTTL + time.Millisecond: true, time.Second + 1: true,
		} {
			_, err := c.Create("/t-", nil).Sequential().TTL(ttl).Do(t.Context())
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), "want whole milliseconds") {
				t.Errorf("%s: %v", ttl, err)
			}
		}
	})
}

// A request may be changed and sent again while it is still pending.
func TestARequestThatIsAskedForAgain(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		r := c.Create("/a/b-", nil).Sequential().Parents()
		results := make(chan incumbent.Result, 2)
		r.Background(t.Context(), func(r incumbent.Result) { results <- r })
		r.Protected()
		r.Background(t.Context(), func(r incumbent.Result) { results <- r })
		for range 2 {
			fine(t, (<-results).Err)
		}
		if children := w.children("/a"); len(children) != 2 {
			t.Fatal(children)
		}
	})
}

// Many requests without a connection are all answered, by callbacks that panic or block,
// and requests to a closed client are refused.
func TestManyRequestsInTheBackground(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		fine(t, c.WaitConnected(t.Context()))
		w.refuse(c, true)
		c.cut()
		var calls, failed atomic.Int64
		var block = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 100 {
			r, asker := c.Exists("/none"), t.Context()
			if i%2 == 0 {
				asker = ctx
			}
			r.Background(asker, func(r incumbent.Result) {
				if calls.Add(1); r.Err != nil {
					failed.Add(1)
				}
				if i%3 == 0 {
					panic("a callback")
				}
				<-block
			})
		}
		cancel()
		synctest.Wait()
		if calls.Load() != 50 || failed.Load() != 50 {
			t.Fatal(calls.Load(), failed.Load())
		}
		w.refuse(c, false)
		pass(time.Minute)
		if calls.Load() != 100 || failed.Load() != 50 {
			t.Fatal(calls.Load(), failed.Load())
		}
		fine(t, c.Close(t.Context()))
		close(block)
		if _, err := c.Get("/").Do(t.Context()); !errors.Is(err, incumbent.ErrClosed) {
			t.Error(err)
		}
		if d, err := c.Delete("/a").Guaranteed(); !errors.Is(err, incumbent.ErrClosed) {
			t.Error(d, err)
		}
		for _, err := range c.WatchNode(t.Context(), "/a") {
			if !errors.Is(err, incumbent.ErrClosed) {
				t.Error(err)
			}
		}
	})
}

// A guaranteed delete whose reply was lost has an unknown outcome if it is cancelled before
// the next read.
func TestAGuaranteedDeleteThatIsCancelledInDoubt(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		_, err := c.Create("/a", nil).Do(t.Context())
		fine(t, err)
		multis := 0 // the check, then the delete
		w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
			if r.Path == "/a" && r.Op == zkmem.OpMulti {
				multis++
			}
			if multis == 2 {
				multis++
				w.refuse(c, true)
				v.Action = zkmem.CutAfter
			}
			return v
		})
		d, err := c.Delete("/a").Guaranteed()
		fine(t, err)
		synctest.Wait()
		if err := d.Cancel(); !errors.Is(err, incumbent.ErrOutcomeUnknown) {
			t.Fatalf("%v\n%s", err, c.tape.Tail(9))
		}
		if err := d.Cancel(); !errors.Is(err, incumbent.ErrOutcomeUnknown) || len(c.Deletions()) != 0 {
			t.Fatal(err)
		}
	})
}

// Programs ask for the codes of the ensemble by errors.Is. The text has the code and the path.
func TestRefusalsByName(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		ctx := t.Context()
		_, err := c.Create("/a/b", nil).Parents().Do(ctx)
		fine(t, err)
		_, err = c.Create("/short", nil).Ephemeral().Do(ctx)
		fine(t, err)
		get := func() error { _, err := c.Get("/none").Do(ctx); return err }
		create := func(path string) func() error {
			return func() error { _, err := c.Create(path, nil).Do(ctx); return err }
		}
		all := []error{incumbent.ErrNoNode, incumbent.ErrNodeExists, incumbent.ErrNotEmpty, incumbent.ErrBadVersion,
			incumbent.ErrEphemeralParent, incumbent.ErrQuotaExceeded, incumbent.ErrLocalSession,
			incumbent.ErrLoginRequired}
		remove := func() error { return c.Delete("/a").Do(ctx) }
		write := func() error {
			_, err := c.Multi(incumbent.CheckVersion("/a", 7)).Do(ctx)
			return err
		}
		for want, ask := range map[string]struct {
			is  error
			ask func() error
		}{
			"NONODE (no such node): /none":                      {incumbent.ErrNoNode, get},
			"NODEEXISTS (the node exists already): /a/b":        {incumbent.ErrNodeExists, create("/a/b")},
			"NOTEMPTY (the node has children): /a":              {incumbent.ErrNotEmpty, remove},
			"BADVERSION (the node has another version)":         {incumbent.ErrBadVersion, write},
			"NOCHILDRENFOREPHEMERALS (an ephemeral node cannot": {incumbent.ErrEphemeralParent, create("/short/x")},
		} {
			err := ask.ask()
			if !errors.Is(err, ask.is) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %v with %q", err, ask.is, want)
			}
			for _, other := range all {
				if other != ask.is && errors.Is(err, other) {
					t.Errorf("%v is also %v", err, other)
				}
			}
		}
	})
}
