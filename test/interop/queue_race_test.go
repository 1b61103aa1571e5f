package interop

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

var full = flag.Bool("full", false, "race with 500 items of each size, for the table of docs/queues.md")

// lap is how long it took to put all items of a queue, and then to consume them.
type lap struct{ put, consume time.Duration }

// race puts and consumes items through this library.
func (s *stage) race(c *incumbent.Client, ctx context.Context, path, locks string, items, size int, one bool) (l lap) {
	s.t.Helper()
	q, err := incumbent.NewQueue(c, path, incumbent.QueueOptions[string]{Codec: incumbent.Text()})
	ok(s.t, err)
	item := strings.Repeat("x", size)
	begin := time.Now()
	for range items {
		if one {
			ok(s.t, q.Put(ctx, item))
		} else {
			ok(s.t, q.PutLater(ctx, item, nil))
		}
	}
	ok(s.t, q.Flush(ctx))
	l.put, begin = time.Since(begin), time.Now()
	got := make(chan struct{}, items)
	consumer, err := q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error { got <- struct{}{}; return nil }, incumbent.ConsumerOptions{})
	if locks == "plain" {
		consumer, err = q.AtMostOnce(func(context.Context, incumbent.Delivery[string]) { got <- struct{}{} }, incumbent.ConsumerOptions{})
	}
	ok(s.t, err)
	ok(s.t, consumer.Start())
	for range items {
		select {
		case <-got:
		case <-time.After(within):
			s.t.Fatal("items are missing", consumer.Err())
		}
	}
	l.consume = time.Since(begin)
	ok(s.t, consumer.Close(ctx))
	return l
}

// Everybody puts and consumes the same items on the same server, one after the other.
// It is no test of speed: it prints how many items a second each had.
func TestQueuesSideBySide(t *testing.T) {
	s := newStage(t)
	java, kazoo := s.javaOf("Queues"), s.others("python")
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: s.addr, SessionTimeout: s.timeout, Tick: s.timeout / 20})
	ok(t, err)
	t.Cleanup(func() { ok(t, c.Close(ctx)) })
	items, sizes := 20, []int{100}
	if *full {
		items, sizes = 500, []int{100, 10_000, 100_000}
	}
	theirs := func(p *peer, name string, words string) lap {
		from := s.now()
		p.say("race %s %s", name, words)
		said, _ := s.await(from, "the end of "+name, func(said saying) bool { return said.peer == p && said.words[0] == "raced" && said.words[1] == name })
		if said.words[4] != "true" {
			t.Fatalf("%s lost items: %q", name, said.words)
		}
		return lap{nanos(t, said.words[2]), nanos(t, said.words[3])}
	}
	t.Logf("items a second: %-14s %-7s %8s %8s %8s  and the ratio of ours to theirs", "", "bytes", "ours", "Curator", "kazoo")
	for _, size := range sizes {
		for _, locks := range []string{"locked", "plain"} {
			for _, how := range []string{"one", "many"} {
				name := fmt.Sprintf("%s-%s-%d", locks, how, size)
				words := func(who string) string {
					return fmt.Sprintf("%s/%s-%s %s %d %d %s", s.root, who, name, locks, items, size, how)
				}
				ours := s.race(c, ctx, s.root+"/ours-"+name, locks, items, size, how == "one")
				curator, python := theirs(java, "c-"+name, words("curator")), theirs(kazoo, "k-"+name, words("kazoo"))
				row := func(what string, of func(lap) time.Duration) {
					rate := func(l lap) float64 { return float64(items) / of(l).Seconds() }
					t.Logf("%-30s %-7d %8.0f %8.0f %8.0f  %.1f %.1f", what, size, rate(ours), rate(curator), rate(python), rate(ours)/rate(curator), rate(ours)/rate(python))
				}
				row(how+" put, "+locks, func(l lap) time.Duration { return l.put })
				if how == "one" {
					row("consume, "+locks, func(l lap) time.Duration { return l.consume })
				}
			}
		}
	}
}

func nanos(t *testing.T, s string) time.Duration { return time.Duration(keyOf(t, s)) }
