package door_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// plain is a queue of words.
var plain = incumbent.QueueOptions[string]{Codec: incumbent.Text()}

func fine(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// packed is a node's data in the format of Curator's queues: a version, each item after a mark and its length, an end.
func packed(items ...string) []byte {
	data := []byte{0, 1, 0, 1}
	for _, item := range items {
		data = append(binary.BigEndian.AppendUint32(append(data, 1), uint32(len(item))), item...)
	}
	return append(data, 2)
}

// collectItems starts a consumer that collects a queue's items.
func collectItems(t *testing.T, q interface {
	AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error,
		incumbent.ConsumerOptions) (*incumbent.Consumer, error)
}, o incumbent.ConsumerOptions, handler func(context.Context, incumbent.Delivery[string]) error) *incumbent.Consumer {
	t.Helper()
	c, err := q.AtLeastOnce(handler, o)
	fine(t, err)
	fine(t, c.Start())
	return c
}

// An item that an operator changes during its work comes again.
func TestAnItemThatIsWrittenUnderWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.Put(t.Context(), "bad"))
		var got []string
		collectItems(t, q, incumbent.ConsumerOptions{}, func(_ context.Context, d incumbent.Delivery[string]) error {
			if got = append(got, d.Item); d.Item == "bad" {
				good := packed("good")
				fine(t, w.srv.Set("/q/"+d.Name, good))
				return errors.New("bad")
			}
			return nil
		})
		pass(time.Hour)
		if strings.Join(got, " ") != "bad good" {
			t.Fatalf("got %v\n%s", got, n.tape.Tail(20))
		}
	})
}

// An item whose lock an operator deletes is handled, maybe twice, and not forgotten.
func TestALockThatIsDeletedUnderWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.Put(t.Context(), "a"))
		tries := 0
		collectItems(t, q, incumbent.ConsumerOptions{}, func(_ context.Context, d incumbent.Delivery[string]) error {
			if tries++; tries == 1 {
				fine(t, w.srv.Delete("/q-locks/"+d.Name))
			}
			return nil
		})
		pass(time.Hour)
		if left := w.children("/q"); len(left) > 0 {
			t.Fatalf("%v is left after %d tries\n%s", left, tries, n.tape.Tail(20))
		}
	})
}

// An item that is due in centuries sets no busy timer.
func TestAnItemThatIsDueInCenturies(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewDelayQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.At(time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC)).Put(t.Context(), "a"))
		fine(t, q.After(math.MaxInt64).Put(t.Context(), "b"))
		collectItems(t, q, incumbent.ConsumerOptions{},
			func(context.Context, incumbent.Delivery[string]) error { t.Error("early"); return nil })
		pass(10 * time.Second)
		if fired := n.tape.Count(func(r events.Record) bool {
			return r.Event.Kind == events.TimerFired &&
				r.Machine == "consumer-1"
		}); fired > 20 {
			t.Fatalf("%d timers in 10 s", fired)
		}
	})
}

// A program that is about to end does not use up the tries of its items: the one under work
// is released unchanged, and no more are taken.
func TestTheEndOfTheBaseContextIsNoTry(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		base, end := context.WithCancel(t.Context())
		n := w.openNode(&node{w: w, base: base})
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.Put(t.Context(), "a", "b"))
		var got []incumbent.Delivery[string]
		handler := func(ctx context.Context, d incumbent.Delivery[string]) error {
			got = append(got, d)
			<-ctx.Done()
			return ctx.Err()
		}
		c := collectItems(t, q, incumbent.ConsumerOptions{}, handler)
		synctest.Wait()
		end()
		synctest.Wait()
		if len(got) != 1 || c.State() != incumbent.Closed || len(w.children("/q-locks")) > 0 ||
			len(w.children("/q")) != 2 {
			t.Fatalf("%v, %s\n%s", got, c.State(), n.tape.Tail(20))
		}
		late, err := q.AtLeastOnce(handler, incumbent.ConsumerOptions{})
		fine(t, err)
		synctest.Wait()
		if err := late.Start(); !errors.Is(err, incumbent.ErrClosed) {
			t.Fatal(err)
		}
		other := w.open()
		again, err := incumbent.NewQueue(other.Client, "/q", plain)
		fine(t, err)
		collectItems(t, again, incumbent.ConsumerOptions{},
			func(_ context.Context, d incumbent.Delivery[string]) error {
				got = append(got, d)
				return nil
			})
		pass(time.Hour)
		if len(got) != 3 || got[1].Try != 1 || got[1].Item != "a" {
			t.Fatal(got)
		}
	})
}

// A put that is refused on this side says why, one that was withdrawn was not stored, and a
// queue whose sequence numbers have ended says so.
func TestPutsThatCannotBe(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.Put(t.Context(), "first"))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		says := func(err error, words string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), words) || errors.Is(err, incumbent.ErrOutcomeUnknown) {
				t.Errorf("%v, want: %s", err, words)
			}
		}
		says(q.Put(t.Context(), strings.Repeat("x", 2<<20)), "bytes")
		says(q.Put(t.Context(), make([]string, 5000)...), "bytes")
		says(q.Put(ended, "never"), "canceled")
		says(q.PutLater(ended, "never", nil), "canceled")

		full, err := incumbent.NewQueue(n.Client, "/q", incumbent.QueueOptions[string]{Bound: incumbent.WaitAt(1)})
		fine(t, err)
		soon, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		says(full.Put(soon, "never"), "deadline")

		fine(t, w.srv.SetSequence("/q", math.MaxInt32))
		fine(t, q.Put(t.Context(), "last"))
		if err := q.Put(t.Context(), "never"); !errors.Is(err, incumbent.ErrCounterEnd) {
			t.Error(err)
		}
		if items := w.children("/q"); len(items) != 2 {
			t.Error(items)
		}
	})
}

// Only those ids are refused whose nodes could not exist. They are removed before any
// client has locked anything.
func TestOddIDs(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewIDQueue(n.Client, "/q", incumbent.QueueOptions[string]{LockPath: "/locks/of/q"})
		fine(t, err)
		for _, id := range []string{"a", "a", "..", "a/b|c", "é☃", "a b", "queue-|x|0000000001"} {
			fine(t, q.ID(id).Put(t.Context(), "x"))
		}
		for _, id := range []string{"", "\x00", "\xff", "\n"} {
			if err := q.ID(id).Put(t.Context(), "x"); err == nil {
				t.Errorf("%q was put", id)
			}
		}
		for id, want := range map[string]int{"a": 2, "..": 1, "a|b_c": 1, "none": 0, "": 0} {
			if removed, err := q.Remove(t.Context(), id); removed != want || err != nil {
				t.Errorf("%q: %d, %v", id, removed, err)
			}
		}
		if left := w.children("/q"); len(left) != 3 {
			t.Error(left)
		}
		if p, err := incumbent.NewPriorityQueue(n.Client, "", plain); p != nil || err == nil {
			t.Error(p, err)
		}
	})
}

// A node may hold any bytes: none of them is in the log, and each node is reported.
func TestItemsThatNobodyPacked(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", incumbent.QueueOptions[int]{})
		fine(t, err)
		_, err = w.srv.Create("/q", nil, zkmem.Persistent)
		fine(t, err)
		whole, none := packed("4711", `"secret"`), packed()
		for name, data := range map[string][]byte{
			"queue-0000000001": nil, "queue-0000000002": whole[:len(whole)-1], "queue-0000000003": whole,
			"queue-0000000004": none,
			"queue-0000000005": []byte("secret"), "queue--000000005": whole, "queue-": whole, "queue-|": whole,
			"queue-+000000005": whole,
		} {
			_, err = w.srv.Create("/q/"+name, data, zkmem.Persistent)
			fine(t, err)
		}
		var calls []string
		c, err := q.AtLeastOnce(func(context.Context, incumbent.Delivery[int]) error { panic("secret") },
			incumbent.ConsumerOptions{Tries: 2,
				OnFailure: func(name string, try int, err error) { calls = append(calls, name) }})
		fine(t, err)
		fine(t, c.Start())
		pass(time.Hour)
		if len(calls) != 10 || len(w.children("/q")) != 3 || len(w.children("/q-dead")) != 5 ||
			len(w.children("/q-locks")) != 0 {
			t.Fatal(calls, w.children("/q"), w.children("/q-dead"), w.children("/q-locks"))
		}
		if strings.Contains(string(n.tape.Bytes()), "secret") {
			t.Error("some of an item is in the log")
		}
	})
}

// A queue that is deleted while it is used, directories and all, goes on with new ones.
func TestAQueueThatIsDeletedUnderWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewDelayQueue(n.Client, "/q", plain)
		fine(t, err)
		var got []string
		collectItems(t, q, incumbent.ConsumerOptions{}, func(_ context.Context, d incumbent.Delivery[string]) error {
			got = append(got, d.Item)
			return nil
		})
		for _, item := range []string{"a", "b", "c"} {
			for _, dir := range []string{"", "-locks", "-dead", "-producers"} {
				for _, child := range w.children("/q" + dir) {
					fine(t, w.srv.Delete("/q"+dir+"/"+child))
				}
				_ = w.srv.Delete("/q" + dir)
			}
			fine(t, q.After(time.Second).Put(t.Context(), item))
			pass(time.Hour)
		}
		if strings.Join(got, " ") != "a b c" {
			t.Fatalf("%v\n%s", got, n.tape.Tail(20))
		}
	})
}

// A listing that is refused once does not stop a consumer.
func TestAListingThatIsRefused(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		var got []string
		collectItems(t, q, incumbent.ConsumerOptions{}, func(_ context.Context, d incumbent.Delivery[string]) error {
			got = append(got, d.Item)
			return nil
		})
		fine(t, q.Put(t.Context(), "a"))
		pass(time.Minute)
		refused := 0
		w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
			if r.Path == "/q" && (r.Op == zkmem.OpGetChildren || r.Op == zkmem.OpGetChildren2) {
				if refused++; refused == 1 {
					v = zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}
				}
			}
			return v
		})
		fine(t, q.Put(t.Context(), "b"))
		pass(time.Hour)
		if strings.Join(got, " ") != "a b" || refused == 0 {
			t.Fatalf("%v\n%s", got, n.tape.Tail(20))
		}
	})
}

// Background puts are reported when their client ends without a connection.
func TestPutsAtTheClientsEnd(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.Put(t.Context(), "a"))
		w.refuse(n, true)
		n.cut()
		synctest.Wait()
		calls := 0
		for range 3 {
			fine(t, q.PutLater(t.Context(), "b", func(err error) {
				if calls++; !errors.Is(err, incumbent.ErrClosed) && !errors.Is(err, incumbent.ErrOutcomeUnknown) {
					t.Error(err)
				}
			}))
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.Close(soon); !errors.Is(err, incumbent.ErrSuspended) {
			t.Error(err)
		}
		synctest.Wait()
		if calls != 3 {
			t.Errorf("%d callbacks", calls)
		}
		fine(t, q.Flush(t.Context()))
		if err := q.PutLater(t.Context(), "c", nil); !errors.Is(err, incumbent.ErrClosed) {
			t.Error(err)
		}
		if err := q.Put(t.Context(), "c"); !errors.Is(err, incumbent.ErrClosed) {
			t.Error(err)
		}
	})
}

// children returns the names of a node's children.
func (w *world) children(path string) (names []string) {
	w.srv.View(func(v *zkmem.View) { names = v.Children(path) })
	return names
}
