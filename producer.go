package incumbent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// maxPutsInFlight is how many background puts may be pending in one handle.
const maxPutsInFlight = 1000

// maxPutErrors is how many failures of background puts a Flush returns.
const maxPutErrors = 8

// producer is the handle of the machine that puts items into a queue. It knows no item
// types.
type producer struct {
	handle
	bound int

	slots     chan struct{} // one for each background put
	callbacks *async.Calls  // calls the callbacks of background puts, one for each put

	payloads   map[uint64][]byte // by number, under mu: they reach no machine and no log
	last       uint64
	puts       map[uint64]*put // by the number of the command
	putErrors  []error         // failures of background puts since the last Flush
	moreErrors int             // how many more failures there were
}

// put is one command that is not answered yet.
type put struct {
	first    uint64 // of the number of its payloads
	nodes    int
	later    bool
	callback func(error) // of a background put; may be nil
	done     chan struct{}
}

// openProducer opens the producer's machine.
func (p *producer) openProducer(c *Client, path string, bound int, values map[string]string) error {
	p.init(c, path)
	p.bound, p.slots, p.payloads, p.puts = bound, make(chan struct{}, maxPutsInFlight), map[uint64][]byte{},
		map[uint64]*put{}
	p.callbacks = async.NewCalls(c.core.Log.LogPanic("a callback", path))
	p.base.Begins(machines.ProducerRecipe.First())
	_, err := c.register(machines.ProducerRecipe, func(id events.ID) receiver {
		p.base.Machine = id
		return p
	}, events.Event{Path: path, Options: values})
	return err
}

// begin sends a put command. The lock is held until the put is stored: the answer, which
// may come immediately, needs it.
func (p *producer) begin(nodes [][]byte, options map[string]string, later bool,
	done func(error)) (uint64, *put, chan calls.Reply, error) {
	if p.bound > 0 && len(nodes) > p.bound {
		return 0, nil, nil, fmt.Errorf("%w: %d items in one put, and the bound is %d", ErrQueueFull,
			len(nodes), p.bound)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := &put{first: p.last + 1, nodes: len(nodes), later: later, callback: done, done: make(chan struct{})}
	n, ch, err := p.base.Begin(putCommand(one.first, nodes, options))
	if err != nil {
		return 0, nil, nil, err
	}
	for _, node := range nodes {
		p.last++
		p.payloads[p.last] = node
	}
	p.puts[n] = one
	return n, one, ch, nil
}

func (p *producer) put(ctx context.Context, op string, nodes [][]byte, options map[string]string) error {
	if ctx.Err() != nil {
		return p.client.core.Explain(ctx, op, p.Path(), context.Cause(ctx), calls.NotBegun)
	}
	n, _, ch, err := p.begin(nodes, options, false, nil)
	if err != nil {
		return p.base.Explain(ctx, op, err)
	}
	r, err := p.base.Wait(ctx, n, ch)
	switch {
	case err == nil:
		return p.base.Explain(ctx, op, r.Err)
	case ctx.Err() == nil:
		return calls.AsError(op, p.Path(), fault.Joined(err, ErrOutcomeUnknown))
	}
	why := p.base.Obstacle() // before the put is taken back
	return p.client.core.Explain(ctx, op, p.Path(), p.latePut(ctx, n, ch), func() error { return why })
}

// latePut returns the outcome of a put whose context has ended.
func (p *producer) latePut(ctx context.Context, n uint64, ch chan calls.Reply) error {
	p.takeBack(ctx, n)
	if p.base.Commands.Drop(n) {
		return ErrOutcomeUnknown
	}
	r := <-ch
	var refused *Error
	if errors.As(r.Err, &refused) && refused.Code == events.Cancelled {
		return context.Cause(ctx)
	}
	return r.Err // it came in the last moment
}

// takeBack cancels a put whose caller has given up. It does not wait for a loop that does
// not answer: a command that the loop has not taken yet ends here.
func (p *producer) takeBack(ctx context.Context, n uint64) {
	if p.client.core.Loop.Withdraw(p.base.Machine, events.CommandPut, n) {
		p.answer(events.Answer{Command: n, Code: events.Cancelled})
		return
	}
	late, cancel := calls.Outlive(ctx)
	defer cancel()
	_ = p.base.Ask(late, "cancel", events.Event{Kind: events.CommandCancel, Work: n})
}

func (p *producer) putLater(ctx context.Context, nodes [][]byte, options map[string]string, done func(error)) error {
	const op = "put later"
	if ctx.Err() != nil {
		return p.client.core.Explain(ctx, op, p.Path(), context.Cause(ctx), calls.NotBegun)
	}
	select {
	case p.slots <- struct{}{}:
	case <-p.base.Commands.Ended():
		return calls.AsError(op, p.Path(), ErrClosed)
	case <-ctx.Done():
		return p.base.Explain(ctx, op, context.Cause(ctx))
	}
	_, _, _, err := p.begin(nodes, options, true, done)
	if err != nil {
		<-p.slots
	}
	return p.base.Explain(ctx, op, err)
}

// answer ends a put, or all if there is no machine; on the loop's goroutine.
func (p *producer) answer(a events.Answer) {
	if a.Code == events.NotOpened && a.Command == 0 {
		p.base.Deliver(a)
		for _, n := range p.pendingPuts() {
			p.answer(events.Answer{Command: n, Code: a.Code, Text: a.Text})
		}
		return
	}
	p.mu.Lock()
	one := p.puts[a.Command]
	delete(p.puts, a.Command)
	if one != nil {
		for i := range one.nodes {
			delete(p.payloads, one.first+uint64(i))
		}
	}
	p.mu.Unlock()
	if one != nil {
		p.finish(one, asError(a.Code, a.Text))
	}
	p.base.Deliver(a)
}

// pendingPuts returns the commands of the puts that are not answered, in their order.
func (p *producer) pendingPuts() []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.puts))
}

// finish reports the outcome of a background put.
func (p *producer) finish(one *put, err error) {
	defer close(one.done)
	if !one.later {
		return
	}
	<-p.slots
	switch {
	case one.callback != nil:
		p.callbacks.Put(func() { one.callback(err) })
	case err != nil:
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.putErrors) < maxPutErrors {
			p.putErrors = append(p.putErrors, err)
		} else {
			p.moreErrors++
		}
		p.client.core.Log.Log(zerolog.ErrorLevel, "an item was not put", func(e *zerolog.Event) {
			addFailure(e.Str("path",
				fault.Path(p.Path())), err)
		})
	}
}

// Flush does what Queue.Flush does.
func (p *producer) Flush(ctx context.Context) error {
	p.client.check(ctx)
	p.mu.Lock()
	open := make([]*put, 0, len(p.puts))
	for _, one := range p.puts {
		open = append(open, one)
	}
	p.mu.Unlock()
	for _, one := range open {
		select {
		case <-one.done:
		case <-p.client.core.Closed:
			return calls.AsError("flush", p.Path(), ErrClosed)
		case <-ctx.Done():
			return p.base.Explain(ctx, "flush", context.Cause(ctx))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	failures := p.putErrors
	if p.moreErrors > 0 {
		failures = append(failures, fmt.Errorf("incumbent: %d more failures of this kind", p.moreErrors))
	}
	p.putErrors, p.moreErrors = nil, 0
	return fault.Together(failures...)
}

// Close does what Queue.Close does.
func (p *producer) Close(ctx context.Context) error { return p.base.End(ctx, false) }

// payload returns the user's item with this number.
func (p *producer) payload(n uint64, _ bool) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.payloads[n]
}

var _ receiver = (*producer)(nil)

// putCommand returns the event of a put command.
func putCommand(first uint64, nodes [][]byte, options map[string]string) events.Event {
	bytes := 0
	values := map[string]string{}
	for k, v := range options {
		values[k] = v
	}
	for _, node := range nodes {
		bytes += len(node)
	}
	values[machines.OptionItems], values[machines.OptionBytes] = strconv.Itoa(len(nodes)), strconv.Itoa(bytes)
	return events.Event{Kind: events.CommandPut, Work: first, Options: values}
}

func (p *producer) notice(n events.Notify) { p.base.NoteTrouble(n) }

func (p *producer) entered(now events.Entered) { p.base.Enter(now) }
