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

// wordQueue is one end of a queue under test.
func (c *client) wordQueue(path string) *incumbent.Queue[string] {
	c.t.Helper()
	q, err := incumbent.NewQueue(c.Client, path, textQueue)
	ok(c.t, err)
	return q
}

// eater is a consumer that sends its items to the test.
type eater struct {
	*incumbent.Consumer
	c     *client
	items chan incumbent.Delivery[string]
	fate  chan error // what the handler returns
}

// atLeast starts a consumer whose handler waits for the test to say what it returns.
func (c *client) atLeast(q interface {
	AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error,
		incumbent.ConsumerOptions) (*incumbent.Consumer, error)
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

// next returns the next item that the handler got.
func (e *eater) next() incumbent.Delivery[string] {
	e.c.t.Helper()
	return recv(e.c.t, e.items, "an item")
}

// eat lets the handler succeed with n items and returns them.
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
		q := c.wordQueue(e.dir())
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
		if log := c.log(); strings.Contains(log, "d\\u0001") {
			t.Fatal("an item is in the log")
		}
	})
}

func TestAnItemThatFailsComesAgainAndIsGivenUp(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		q := c.wordQueue(e.dir())
		ok(t, q.Put(c.ctx, "bad", "good"))
		failures := make(chan error, 9)
		eats := c.atLeast(q, incumbent.ConsumerOptions{Tries: 2, Backoff: incumbent.RetryForever(time.Millisecond),
			OnFailure: func(name string, try int, err error) { failures <- err }})
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
			is(t, recv(t, failures, "the failure"), broken)
		}
		e.untilChildren(e.dir(), 0)
		ok(t, eats.Close(c.ctx))
		same(t, e.children(e.dir()+"-locks"), "[]")
		dead := c.wordQueue(e.dir() + "-dead")
		again := c.atLeast(dead, incumbent.ConsumerOptions{})
		same(t, again.eat(1), "bad")
		ok(t, again.Close(c.ctx))
	})
}

// The reply to a put is lost with the connection, after it was carried out: it is
// there once.
func TestALostPutIsNotRepeated(t *testing.T) {
	for name, v := range map[string]zkmem.Verdict{"carried out": {Action: zkmem.CutAfter},
		"not": {Action: zkmem.CutBefore}} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			c := connected(t, e)
			q := c.wordQueue(e.dir())
			ok(t, q.Put(c.ctx, "first"))
			hit := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpMulti }, verdict(v))
			ok(t, q.Put(c.ctx, "second"))
			recv(t, hit, "the put")
			ok(t, q.Put(c.ctx, "third"))
			same(t, len(e.children(e.dir())), 3)
		})
	}
}

// The session ends with the reply: the marker is persistent, so it still shows the put.
func TestALostPutIsNotRepeatedInTheNextSession(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	q := c.wordQueue(e.dir())
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
	ok(t, first.wordQueue(e.dir()).Put(first.ctx, "item"))
	one := first.atLeast(first.wordQueue(e.dir()), incumbent.ConsumerOptions{})
	same(t, one.next().Item, "item")
	names := e.children(e.dir() + "-locks")
	e.ExpireSession(e.session(e.dir() + "-locks/" + names[0]))
	two := second.atLeast(second.wordQueue(e.dir()), incumbent.ConsumerOptions{})
	first.tape.Until("the news", func(records []events.Record) bool {
		for _, r := range records {
			for _, effect := range r.Effects.Strings() {
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

// orderly is a queue of any kind.
type orderly interface {
	AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error,
		incumbent.ConsumerOptions) (*incumbent.Consumer, error)
}

func TestQueuesKeepTheirOrders(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		priority, err := incumbent.NewPriorityQueue(c.Client, e.dir()+"-priority", textQueue)
		ok(t, err)
		ok(t, priority.Priority(1).Put(c.ctx, "d", "e"))
		ok(t, priority.Priority(-7).Put(c.ctx, "a"))
		ok(t, priority.Priority(0).Put(c.ctx, "b", "c"))
		delay, err := incumbent.NewDelayQueue(c.Client, e.dir()+"-delay", textQueue)
		ok(t, err)
		ok(t, delay.After(5*time.Millisecond).Put(c.ctx, "d", "e"))
		ok(t, delay.At(time.UnixMilli(7)).Put(c.ctx, "b", "c"))
		ok(t, delay.At(time.UnixMilli(6)).Put(c.ctx, "a"))
		ids, err := incumbent.NewIDQueue(c.Client, e.dir()+"-id", textQueue)
		ok(t, err)
		for _, item := range []string{"a", "b", "x/y", "c", "x|y", "d", "e"} {
			ok(t, ids.ID("of "+item).Put(c.ctx, item))
		}
		removed, err := ids.Remove(c.ctx, "of x/y")
		ok(t, err)
		same(t, removed, 2)
		for _, q := range []orderly{priority, delay, ids} {
			eats := c.atLeast(q, incumbent.ConsumerOptions{})
			same(t, eats.eat(5), "a b c d e")
			ok(t, eats.Close(c.ctx))
		}
	})
}

// What is locked is not removed; what is removed is not consumed.
func TestAnItemUnderWorkIsNotRemoved(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		q, err := incumbent.NewIDQueue(c.Client, e.dir(), textQueue)
		ok(t, err)
		removed, err := q.Remove(c.ctx, "x")
		ok(t, err)
		same(t, removed, 0)
		ok(t, q.ID("x").Put(c.ctx, "one", "two"))
		eats := c.atLeast(q, incumbent.ConsumerOptions{})
		same(t, eats.next().Item, "one")
		removed, err = q.Remove(c.ctx, "x")
		ok(t, err)
		same(t, removed, 1)
		eats.fate <- nil
		e.untilChildren(e.dir(), 0)
		ok(t, eats.Close(c.ctx))
		same(t, len(eats.items), 0)
		if err := q.ID("").Put(c.ctx, "x"); err == nil {
			t.Error("an empty id is taken")
		}
	})
}

func TestABoundedQueueRefusesOrWaits(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		options := textQueue
		options.Bound = incumbent.RefuseAt(2)
		refuses, err := incumbent.NewQueue(c.Client, e.dir(), options)
		ok(t, err)
		is(t, refuses.Put(c.ctx, "a", "b", "c"), incumbent.ErrQueueFull)
		ok(t, refuses.Put(c.ctx, "a", "b"))
		is(t, refuses.Put(c.ctx, "c"), incumbent.ErrQueueFull)
		ok(t, refuses.PutLater(c.ctx, "d", nil))
		is(t, refuses.Flush(c.ctx), incumbent.ErrQueueFull)
		ok(t, refuses.Flush(c.ctx))
		failures := make(chan error, 1)
		ok(t, refuses.PutLater(c.ctx, "d", func(err error) { failures <- err }))
		is(t, recv(t, failures, "the failure"), incumbent.ErrQueueFull)
		ok(t, refuses.Flush(c.ctx))

		options.Bound = incumbent.WaitAt(2)
		waits, err := incumbent.NewQueue(c.Client, e.dir(), options)
		ok(t, err)
		done := make(chan error, 1)
		go func() { done <- waits.Put(c.ctx, "c") }()
		c.tape.State("producer-2", "full")
		err = waits.Flush(brief())
		is(t, err, context.Canceled)
		eats := c.atLeast(waits, incumbent.ConsumerOptions{})
		same(t, eats.eat(3), "a b c")
		ok(t, recv(t, done, "the put"))
		ok(t, eats.Close(c.ctx))
	})
}

// The end of a context cancels the puts that were not sent.
func TestAPutThatNobodyWaitsForAnyMore(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	options := textQueue
	options.Bound = incumbent.WaitAt(1)
	q, err := incumbent.NewQueue(c.Client, e.dir(), options)
	ok(t, err)
	ok(t, q.Put(c.ctx, "a"))
	ctx, cancel := context.WithCancel(c.ctx)
	done := make(chan error, 1)
	go func() { done <- q.Put(ctx, "b") }()
	c.tape.State("producer-1", "full")
	cancel()
	err = recv(t, done, "the end of the put")
	is(t, err, context.Canceled)
	if errors.Is(err, incumbent.ErrOutcomeUnknown) {
		t.Errorf("it was not under way: %v", err)
	}
	e.remove(e.dir() + "/" + e.children(e.dir())[0])
	ok(t, q.Flush(c.ctx))
	ok(t, q.Close(c.ctx))
	same(t, e.children(e.dir()), "[]")
	is(t, q.Put(c.ctx, "c"), incumbent.ErrClosed)
}

// At most once: a lost reply to the deletion loses the item, and is reported.
func TestAnItemThatMayBeLostIsReported(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	q := c.wordQueue(e.dir())
	ok(t, q.Put(c.ctx, "a", "b"))
	failures, got := make(chan error, 1), make(chan string, 2)
	eats, err := q.AtMostOnce(func(_ context.Context, d incumbent.Delivery[string]) { got <- d.Item },
		incumbent.ConsumerOptions{OnFailure: func(name string, try int, err error) { failures <- err }})
	ok(t, err)
	hit := e.once(func(r zkmem.Request) bool {
		return r.Op == zkmem.OpMulti
	}, verdict(zkmem.Verdict{Action: zkmem.CutAfter}))
	ok(t, eats.Start())
	recv(t, hit, "the deletion")
	is(t, recv(t, failures, "the loss"), incumbent.ErrItemLost)
	same(t, recv(t, got, "the other item"), "b")
	ok(t, eats.Close(c.ctx))
}

// The reply to what settles one item and locks the next is lost: neither is handed
// over twice.
func TestALostReplyHandsNothingOverTwice(t *testing.T) {
	for name, v := range map[string]zkmem.Verdict{"carried out": {Action: zkmem.CutAfter},
		"not": {Action: zkmem.CutBefore}} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			c := connected(t, e)
			q := c.wordQueue(e.dir())
			ok(t, q.Put(c.ctx, "a", "b", "c"))
			eats := c.atLeast(q, incumbent.ConsumerOptions{})
			same(t, eats.next().Item, "a")
			hit := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpMulti }, verdict(v))
			eats.fate <- nil
			recv(t, hit, "what settles the first")
			same(t, eats.next().Item, "b")
			same(t, eats.eat(1), "c")
			eats.fate <- nil
			e.untilChildren(e.dir(), 0)
			ok(t, eats.Close(c.ctx))
			same(t, len(eats.items), 0)
			same(t, e.children(e.dir()+"-locks"), "[]")
		})
	}
}

func TestAHandlerThatPanicsOrRunsOnIsSaid(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	q := c.wordQueue(e.dir())
	ok(t, q.Put(c.ctx, "bad", "slow"))
	failures := make(chan error, 1)
	running, end := make(chan struct{}), make(chan struct{})
	eats, err := q.AtLeastOnce(func(ctx context.Context, d incumbent.Delivery[string]) error {
		if d.Item == "bad" {
			panic("no")
		}
		close(running)
		<-ctx.Done()
		<-end
		return nil
	}, incumbent.ConsumerOptions{Tries: 1, OnFailure: func(name string, try int, err error) { failures <- err }})
	ok(t, err)
	ok(t, eats.Start())
	if err := recv(t, failures, "the panic"); !strings.Contains(err.Error(), "panic: no") {
		t.Fatal(err)
	}
	recv(t, running, "the slow one")
	is(t, eats.Close(brief()), incumbent.ErrWorkRunning)
	close(end)
	ok(t, eats.Close(c.ctx))
	same(t, len(e.children(e.dir())), 0)
	same(t, len(e.children(e.dir()+"-dead")), 1)
}
