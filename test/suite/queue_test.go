package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// textQueue is a queue of plain words.
var textQueue = incumbent.QueueOptions[string]{Codec: incumbent.Text(), Retry: incumbent.RetryForever(time.Millisecond)}

// newQueue is one end of a queue under test.
func (c *client) newQueue(path string) *incumbent.Queue[string] {
	c.t.Helper()
	q, err := incumbent.NewQueue(c.Client, path, textQueue)
	ok(c.t, err)
	return q
}

// eater is a consumer that hands what it gets to the test.
type eater struct {
	*incumbent.Consumer
	c     *client
	items chan incumbent.Delivery[string]
	fate  chan error // what the handler returns
}

// atLeast starts a consumer whose handler waits for the test to say what it returns.
func (c *client) atLeast(q interface {
	AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error, incumbent.ConsumerOptions) (*incumbent.Consumer, error)
}, o incumbent.ConsumerOptions) *eater {
	c.t.Helper()
	e := &eater{c: c, items: make(chan incumbent.Delivery[string], 100), fate: make(chan error, 100)}
	var err error
	e.Consumer, err = q.AtLeastOnce(func(ctx context.Context, d incumbent.Delivery[string]) error {
		e.items <- d
		select {
		case err := <-e.fate:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, o)
	ok(c.t, err)
	ok(c.t, e.Start())
	return e
}

// next is the next item that the handler got.
func (e *eater) next() incumbent.Delivery[string] {
	e.c.t.Helper()
	return recv(e.c.t, e.items, "an item")
}

// eat lets the handler succeed with so many items and returns them.
func (e *eater) eat(n int) string {
	e.c.t.Helper()
	var got []string
	for range n {
		e.fate <- nil
		got = append(got, e.next().Item)
	}
	return strings.Join(got, " ")
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestAQueueKeepsTheOrderOfPuts(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		q := c.newQueue(e.dir())
		ok(t, q.Put(c.ctx, "a"))
		ok(t, q.Put(c.ctx, "b", "c"))
		ok(t, q.PutTogether(c.ctx, "d", "e"))
		ok(t, q.PutLater(c.ctx, "f", nil))
		ok(t, q.Flush(c.ctx))
		same(t, len(e.children(e.dir())), 5)
		eats := c.atLeast(q, incumbent.ConsumerOptions{})
		same(t, eats.eat(6), "a b c d e f")
		ok(t, eats.Close(c.ctx))
		ok(t, q.Close(c.ctx))
		for _, dir := range []string{"", "-locks", "-producers"} {
			same(t, e.children(e.dir()+dir), "[]")
		}
		if log := string(c.tape.Bytes()); strings.Contains(log, "d\\u0001") {
			t.Fatal("an item is in the log")
		}
	})
}

func TestAnItemThatFailsComesAgainAndIsGivenUp(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		q := c.newQueue(e.dir())
		ok(t, q.Put(c.ctx, "bad", "good"))
		heard := make(chan error, 9)
		eats := c.atLeast(q, incumbent.ConsumerOptions{Tries: 2, Backoff: incumbent.RetryForever(time.Millisecond),
			OnFailure: func(name string, try int, err error) { heard <- err }})
		broken := errors.New("broken")
		tries := 0
		for range 3 {
			d := eats.next()
			if d.Item == "good" {
				eats.fate <- nil
				continue
			}
			tries++
			same(t, d.Try, tries)
			eats.fate <- broken
			is(t, recv(t, heard, "the failure"), broken)
		}
		e.untilChildren(e.dir(), 0)
		ok(t, eats.Close(c.ctx))
		same(t, e.children(e.dir()+"-locks"), "[]")
		dead := c.newQueue(e.dir() + "-dead")
		again := c.atLeast(dead, incumbent.ConsumerOptions{})
		same(t, again.eat(1), "bad")
		ok(t, again.Close(c.ctx))
	})
}

// The reply to a put is lost with the connection, after it was carried out: it is
// there once.
func TestALostPutIsNotRepeated(t *testing.T) {
	for name, v := range map[string]zkmem.Verdict{"carried out": {Action: zkmem.CutAfter}, "not": {Action: zkmem.CutBefore}} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			c := connected(t, e)
			q := c.newQueue(e.dir())
			ok(t, q.Put(c.ctx, "first"))
			hit := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpMulti }, verdict(v))
			ok(t, q.Put(c.ctx, "second"))
			recv(t, hit, "the put")
			ok(t, q.Put(c.ctx, "third"))
			same(t, len(e.children(e.dir())), 3)
		})
	}
}

// The session ends with the reply: the marker is persistent, so it still tells.
func TestALostPutIsNotRepeatedInTheNextSession(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	q := c.newQueue(e.dir())
	ok(t, q.Put(c.ctx, "first"))
	hit := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpMulti }, func(r zkmem.Request) zkmem.Verdict {
		return zkmem.Verdict{Action: zkmem.CutAfter}
	})
	done := make(chan error, 1)
	go func() { done <- q.Put(c.ctx, "second") }()
	recv(t, hit, "the put")
	e.ExpireSession(e.Sessions()[0].ID)
	ok(t, recv(t, done, "the end of the put"))
	same(t, len(e.children(e.dir())), 2)
}

func TestADeadConsumerGivesItsItemBack(t *testing.T) {
	e := inMemory(t)
	first, second := connected(t, e), connected(t, e)
	ok(t, first.newQueue(e.dir()).Put(first.ctx, "item"))
	one := first.atLeast(first.newQueue(e.dir()), incumbent.ConsumerOptions{})
	same(t, one.next().Item, "item")
	names := e.children(e.dir() + "-locks")
	e.ExpireSession(e.session(e.dir() + "-locks/" + names[0]))
	two := second.atLeast(second.newQueue(e.dir()), incumbent.ConsumerOptions{})
	first.tape.Until("the news", func(records []events.Record) bool {
		for _, r := range records {
			for _, effect := range r.Effects {
				if strings.HasPrefix(effect, "notify withdrawn") {
					return true
				}
			}
		}
		return false
	})
	one.fate <- nil
	two.fate <- nil
	e.untilChildren(e.dir(), 0)
	ok(t, one.Close(first.ctx))
	ok(t, two.Close(second.ctx))
}
