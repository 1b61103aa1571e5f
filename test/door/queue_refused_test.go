package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// closed is an access list without the client's rights.
var closed = []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest", ID: "somebody:else"}}

// An item that may not be read is deferred and reported; the others are consumed, and so is
// that item when it may be read.
func TestAnItemThatCannotBeRead(t *testing.T) {
	for name, consume := range map[string]func(q *incumbent.Queue[string], got *[]string) (*incumbent.Consumer, error){
		"at least once": func(q *incumbent.Queue[string], got *[]string) (*incumbent.Consumer, error) {
			return q.AtLeastOnce(func(_ context.Context, d incumbent.Delivery[string]) error {
				*got = append(*got,
					d.Item)
				return nil
			}, incumbent.ConsumerOptions{})
		},
		"at most once": func(q *incumbent.Queue[string], got *[]string) (*incumbent.Consumer, error) {
			return q.AtMostOnce(func(_ context.Context, d incumbent.Delivery[string]) { *got = append(*got, d.Item) },
				incumbent.ConsumerOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				q, err := incumbent.NewQueue(n.Client, "/q", plain)
				fine(t, err)
				fine(t, q.Put(t.Context(), "a", "b", "c", "d"))
				for _, i := range []int{0, 2} {
					_, err = w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: fmt.Sprintf("/q/queue-%010d", i),
						ACL: closed, Version: zkmem.AnyVersion})
					fine(t, err)
				}
				var got []string
				c, err := consume(q, &got)
				fine(t, err)
				fine(t, c.Start())
				pass(time.Minute)
				err = c.Err()
				if strings.Join(got, " ") != "b d" || !errors.Is(err, incumbent.ErrNoAuth) ||
					!strings.Contains(fmt.Sprint(err), "2 items") {
					t.Fatalf("%v, %v\n%s", got, err, n.tape.Tail(20))
				}
				if locks := w.children("/q-locks"); len(locks) > 0 {
					t.Errorf("%v is locked", locks)
				}
				for _, i := range []int{0, 2} {
					_, err = w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: fmt.Sprintf("/q/queue-%010d", i),
						ACL: zkmem.OpenACL(), Version: zkmem.AnyVersion})
					fine(t, err)
				}
				pass(time.Hour)
				if len(got) != 4 || c.Err() != nil {
					t.Fatalf("%v, %v\n%s", got, c.Err(), n.tape.Tail(20))
				}
			})
		})
	}
}

// If the dead letters cannot be written, the consumer reports it, and goes on; its handler
// does not get again what was given up.
func TestDeadLettersThatCannotBeWritten(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.Put(t.Context(), "bad", "good"))
		_, err = w.srv.Do(zkmem.Op{Code: zkmem.OpCreate2, Path: "/q-dead",
			ACL: []zkmem.ACL{{Perms: zkmem.PermRead, Scheme: "world", ID: "anyone"}}})
		fine(t, err)
		var got []string
		c := collectItems(t, q, incumbent.ConsumerOptions{Tries: 1},
			func(_ context.Context, d incumbent.Delivery[string]) error {
				if got = append(got, d.Item); d.Item == "bad" {
					return errors.New("bad")
				}
				return nil
			})
		pass(time.Hour)
		if err := c.Err(); !errors.Is(err, incumbent.ErrNoAuth) || strings.Join(got, " ") != "bad good" {
			t.Fatal(got, err)
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		fine(t, c.Close(soon))
		if left := w.children("/q"); len(left) != 1 || len(w.children("/q-locks")) != 0 {
			t.Fatal(left)
		}
	})
}

// Times that cannot be encoded are refused, a delay below zero is none, and a bound of zero
// items is refused.
func TestOddTimesAndBounds(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewDelayQueue(n.Client, "/q", plain)
		fine(t, err)
		for _, due := range []time.Time{{}, time.UnixMilli(-1), time.Unix(1<<60, 0),
			time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)} {
			if err := q.At(due).Put(t.Context(), "never"); err == nil ||
				!strings.Contains(err.Error(), "want 1970 to 9999") {
				t.Errorf("%v: %v", due, err)
			}
			if err := q.At(due).PutLater(t.Context(), "never", nil); err == nil {
				t.Errorf("%v is put later", due)
			}
		}
		fine(t, q.After(-1<<63).Put(t.Context(), "a"))
		fine(t, q.At(time.UnixMilli(0)).Put(t.Context(), "b"))
		var got []string
		collectItems(t, q, incumbent.ConsumerOptions{},
			func(_ context.Context, d incumbent.Delivery[string]) error { got = append(got, d.Item); return nil })
		pass(time.Minute)
		if strings.Join(got, " ") != "b a" {
			t.Errorf("%v\n%s", got, n.tape.Tail(20))
		}
		for _, bound := range []incumbent.QueueBound{incumbent.RefuseAt(0), incumbent.WaitAt(0),
			incumbent.RefuseAt(-1)} {
			if _, err := incumbent.NewQueue(n.Client, "/b", incumbent.QueueOptions[string]{Bound: bound}); err == nil {
				t.Errorf("%+v is taken", bound)
			}
		}
	})
}

// A put that takes the counter over its end keeps its order, and the consumer reports it.
func TestACounterThatOverflows(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", plain)
		fine(t, err)
		fine(t, q.Put(t.Context(), "0"))
		fine(t, w.srv.SetSequence("/q", 1<<31-2))
		fine(t, q.Put(t.Context(), "a", "b", "c", "d"))
		var got []string
		release := make(chan struct{})
		c := collectItems(t, q, incumbent.ConsumerOptions{},
			func(_ context.Context, d incumbent.Delivery[string]) error {
				<-release
				got = append(got, d.Item)
				return nil
			})
		pass(time.Second)
		if err := c.Err(); !errors.Is(err, incumbent.ErrCounterEnd) {
			t.Errorf("%v\n%s", err, n.tape.Tail(20))
		}
		close(release)
		pass(time.Minute)
		if strings.Join(got, " ") != "0 a b c d" {
			t.Errorf("%v\n%s", got, n.tape.Tail(20))
		}
	})
}
