package door_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const (
	stormTimeout = 4 * time.Second // of the sessions in these tests
	// for the requests of a recipe, and the tick that an idle client waits for its first confirmation
	roundTrips = 2 * time.Second
	tooMany    = 1000 // creates after which the operator stops: nothing is paced
)

// storm is an operator who deletes nodes soon after their creation.
type storm struct {
	made    chan string
	creates atomic.Int64
}

// deleteSoon has an operator delete the nodes that sessions create and wanted returns true for.
func (w *world) deleteSoon(after time.Duration, wanted func(zkmem.Txn) bool) *storm {
	s := &storm{made: make(chan string, tooMany)}
	w.srv.OnApply(func(txn zkmem.Txn, result zkmem.Result) {
		for _, one := range append(txn.Ops, txn) {
			switch one.Code {
			case zkmem.OpCreate, zkmem.OpCreate2, zkmem.OpCreateContainer:
				if result.Err == zkmem.OK && txn.Session != 0 && wanted(one) && s.creates.Add(1) <= tooMany {
					s.made <- one.Path
				}
			}
		}
	})
	go func() {
		for path := range s.made {
			virtual.Sleep(after)
			_ = w.srv.Delete(path) // its own client may have deleted it
		}
	}()
	return s
}

// stop ends the deletions.
func (s *storm) stop(w *world) {
	w.srv.OnApply(nil)
	close(s.made)
	synctest.Wait()
}

// slowly makes every answer that a client reads take d longer.
func slowly(d time.Duration) func(*incumbent.Config) {
	return func(c *incumbent.Config) {
		dial := c.Dial
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return slowConn{conn, d}, err
		}
	}
}

type slowConn struct {
	net.Conn
	by time.Duration
}

func (c slowConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	virtual.Sleep(c.by)
	return n, err
}

// A node that is deleted as soon as it is created, again and again, is not created again without
// pauses, whatever its recipe is; the handle or the call says why. Afterwards all is well again within
// two session timeouts.
func TestNodesThatAreDeletedAtOnce(t *testing.T) {
	minutes := selection.Of(t, "virtual minutes of deletions", 2, 2, 6)
	for _, name := range selection.Some(t, "recipes", 4, len(victims), slices.Sorted(maps.Keys(victims))) {
		victim := victims[name]
		for speed, d := range map[string]time.Duration{"before their creation is known": 20 * time.Millisecond,
			"after all was read": 0} {
			t.Run(name+", "+speed, func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					n := w.open(timeouts(stormTimeout, time.Second), slowly(d))
					fine(t, n.WaitConnected(t.Context()))
					use := victim.begin(t, w, n)
					s := w.deleteSoon(time.Millisecond, victim.deleted)
					use.start()
					pass(time.Duration(minutes) * time.Minute)
					err, creates := use.err(), s.creates.Load()
					for range 40 { // between two pauses there is no error
						if err != nil {
							break
						}
						pass(100 * time.Millisecond)
						err = use.err()
					}
					s.stop(w)
					if most := victim.creates*int64(minutes)/10 + 10; creates > most {
						t.Errorf("%d nodes were created in %d minutes, want at most %d\n%s", creates, minutes, most,
							n.tape.Tail(30))
					}
					if creates < 3 || !errors.Is(err, incumbent.ErrDeletedAgain) {
						t.Errorf("after %d creates it says %v, want ErrDeletedAgain", creates, err)
					}
					began := time.Now()
					pass(2*stormTimeout + roundTrips)
					call, cancel := context.WithTimeout(t.Context(), roundTrips)
					defer cancel()
					if err := use.works(call); err != nil {
						t.Errorf("%s later: %v\n%s", time.Since(began), err, n.tape.Tail(30))
					}
				})
			})
		}
	}
}

// victim is a recipe whose nodes are deleted.
type victim struct {
	creates int64                // how many of them it may create in ten minutes
	deleted func(zkmem.Txn) bool // which they are
	begin   func(*testing.T, *world, *node) use
}

// use is a recipe in use.
type use struct {
	start func()
	err   func() error                // what the handle says, or the call has returned
	works func(context.Context) error // nil: all is well after the storm
}

func ephemeral(txn zkmem.Txn) bool { return txn.Owner != 0 }

func childrenOf(dir string) func(zkmem.Txn) bool {
	return func(txn zkmem.Txn) bool { return strings.HasPrefix(txn.Path, dir+"/") }
}

func exactly(paths ...string) func(zkmem.Txn) bool {
	return func(txn zkmem.Txn) bool {
		for _, path := range paths {
			if txn.Path == path {
				return true
			}
		}
		return false
	}
}

// One node after each of the pauses, which take 1.5 T on average: 100. The first three follow at once, whatever the
// time.
const inTenMinutes = 120

var victims = map[string]victim{
	"latch": {inTenMinutes, ephemeral, func(t *testing.T, _ *world, n *node) use {
		l := must(n.Latch("/line", incumbent.LatchOptions{}))
		return leads(t, l.Start, l.Err, l.Await)
	}},
	"selector": {inTenMinutes, ephemeral, func(t *testing.T, _ *world, n *node) use {
		s := must(n.Selector("/line", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{AutoRequeue: true}))
		return use{func() { fine(t, s.Start()) }, s.Err,
			func(context.Context) error { return unless(s.HasLeadership()) }}
	}},
	"election": {inTenMinutes, ephemeral, func(t *testing.T, _ *world, n *node) use {
		e := must(n.Election("/line", "n_", incumbent.LatchOptions{}))
		return leads(t, e.Start, e.Err, e.Await)
	}},
	// latch nodes, markers and seals
	"job election": {4 * inTenMinutes, ephemeral, func(t *testing.T, _ *world, n *node) use {
		j := must(n.JobElection("/job", incumbent.JobElectionOptions{}))
		return leads(t, j.Start, j.Err, j.Await)
	}},
	"job election's marker": {inTenMinutes, exactly("/job/leader/election/instance"),
		func(t *testing.T, _ *world, n *node) use {
			j := must(n.JobElection("/job", incumbent.JobElectionOptions{}))
			return leads(t, j.Start, j.Err, j.Await)
		}},
	"mutex": {3, ephemeral, func(t *testing.T, w *world, n *node) use {
		held := must(must(w.open().Mutex("/line", incumbent.MutexOptions{})).Lock(t.Context()))
		m := must(n.Mutex("/line", incumbent.MutexOptions{}))
		return locks(t, held, m.Lock)
	}},
	"read-write lock": {3, ephemeral, func(t *testing.T, w *world, n *node) use {
		held := must(must(w.open().ReadWriteLock("/line", incumbent.MutexOptions{})).Lock(t.Context()))
		m := must(n.ReadWriteLock("/line", incumbent.MutexOptions{}))
		return locks(t, held, m.RLock)
	}},
	"semaphore": {3, ephemeral, func(t *testing.T, w *world, n *node) use {
		held := must(must(w.open().Semaphore("/line", 1, incumbent.SemaphoreOptions{})).Acquire(t.Context(), 1))
		s := must(n.Semaphore("/line", 1, incumbent.SemaphoreOptions{}))
		return locks(t, held, func(ctx context.Context) (*incumbent.Hold, error) { return s.Acquire(ctx, 1) })
	}},
	"persistent node": {inTenMinutes, ephemeral, func(t *testing.T, _ *world, n *node) use {
		p := must(n.PersistentNode("/node", nil, incumbent.PersistentNodeOptions{}))
		return use{func() { fine(t, p.Start()) }, p.Err, func(context.Context) error { return unless(p.Present()) }}
	}},
	"membership": {inTenMinutes, ephemeral, func(t *testing.T, _ *world, n *node) use {
		m := must(n.Membership("/group", "a", nil, incumbent.PersistentNodeOptions{}))
		return use{func() { fine(t, m.Start()) }, m.Err, func(context.Context) error { return unless(m.Present()) }}
	}},
	"double barrier": {inTenMinutes, ephemeral, func(t *testing.T, w *world, n *node) use {
		b, other := must(n.DoubleBarrier("/barrier", 2,
			incumbent.DoubleBarrierOptions{})),
			must(w.open().DoubleBarrier("/barrier", 2, incumbent.DoubleBarrierOptions{}))
		start, end := inBackground(t, b.Enter)
		return use{start, b.Err, func(ctx context.Context) error {
			return errors.Join(other.Enter(ctx), b.Err(),
				end())
		}}
	}},
	"consumer": {inTenMinutes, childrenOf("/q-locks"), func(t *testing.T, _ *world, n *node) use {
		q := must(incumbent.NewQueue(n.Client, "/q", plain))
		var done atomic.Bool
		c := must(q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error {
			virtual.Sleep(10 * time.Millisecond)
			done.Store(true)
			return nil
		}, incumbent.ConsumerOptions{}))
		fine(t, q.Put(t.Context(), "a"))
		return use{func() { fine(t, c.Start()) }, c.Err, func(ctx context.Context) error {
			return errors.Join(c.Err(), unless(done.Load() && len(must(n.Children("/q").Do(ctx))) == 0))
		}}
	}},
	"consumer's queue": {2 * inTenMinutes, exactly("/q", "/q-locks"), func(t *testing.T, _ *world, n *node) use {
		q := must(incumbent.NewQueue(n.Client, "/q", plain))
		c := must(q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error { return nil },
			incumbent.ConsumerOptions{}))
		return use{func() { fine(t, c.Start()) }, c.Err,
			func(ctx context.Context) error { return errors.Join(c.Err(), q.Put(ctx, "a")) }}
	}},
}

// leads is the use of a recipe that elects.
func leads(t *testing.T, start func() error, err func() error,
	await func(context.Context) (*incumbent.Leadership, error)) use {
	return use{func() { fine(t, start()) }, err, func(ctx context.Context) error {
		l, err := await(ctx)
		if err == nil {
			l.Release()
		}
		return err
	}}
}

// locks is the use of a lock that another client holds.
func locks(t *testing.T, held interface{ Unlock(context.Context) error },
	lock func(context.Context) (*incumbent.Hold, error)) use {
	start, end := inBackground(t, func(ctx context.Context) error {
		_, err := lock(ctx)
		return err
	})
	return use{start, end, func(ctx context.Context) error {
		fine(t, held.Unlock(ctx))
		h, err := lock(ctx)
		if err == nil {
			err = h.Unlock(ctx)
		}
		return err
	}}
}

// inBackground makes a call whose end is nil until it has returned.
func inBackground(t *testing.T, call func(context.Context) error) (start func(), end func() error) {
	var returned atomic.Pointer[error]
	return func() {
			go func() {
				err := call(t.Context())
				returned.Store(&err)
			}()
		}, func() error {
			if err := returned.Load(); err != nil {
				return *err
			}
			return nil
		}
}

// unless returns an error if something is not as it should be.
func unless(well bool) error {
	if well {
		return nil
	}
	return errors.New("it does not work")
}

// The place in the line of locks is deleted before each transaction that needs it: the call ends, and
// does not begin a new place each time.
func TestAPlaceForPermitsThatIsDeletedAtOnce(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(timeouts(stormTimeout, time.Second), slowly(20*time.Millisecond))
		// it leads elsewhere, so that a confirmation counts at once
		pass(time.Minute)
		s := w.deleteSoon(30*time.Millisecond, childrenOf("/permits/locks")) // it was listed, and is held
		_, err := must(n.Semaphore("/permits", 1, incumbent.SemaphoreOptions{})).Acquire(t.Context(), 1)
		s.stop(w)
		if creates := s.creates.Load(); creates > 5 || !errors.Is(err, incumbent.ErrDeletedAgain) {
			t.Errorf("after %d places: %v, want ErrDeletedAgain after 5 at most: the latch counts, and the acquisition",
				creates, err)
		}
	})
}

// A marker that its own client may not read any more is of no use to anybody while it exists: it is
// given up after a session timeout, and the job has a leader again.
func TestAMarkerThatMayNotBeRead(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open(timeouts(stormTimeout, time.Second))
		j := must(n.JobElection("/job", incumbent.JobElectionOptions{}))
		fine(t, j.Start())
		first := must(j.Await(t.Context()))
		first.Release()
		_, err := w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: first.Term().Path, ACL: closed,
			Version: zkmem.AnyVersion})
		fine(t, err)
		pass(5 * stormTimeout)
		second, err := j.Await(t.Context())
		if err != nil || second.Token() <= first.Token() {
			t.Fatalf("it does not lead again: %v, %v\n%s", err, j.Err(), n.tape.Tail(30))
		}
		second.Release()
	})
}
