package incumbent

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Change is what an onlooker sees of a line's leadership.
type Change struct {
	Recipe string      // which line, as in Participant.Recipe: a directory may hold one of each
	Vacant bool        // nobody is in line
	Leader Participant // who leads, unless Vacant
}

// Watch tells who leads a line, now and whenever that changes, vacancies
// included, until the context ends or the loop over it is left. It makes no node
// and survives reconnects and expiries. A line in which nobody ever was is told
// as one vacancy of Recipe "". Leaders that come and go between two looks may be
// missed. An error is told beside the changes (no permission, say), and watching
// goes on; the context's end is not told.
func (c *Client) Watch(ctx context.Context, path string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		feed, err := c.observe(ctx, path)
		if err != nil {
			yield(Change{}, err)
			return
		}
		defer feed.close()
		for {
			s, ok := feed.next(ctx)
			if !ok || !yield(s.change, s.err) {
				return
			}
		}
	}
}

// feed is what both observers of a directory saw, in order.
type feed struct {
	client    *Client
	observers []*observer

	mu    sync.Mutex
	queue []sight
	wake  chan struct{}

	// Of the loop's goroutine: which recipes were told of, and whether any had a
	// leader.
	told     map[string]bool
	occupied bool
}

// lines are the kinds of line that a directory may hold.
var lines = machines.Lines()

type sight struct {
	change Change
	err    error
}

// observer is the handle on one observer machine.
type observer struct {
	feed     *feed
	id       events.ID
	recipe   string
	commands commands
}

func (c *Client) observe(ctx context.Context, path string) (*feed, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	f := &feed{client: c, wake: make(chan struct{}, 1), told: map[string]bool{}}
	for _, line := range lines {
		o := &observer{feed: f, recipe: line.Recipe}
		o.commands.ended = make(chan struct{})
		_, err := c.register(machines.ObserverRecipe.Name(), func(id events.ID) receiver {
			o.id = id
			return o
		}, events.Event{Path: path, Options: map[string]string{"label": line.Label}})
		if err == nil {
			f.observers = append(f.observers, o)
			_, err = o.commands.ask(ctx, c, o.id, events.Event{Kind: events.CommandStart})
		}
		if err != nil {
			f.close()
			return nil, err
		}
	}
	return f, nil
}

func (f *feed) close() {
	for _, o := range f.observers {
		f.client.post(o.id, events.Event{Kind: events.CommandClose})
	}
}

// next waits for the next sight; false when the context or the client has ended.
func (f *feed) next(ctx context.Context) (sight, bool) {
	for {
		f.mu.Lock()
		if len(f.queue) > 0 {
			s := f.queue[0]
			f.queue = f.queue[1:]
			f.mu.Unlock()
			return s, true
		}
		f.mu.Unlock()
		select {
		case <-f.wake:
		case <-f.client.closed:
			return sight{err: ErrClosed}, false
		case <-ctx.Done():
			return sight{}, false
		}
	}
}

func (f *feed) put(s sight) {
	f.mu.Lock()
	f.queue = append(f.queue, s)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// vacate tells that a line has nobody in it. Of the two kinds of line, one is
// vacant for good in most directories: that is worth telling only when both are.
func (f *feed) vacate(recipe string) {
	first := !f.told[recipe]
	f.told[recipe] = true
	switch {
	case !first:
		f.put(sight{change: Change{Recipe: recipe, Vacant: true}})
	case len(f.told) == len(lines) && !f.occupied:
		f.put(sight{change: Change{Vacant: true}})
	}
}

func (o *observer) answer(a events.Answer) { o.commands.answer(a) }

func (o *observer) entered(state string) {
	if state == "closed" {
		o.feed.client.forget(o.id)
		close(o.commands.ended)
	}
}

// Close makes an observer end with its client.
func (o *observer) Close(ctx context.Context) error {
	_, err := o.commands.ask(ctx, o.feed.client, o.id, events.Event{Kind: events.CommandClose})
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

// notice takes what the machine tells; on the loop's goroutine, as both of a
// feed's observers are.
func (o *observer) notice(n events.Notify) {
	switch n.What {
	case events.Leader:
		o.feed.told[o.recipe], o.feed.occupied = true, true
		o.feed.put(sight{change: Change{Recipe: o.recipe, Leader: Participant{
			Recipe: o.recipe, Path: n.Path, ID: n.Text, Token: n.Token, Owner: n.Owner, Leads: true,
		}}})
	case events.Vacant:
		o.feed.vacate(o.recipe)
	case events.Failed:
		o.feed.put(sight{err: asError(n.Code, n.Text)})
	}
}
