package door_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// passedOverLines returns the children that the log names as passed over, each with its level, sorted.
func passedOverLines(t *testing.T, log *lines) (found []string) {
	t.Helper()
	for _, l := range log.parsed(t) {
		if l.text() == "passed over" {
			found = append(found, fmt.Sprint(l.level(), " ", l["path"], "/", l["child"]))
		}
	}
	slices.Sort(found)
	return found
}

// In each recipe that reads a line, the log says once what was passed over, however often the line is read.
func TestWhatALinePassesOverIsLoggedOnce(t *testing.T) {
	start := func(err error, start func() error) error {
		if err != nil {
			return err
		}
		return start()
	}
	brief := func(err error, lock func() (*incumbent.Hold, error)) error {
		if err != nil {
			return err
		}
		hold, err := lock()
		if err != nil {
			return err
		}
		return hold.Unlock(context.Background())
	}
	for name, recipe := range map[string]struct {
		dir string // of the line, below /dir
		use func(c *incumbent.Client, ctx context.Context) error
	}{
		"latch": {"", func(c *incumbent.Client, ctx context.Context) error {
			l, err := c.Latch("/dir", incumbent.LatchOptions{})
			return start(err, l.Start)
		}},
		"selector": {"", func(c *incumbent.Client, ctx context.Context) error {
			s, err := c.Selector("/dir", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
				incumbent.SelectorOptions{})
			return start(err, s.Start)
		}},
		"election": {"", func(c *incumbent.Client, ctx context.Context) error {
			e, err := c.Election("/dir", "n_", incumbent.LatchOptions{})
			return start(err, e.Start)
		}},
		"mutex": {"", func(c *incumbent.Client, ctx context.Context) error {
			m, err := c.Mutex("/dir", incumbent.MutexOptions{})
			return brief(err, func() (*incumbent.Hold, error) { return m.Lock(ctx) })
		}},
		"plain mutex": {"", func(c *incumbent.Client, ctx context.Context) error {
			m, err := c.Mutex("/dir", incumbent.MutexOptions{Plain: true})
			return brief(err, func() (*incumbent.Hold, error) { return m.Lock(ctx) })
		}},
		"read-write lock": {"", func(c *incumbent.Client, ctx context.Context) error {
			l, err := c.ReadWriteLock("/dir", incumbent.MutexOptions{})
			return brief(err, func() (*incumbent.Hold, error) { return l.RLock(ctx) })
		}},
		"semaphore": {"/locks", func(c *incumbent.Client, ctx context.Context) error {
			s, err := c.Semaphore("/dir", 2, incumbent.SemaphoreOptions{})
			return brief(err, func() (*incumbent.Hold, error) { return s.Acquire(ctx, 1) })
		}},
		"job election": {"/leader/election/latch", func(c *incumbent.Client, ctx context.Context) error {
			j, err := c.JobElection("/dir", incumbent.JobElectionOptions{ID: "a"})
			return start(err, j.Start)
		}},
		"watch": {"", func(c *incumbent.Client, ctx context.Context) error {
			for range c.Watch(ctx, "/dir", "n_") {
				return nil
			}
			return ctx.Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				dir := "/dir" + recipe.dir
				for _, path := range []string{dir, dir + "/config", dir +
					"/0f1e2d3c4b5a49888776655443322110__party__0000000000"} {
					if err := w.createAll(path); err != nil {
						t.Fatal(err)
					}
				}
				log := &lines{}
				c := w.open(timeouts(10*time.Second, 2*time.Second), logInto(log))
				for range 3 {
					err := recipe.use(c.Client, within(t, time.Minute))
					if err != nil && !strings.Contains(err.Error(), "this client has a ") && !errors.Is(err,
						context.DeadlineExceeded) {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				want := []string{"info " + dir + "/config", "warn " + dir +
					"/0f1e2d3c4b5a49888776655443322110__party__0000000000"}
				if got := passedOverLines(t, log); !slices.Equal(got, want) {
					t.Errorf("the log has %q, want %q", got, want)
				}
			})
		})
	}
}

// createAll creates a node with its parents, past all clients.
func (w *world) createAll(path string) error {
	for i := range path {
		if i == 0 || path[i] != '/' {
			continue
		}
		if _, err := w.srv.Create(path[:i], nil, zkmem.Persistent); err != nil && !errors.Is(err, zkmem.NodeExists) {
			return err
		}
	}
	_, err := w.srv.Create(path, nil, zkmem.Persistent)
	return err
}

// A try that finds the lock held, and one that finds it free, log what they have passed over. It is bounded, however
// many kinds of names there are.
func TestPassedOverChildrenOfATryAreBounded(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		for i := range 1200 {
			dir := fmt.Sprint("/dirs/", i)
			const guid = "/_c_0f1e2d3c4b5a49888776655443322110-"
			paths := []string{dir + guid + "write-0000000000", dir + guid + "write-0000000001"}
			if i%2 == 1 {
				paths = append(paths, dir+"/lock-0000000002") // a try ends here
			}
			for _, path := range paths {
				if err := w.createAll(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		log := &lines{}
		c := w.open(timeouts(10*time.Second, 2*time.Second), logInto(log))
		for i := range 1200 {
			m, err := c.Mutex(fmt.Sprint("/dirs/", i), incumbent.MutexOptions{})
			if err != nil {
				t.Fatal(err)
			}
			hold, held, err := m.TryLock(within(t, time.Minute))
			if err == nil && held {
				err = hold.Unlock(context.Background())
			}
			if err != nil || held == (i%2 == 1) {
				t.Fatalf("try %d: %t, %v", i, held, err)
			}
		}
		got := passedOverLines(t, log)
		if len(got) != 1000 || !strings.HasPrefix(got[0], "warn /dirs/") {
			t.Errorf("%d lines, the first %q", len(got), got[0])
		}
	})
}
