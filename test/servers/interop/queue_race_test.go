package interop

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

var full = flag.Bool("full", false, "race in nine rounds, for the table of bench/queues.md")

// lap is how long it took to put all items of a queue, and then to consume them.
type lap struct{ put, consume time.Duration }

// heat is what everybody does in one lap: put so many items of a size, one by one or in the background. Items that were
// put one by one are consumed, with locks or without ("plain").
type heat struct {
	locks, how  string
	items, size int
}

func (h heat) one() bool { return h.how == "one" }

// race puts and consumes items through this library. One more is put before the time is taken: it creates the
// directories.
func (s *stage) race(c *incumbent.Client, path string, h heat) (l lap) {
	s.t.Helper()
	ctx := s.t.Context()
	q, err := incumbent.NewQueue(c, path, incumbent.QueueOptions[string]{Codec: incumbent.Text()})
	ok(s.t, err)
	item := strings.Repeat("x", h.size)
	ok(s.t, q.Put(ctx, item))
	begin := time.Now()
	for range h.items {
		if h.one() {
			ok(s.t, q.Put(ctx, item))
		} else {
			ok(s.t, q.PutLater(ctx, item, nil))
		}
	}
	ok(s.t, q.Flush(ctx))
	l.put, begin = time.Since(begin), time.Now()
	defer func() { ok(s.t, q.Close(ctx)) }()
	if !h.one() {
		return l
	}
	got := make(chan struct{}, h.items+1)
	consumer, err := q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error {
		got <- struct{}{}
		return nil
	}, incumbent.ConsumerOptions{})
	if h.locks == "plain" {
		consumer, err = q.AtMostOnce(func(context.Context, incumbent.Delivery[string]) { got <- struct{}{} },
			incumbent.ConsumerOptions{})
	}
	ok(s.t, err)
	ok(s.t, consumer.Start())
	for range h.items + 1 {
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

// races has a peer put and consume items.
func (s *stage) races(t *testing.T, p *peer, path string, h heat) lap {
	from, name := s.now(), strings.ReplaceAll(path, "/", "-")
	p.say("race %s %s %s %d %d %s", name, path, h.locks, h.items, h.size, h.how)
	said, _ := s.await(from, "the end of "+name, func(said saying) bool {
		return said.peer == p && said.words[0] == "raced" && said.words[1] == name
	})
	if said.words[4] != "true" {
		s.t.Fatalf("%s lost items: %q", name, said.words)
	}
	return lap{nanos(t, said.words[2]), nanos(t, said.words[3])}
}

// wipe deletes the items that are left below a path: the server keeps them in memory.
func (s *stage) wipe(path string) {
	s.t.Helper()
	for _, dir := range []string{path, path + "/entries"} { // kazoo's has its items one deeper
		names, _, err := s.conn.Children(dir)
		if err != nil {
			continue
		}
		for some := range slices.Chunk(names, 100) {
			var ops []any
			for _, name := range some {
				if strings.Contains(name, "-") { // an item, and no directory
					ops = append(ops, &zk.DeleteRequest{Path: dir + "/" + name, Version: -1})
				}
			}
			if len(ops) > 0 {
				_, err := s.conn.Multi(ops...)
				ok(s.t, err)
			}
		}
	}
}

// Everybody puts and consumes the same items on the same server, in turns whose order changes. It is no test of speed:
// it prints how many items a second each had, the median of the rounds, and the median of the ratios in each round.
func TestQueuesSideBySide(t *testing.T) {
	open := newStage
	if *full { // a server keeps its last 500 transactions in memory, however large they are
		open = func(t testing.TB) *stage {
			return stageOn(t, realzk.Start(t, realzk.Options{Properties: []string{"-Xmx1g"}}), timeout)
		}
	}
	s := open(t)
	java, kazoo := s.javaOf("Queues"), s.others("python")
	ctx := context.Background()
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: s.addr, SessionTimeout: s.timeout, Tick: s.timeout / 20})
	ok(t, err)
	t.Cleanup(func() { ok(t, c.Close(ctx)) })
	rounds, warm, sizes := 1, 0, [][3]int{{100, 20, 20}} // bytes, items one by one, items in the background
	if *full {
		rounds, warm, sizes = 9, 2, [][3]int{{100, 100, 500}, {10_000, 100, 500}, {100_000, 30, 60}}
	}
	racers := []struct {
		name string
		run  func(string, heat) lap
	}{
		{"ours", func(path string, h heat) lap { return s.race(c, path, h) }},
		{"curator", func(path string, h heat) lap { return s.races(t, java, path, h) }},
		{"kazoo", func(path string, h heat) lap { return s.races(t, kazoo, path, h) }},
	}
	t.Logf("items a second, medians of %d rounds: %-7s %8s %8s %8s  and the ratios of ours to theirs, with 96 "+
		"%% intervals", rounds, "bytes", "ours", "Curator", "kazoo")
	for _, size := range sizes {
		for _, h := range []heat{{"locked", "one", size[1], size[0]}, {"plain", "one", size[1], size[0]},
			{"locked", "many", size[2], size[0]}, {"plain", "many", size[2], size[0]}} {
			laps := make([][]lap, len(racers))
			for round := range warm + rounds {
				for turn := range racers {
					i := (turn + round) % len(racers)
					path := fmt.Sprintf("%s/%s-%s-%s-%d-%d", s.root, racers[i].name, h.locks, h.how, h.size, round)
					l := racers[i].run(path, h)
					if !h.one() {
						s.wipe(path)
					}
					if round >= warm {
						laps[i] = append(laps[i], l)
					}
				}
			}
			row(t, fmt.Sprintf("%s put, %s", h.how, h.locks), h.size, h.items, laps, func(l lap) time.Duration {
				return l.put
			})
			if h.one() {
				row(t, "consume, "+h.locks, h.size, h.items+1, laps, func(l lap) time.Duration { return l.consume })
			}
		}
	}
}

// row prints one line of the table.
func row(t *testing.T, what string, size, items int, laps [][]lap, of func(lap) time.Duration) {
	t.Helper()
	line := fmt.Sprintf("%-30s %-7d", what, size)
	for _, all := range laps {
		var rates []float64
		for _, l := range all {
			rates = append(rates, float64(items)/of(l).Seconds())
		}
		slices.Sort(rates)
		line += fmt.Sprintf(" %8.0f", rates[len(rates)/2])
	}
	for _, theirs := range laps[1:] {
		var ratios []float64
		for round, l := range theirs {
			ratios = append(ratios, of(l).Seconds()/of(laps[0][round]).Seconds())
		}
		slices.Sort(ratios)
		n := len(ratios)
		line += fmt.Sprintf("  %.2f (%.2f–%.2f)", ratios[n/2], ratios[min(1, n-1)], ratios[max(0, n-2)])
	}
	t.Log(line)
}

func nanos(t *testing.T, s string) time.Duration { return time.Duration(keyOf(t, s)) }
