package interop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

// shop is a queue of one kind in this process: a function that puts an item, and a consumer.
type shop struct {
	put     func(ctx context.Context, key string, items ...string) error
	consume func(locked bool, got func(string)) (*incumbent.Consumer, error)
	remove  func(ctx context.Context, id string) (int, error)
}

// handler has what the queues of all kinds share.
type handler interface {
	AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error,
		incumbent.ConsumerOptions) (*incumbent.Consumer, error)
	AtMostOnce(func(context.Context, incumbent.Delivery[string]),
		incumbent.ConsumerOptions) (*incumbent.Consumer, error)
}

func openShop(t *testing.T, c *incumbent.Client, kind, path string) shop {
	t.Helper()
	options := incumbent.QueueOptions[string]{Codec: incumbent.Text()}
	var q handler
	var s shop
	var err error
	switch kind {
	case "fifo":
		var fifo *incumbent.Queue[string]
		fifo, err = incumbent.NewQueue(c, path, options)
		q, s.put = fifo, func(ctx context.Context, _ string, items ...string) error { return fifo.Put(ctx, items...) }
	case "priority":
		var priority *incumbent.PriorityQueue[string]
		priority, err = incumbent.NewPriorityQueue(c, path, options)
		q, s.put = priority, func(ctx context.Context, key string, items ...string) error {
			return priority.Priority(int32(keyOf(t, key))).Put(ctx, items...)
		}
	case "delay":
		var delay *incumbent.DelayQueue[string]
		delay, err = incumbent.NewDelayQueue(c, path, options)
		q, s.put = delay, func(ctx context.Context, key string, items ...string) error {
			return delay.At(time.UnixMilli(keyOf(t, key))).Put(ctx, items...)
		}
	case "id":
		var ids *incumbent.IDQueue[string]
		ids, err = incumbent.NewIDQueue(c, path, options)
		q, s.put = ids, func(ctx context.Context, key string, items ...string) error {
			return ids.ID(key).Put(ctx, items...)
		}
		s.remove = ids.Remove
	}
	ok(t, err)
	s.consume = func(locked bool, got func(string)) (*incumbent.Consumer, error) {
		if !locked {
			return q.AtMostOnce(func(_ context.Context, d incumbent.Delivery[string]) { got(d.Item) },
				incumbent.ConsumerOptions{})
		}
		return q.AtLeastOnce(func(_ context.Context, d incumbent.Delivery[string]) error { got(d.Item); return nil },
			incumbent.ConsumerOptions{})
	}
	return s
}

func keyOf(t *testing.T, s string) (n int64) {
	t.Helper()
	_, err := fmt.Sscan(s, &n)
	ok(t, err)
	return n
}

// wares are items of each kind with their keys, and the order in which they come.
var wares = map[string]struct {
	puts []string // item=key
	want string
}{
	"fifo":     {[]string{"a=", "b=", "c=", "d="}, "a b c d"},
	"priority": {[]string{"a=7", "b=-2147483648", "c=7", "d=2147483647", "e=-1", "f=0"}, "b e f a c d"},
	"delay":    {[]string{"a=1700000000007", "b=5", "c=1700000000006", "d=1600000000000"}, "b d c a"},
	"id":       {[]string{"a=one", "b=two", "c=one", "d=three"}, "a b c d"},
}

// items returns the first n items that a peer's consumer reports.
func (s *stage) items(from int, name string, n int) string {
	s.t.Helper()
	var got []string
	for len(got) < n {
		var said saying
		said, from = s.await(from, "an item at "+name, func(s saying) bool {
			return s.words[0] == "item" && s.words[1] == name
		})
		got = append(got, said.words[2])
	}
	return strings.Join(got, " ")
}

func TestCuratorAndGoShareQueues(t *testing.T) {
	for kind, w := range wares {
		for _, locks := range []string{"locked", "plain"} {
			t.Run(kind+"/"+locks, func(t *testing.T) {
				s := newStage(t)
				java := s.javaOf("Queues")
				c, ctx := s.ours()

				// Theirs to us.
				path := s.root + "/theirs"
				java.does("produce", "p", kind, path, locks)
				for _, put := range w.puts {
					item, key, _ := strings.Cut(put, "=")
					java.does("put", "p", item, key)
				}
				got := make(chan string, 20)
				consumer, err := openShop(t, c, kind, path).consume(locks == "locked", func(item string) {
					got <- item
				})
				ok(t, err)
				ok(t, consumer.Start())
				var all []string
				for range w.puts {
					select {
					case item := <-got:
						all = append(all, item)
					case <-time.After(within):
						t.Fatalf("nothing came after %q: %v", all, consumer.Err())
					}
				}
				if strings.Join(all, " ") != w.want {
					t.Errorf("we got %q, want %q", all, w.want)
				}
				ok(t, consumer.Close(ctx))
				s.until(path, "an empty queue", func(names []string) bool { return len(names) == 0 })

				// Ours to them.
				path = s.root + "/ours"
				shop := openShop(t, c, kind, path)
				for _, put := range w.puts {
					item, key, _ := strings.Cut(put, "=")
					ok(t, shop.put(ctx, key, item))
				}
				from := s.now()
				java.does("consume", "c", kind, path, locks)
				if theirs := s.items(from, "c", len(w.puts)); theirs != w.want {
					t.Errorf("Curator got %q, want %q", theirs, w.want)
				}
				s.until(path, "an empty queue", func(names []string) bool { return len(names) == 0 })
			})
		}
	}
}

// Both sides consume one queue under its locks: nobody has an item that the other has.
func TestCuratorAndGoConsumeSideBySide(t *testing.T) {
	s := newStage(t)
	java := s.javaOf("Queues")
	c, ctx := s.ours()
	const items = 60
	path := s.root + "/queue"
	shop := openShop(t, c, "fifo", path)
	got, both := make(chan string, items), make(chan struct{})
	consumer, err := shop.consume(true, func(item string) { got <- item; <-both })
	ok(t, err)
	ok(t, consumer.Start())
	from := s.now()
	java.does("consume", "c", "fifo", path, "locked")
	for i := range items {
		ok(t, shop.put(ctx, "", fmt.Sprint(i)))
	}
	s.items(from, "c", 1)
	close(both)
	s.until(path, "an empty queue", func(names []string) bool { return len(names) == 0 })
	ok(t, consumer.Close(ctx))
	close(got)
	var all []string
	for item := range got {
		all = append(all, item)
	}
	ours := len(all)
	all = append(all, strings.Fields(s.items(from, "c", items-ours))...)
	slices.Sort(all)
	if each := slices.Compact(slices.Clone(all)); len(each) != items || len(all) != items {
		t.Errorf("%d items were consumed, %d of them once", len(all), len(each))
	}
	t.Logf("of %d items %d were consumed here and %d by Curator", items, ours, items-ours)
}

// Several items in one node, written by each side and read by the other; and ids with
// a slash, which Curator writes and cannot remove.
func TestCuratorAndGoShareNodesAndIDs(t *testing.T) {
	s := newStage(t)
	java := s.javaOf("Queues")
	c, ctx := s.ours()
	path := s.root + "/together"
	java.does("produce", "p", "fifo", path, "plain")
	java.does("together", "p", "a", "b", "c")
	s.until(path, "one node", func(names []string) bool { return len(names) == 1 })
	got := make(chan string, 3)
	consumer, err := openShop(t, c, "fifo", path).consume(true, func(item string) { got <- item })
	ok(t, err)
	ok(t, consumer.Start())
	if all := <-got + <-got + <-got; all != "abc" {
		t.Errorf("we got %q", all)
	}
	ok(t, consumer.Close(ctx))

	q, err := incumbent.NewQueue(c, path, incumbent.QueueOptions[string]{Codec: incumbent.Text()})
	ok(t, err)
	ok(t, q.PutTogether(ctx, "d", "e", "f"))
	from := s.now()
	java.does("consume", "c", "fifo", path, "plain")
	if theirs := s.items(from, "c", 3); theirs != "d e f" {
		t.Errorf("Curator got %q", theirs)
	}

	path = s.root + "/ids"
	java.does("produce", "i", "id", path, "locked")
	for _, item := range []string{"x", "y"} {
		java.does("put", "i", item, "a/b|c")
	}
	from = s.now()
	java.say("remove i a/b|c")
	said, _ := s.await(from, "the removal", func(s saying) bool { return s.words[0] == "removed" })
	if said.words[2] != "0" {
		t.Errorf("Curator removes %s items by an id with a slash: docs/coming-from-curator.md says none", said.words[2])
	}
	removed, err := openShop(t, c, "id", path).remove(ctx, "a/b|c")
	ok(t, err)
	if removed != 2 {
		t.Errorf("%d items were removed, want both", removed)
	}
}
