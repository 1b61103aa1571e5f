package suite

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
)

// readWrite is a lock, and where its next acquisition can be seen.
type readWrite struct {
	*incumbent.ReadWriteLock
	c *client
	n int // acquisitions so far
}

func (c *client) newReadWrite(dir string, o incumbent.MutexOptions) *readWrite {
	c.t.Helper()
	l, err := c.ReadWriteLock(dir, o)
	ok(c.t, err)
	return &readWrite{l, c, 0}
}

// write and read must succeed.
func (l *readWrite) write() *incumbent.WriteHold {
	l.c.t.Helper()
	l.n++
	h, err := l.Lock(l.c.ctx)
	ok(l.c.t, err)
	return h
}

func (l *readWrite) read() *incumbent.Hold {
	l.c.t.Helper()
	l.n++
	h, err := l.RLock(l.c.ctx)
	ok(l.c.t, err)
	return h
}

// queueWriter and queueReader ask in a goroutine and return when they wait.
func (l *readWrite) queueWriter() (handle, chan outcome) {
	l.c.t.Helper()
	l.n++
	return l.c.inLine(fmt.Sprintf("readwrite-%d", l.n), "waiting", func() (*incumbent.Hold, error) {
		h, err := l.Lock(l.c.ctx)
		if err != nil {
			return nil, err
		}
		return &h.Hold, nil
	})
}

func (l *readWrite) queueReader() (handle, chan outcome) {
	l.c.t.Helper()
	l.n++
	return l.c.inLine(fmt.Sprintf("readwrite-%d", l.n), "waiting", func() (*incumbent.Hold, error) {
		return l.RLock(l.c.ctx)
	})
}

// granted waits for a hold that was queued for.
func granted(t *testing.T, ch chan outcome, what string) *incumbent.Hold {
	t.Helper()
	o := recv(t, ch, what)
	ok(t, o.err)
	ok(t, o.hold.Check())
	return o.hold
}

func held[H any](t *testing.T, want bool) func(hold H, held bool, err error) H {
	return func(hold H, held bool, err error) H {
		t.Helper()
		if held != want || err != nil {
			t.Fatalf("held: %t, %v", held, err)
		}
		return hold
	}
}

func TestReadersHoldTogetherAndWritersAlone(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		var readers, writers, together atomic.Int64
		var token int64 // the last writer's
		var all sync.WaitGroup
		for i := range 4 {
			l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
			all.Go(func() {
				for n := range 5 {
					if (n+i)%3 == 0 {
						h, err := l.Lock(l.c.ctx)
						if err != nil {
							t.Error(err)
							return
						}
						if writers.Add(1) != 1 || readers.Load() != 0 || h.Token() <= token {
							t.Errorf("%d writers, %d readers, token %d after %d", writers.Load(), readers.Load(),
								h.Token(), token)
						}
						token = h.Token()
						writers.Add(-1)
						if n%2 == 0 {
							read, err := h.Downgrade(l.c.ctx)
							if err != nil || read.Token() != token || writers.Load() != 0 {
								t.Errorf("%v, %d writers", err, writers.Load())
								return
							}
							if err := read.Unlock(l.c.ctx); err != nil {
								t.Error(err)
							}
							continue
						}
						if err := h.Unlock(l.c.ctx); err != nil {
							t.Error(err)
						}
						continue
					}
					h, err := l.RLock(l.c.ctx)
					if err != nil {
						t.Error(err)
						return
					}
					if readers.Add(1) > 1 {
						together.Add(1)
					}
					if writers.Load() != 0 || h.Token() <= token {
						t.Errorf("a reader with token %d held together with %d writers, the last of them with %d",
							h.Token(), writers.Load(), token)
					}
					readers.Add(-1)
					if err := h.Unlock(l.c.ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
		t.Logf("%d times a reader found another", together.Load())
	})
}

func TestReadWriteLockIsFair(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{ID: "host-a"})
		ctx := l.c.ctx
		first, second := l.read(), l.read()
		_, third := l.queueWriter()
		fourth, reads := l.queueReader()
		_, fifth := l.queueWriter()

		other := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
		held[*incumbent.Hold](t, false)(other.TryRLock(ctx)) // a reader holds, but a writer waits
		held[*incumbent.WriteHold](t, false)(other.TryLock(ctx))
		line, err := other.Participants(ctx)
		ok(t, err)
		var sides []string
		for _, p := range line {
			sides = append(sides, fmt.Sprint(p.Recipe, p.Prefix, p.ID, p.First))
		}
		want := "readwrite__READ__host-atrue readwrite__READ__host-atrue readwrite__WRIT__host-afalse " +
			"readwrite__READ__host-afalse readwrite__WRIT__host-afalse"
		if got := strings.Join(sides, " "); got != want {
			t.Fatalf("%s", got)
		}

		ok(t, second.Unlock(ctx)) // the writer waits for the other one, too
		ok(t, first.Unlock(ctx))
		w := granted(t, third, "the writer")
		fourth.state("waiting")
		ok(t, w.Unlock(ctx))
		r := granted(t, reads, "the reader behind it")
		held[*incumbent.Hold](t, false)(l.TryRLock(ctx))
		if w.Token() <= second.Token() || r.Token() <= w.Token() {
			t.Fatalf("tokens %d, %d, %d", second.Token(), w.Token(), r.Token())
		}
		ok(t, r.Unlock(ctx))
		w = granted(t, fifth, "the last writer")
		ok(t, w.Unlock(ctx))
		ok(t, held[*incumbent.Hold](t, true)(l.TryRLock(ctx)).Unlock(ctx))
		ok(t, held[*incumbent.WriteHold](t, true)(l.TryLock(ctx)).Unlock(ctx))
		e.untilChildren(e.dir(), 0)
	})
}

func TestAReaderGoesOnWhenTheWriterBeforeItGivesUp(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
	first := l.read()
	writer, refused := l.queueWriter()
	_, second := l.queueReader()
	e.remove(writer.node()) // it queues again, behind the reader
	r := granted(t, second, "the reader")
	ok(t, first.Unlock(l.c.ctx))
	ok(t, r.Unlock(l.c.ctx))
	ok(t, granted(t, refused, "the writer").Unlock(l.c.ctx))
}

// TestANameOutsideTheSequenceIsFound has a writer of Curator 5.5 become a reader.
func TestANameOutsideTheSequenceIsFound(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		l := c.newReadWrite(e.dir(), incumbent.MutexOptions{})
		ok(t, l.read().Unlock(c.ctx)) // makes the directory
		java, _, err := zk.Connect([]string{e.servers()}, e.timeout(), zk.WithLogger(silent{}), zk.WithLogInfo(false))
		ok(t, err)
		defer java.Close()
		const guid = "_c_0f8fad5b-d9cb-469f-a165-70867728950e-"
		theirs, err := java.Create(e.dir()+"/"+guid+"__WRIT__", nil, zk.FlagEphemeral|zk.FlagSequence,
			zk.WorldACL(zk.PermAll))
		ok(t, err)
		waiter, next := l.queueWriter()
		lowered, err := java.Create(strings.Replace(theirs, "__WRIT__", "__READ__", 1), nil, zk.FlagEphemeral,
			zk.WorldACL(zk.PermAll))
		ok(t, err)
		e.remove(theirs)
		waiter.c.tape.Until("the writer to watch the reader", func(records []events.Record) bool {
			return slices.ContainsFunc(records, func(r events.Record) bool {
				return r.Machine == waiter.id && r.From == "waiting" && r.Event.Kind == events.ReplyStat &&
					r.Event.Path == lowered
			})
		})
		e.remove(lowered)
		ok(t, granted(t, next, "the writer").Unlock(c.ctx))
	})
}

func TestReadWriteHolderLocksAgainWhatItHolds(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
		h, ctx := l.Holder(), l.c.ctx
		is(t, h.Unlock(ctx), incumbent.ErrNotHeld)
		is(t, h.RUnlock(ctx), incumbent.ErrNotHeld)
		if h.Hold() != nil {
			t.Fatal("it holds nothing")
		}

		read, err := h.RLock(ctx)
		ok(t, err)
		if again := held[*incumbent.Hold](t, true)(h.TryRLock(ctx)); again != read || h.Hold() != read {
			t.Fatal("a second hold")
		}
		_, err = h.Lock(ctx)
		is(t, err, incumbent.ErrUpgrade)
		_, _, err = h.TryLock(ctx)
		is(t, err, incumbent.ErrUpgrade)
		ok(t, h.RUnlock(ctx))
		ok(t, h.RUnlock(ctx))
		is(t, h.RUnlock(ctx), incumbent.ErrNotHeld)
		e.untilChildren(e.dir(), 0)

		write, err := h.Lock(ctx)
		ok(t, err)
		held[*incumbent.WriteHold](t, true)(h.TryLock(ctx))
		inner, err := h.RLock(ctx)
		ok(t, err)
		if *inner != write.Hold {
			t.Fatal("a writer may read")
		}
		held[*incumbent.Hold](t, false)(l.Holder().TryRLock(ctx))
		ok(t, h.Unlock(ctx))
		ok(t, write.Check())
		ok(t, h.Unlock(ctx)) // the last one writes no more, and reads on
		is(t, write.Check(), incumbent.ErrLeadershipLost)
		ok(t, h.Hold().Check())
		ok(t, held[*incumbent.Hold](t, true)(l.TryRLock(ctx)).Unlock(ctx))
		_, err = h.Lock(ctx)
		is(t, err, incumbent.ErrUpgrade)
		ok(t, h.RUnlock(ctx))
		e.untilChildren(e.dir(), 0)

		lost, err := h.Lock(ctx)
		ok(t, err)
		_, err = h.RLock(ctx)
		ok(t, err)
		e.remove(lost.Term().Path)
		<-lost.Context().Done()
		_, err = h.RLock(ctx)
		is(t, err, incumbent.ErrLeadershipLost)
		is(t, h.Unlock(ctx), incumbent.ErrLeadershipLost)
		is(t, h.RUnlock(ctx), incumbent.ErrLeadershipLost)
		ok(t, func() error { _, err := h.RLock(ctx); return err }())
		ok(t, h.RUnlock(ctx))
	})
}

func TestAReaderIsRevoked(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{Revocable: true})
		w := l.write()
		revoke := func(h *incumbent.Hold) {
			line, err := l.Participants(l.c.ctx)
			ok(t, err)
			ok(t, l.Revoke(l.c.ctx, line[0]))
			<-h.Revoked()
		}
		revoke(&w.Hold)
		r, err := w.Downgrade(l.c.ctx)
		ok(t, err)
		select {
		case <-r.Revoked():
			t.Fatal("the reader was not asked")
		default:
		}
		revoke(r)
		ok(t, r.Unlock(l.c.ctx))
	})
}

// TestReadWriteLockOnKazoosNames sees a kazoo Lock as a writer, as kazoo does.
func TestReadWriteLockOnKazoosNames(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		l, m := c.newReadWrite(e.dir(), incumbent.MutexOptions{Kazoo: true}),
			c.newMutex(e.dir(), incumbent.MutexOptions{Kazoo: true})
		r := l.read()
		ok(t, held[*incumbent.Hold](t, true)(m.TryLock(c.ctx)).Unlock(c.ctx)) // which knows nothing of readers
		ok(t, r.Unlock(c.ctx))
		h := m.lock()
		held[*incumbent.Hold](t, false)(l.TryRLock(c.ctx))
		l.n++
		_, queued := l.queueReader()
		line, err := l.Participants(c.ctx)
		ok(t, err)
		if len(line) != 2 || line[0].Prefix != "__lock__" || line[1].Prefix != "__rlock__" || line[1].First {
			t.Fatalf("%+v", line)
		}
		ok(t, h.Unlock(c.ctx))
		ok(t, granted(t, queued, "the reader").Unlock(c.ctx))
	})
}
