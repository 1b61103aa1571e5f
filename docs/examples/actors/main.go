// Actors runs what a service consists of as actors that end together: a leader's work, a selector's turns, and
// something that every instance does. Latch.Run and Selector.Run are such actors as they are: they block, end with
// their context, and return only when the work has returned and the node is deleted. Copy the function for the group
// that you use.
//
// Every instance warms up before it queues, so the leader is warm, and a takeover waits for nothing.
package main

import (
	"cmp"
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oklog/run"
	"golang.org/x/sync/errgroup"

	"github.com/incumbent-go/incumbent"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: actors HOST:PORT,…")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := incumbent.Open(ctx, incumbent.Config{Servers: os.Args[1]})
	if err != nil {
		log.Fatal(err)
	}
	err = newService(client, load, log.Printf).withErrgroup(ctx)
	closing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := errors.Join(err, client.Close(closing)); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// load stands for what takes long at the start: a cache, a model, connections.
func load(ctx context.Context) error { return ctx.Err() }

// service is one instance.
type service struct {
	client *incumbent.Client
	load   func(context.Context) error
	say    func(string, ...any)
	warm   chan struct{} // closed when load has returned
}

func newService(client *incumbent.Client, load func(context.Context) error, say func(string, ...any)) *service {
	return &service{client, load, say, make(chan struct{})}
}

// refresh warms up, and would keep what was loaded up to date then: in every instance, whether it leads or not.
func (s *service) refresh(ctx context.Context) error {
	if err := s.load(ctx); err != nil {
		return err
	}
	s.say("warm")
	close(s.warm)
	<-ctx.Done()
	return context.Cause(ctx)
}

// lead queues as soon as this instance is warm, and works while it leads.
func (s *service) lead(ctx context.Context) error {
	select {
	case <-s.warm:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	latch, err := s.client.Latch("/jobs/nightly", incumbent.LatchOptions{})
	if err != nil {
		return err
	}
	return cmp.Or(latch.Run(ctx, func(l *incumbent.Leadership) error {
		s.say("leading, token %d", l.Token())
		<-l.Context().Done() // the work: give it this context, and the token to what it writes to
		return context.Cause(l.Context())
	}), context.Cause(ctx)) // that the context has ended is no error of Run: the group is to know why
}

// turns takes part in work that goes round: each instance does a piece, and queues again.
func (s *service) turns(ctx context.Context) error {
	selector, err := s.client.Selector("/jobs/reports", func(l *incumbent.Leadership) error {
		s.say("one report")
		select {
		case <-l.Context().Done():
			return context.Cause(l.Context())
		case <-time.After(time.Second):
			return nil
		}
	}, incumbent.SelectorOptions{AutoRequeue: true})
	if err != nil {
		return err
	}
	return cmp.Or(selector.Run(ctx), context.Cause(ctx))
}

// withErrgroup runs the actors in an errgroup: the first error ends the context of the others, and Wait awaits them
// all.
func (s *service) withErrgroup(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, actor := range []func(context.Context) error{s.refresh, s.lead, s.turns} {
		group.Go(func() error { return actor(ctx) })
	}
	return group.Wait()
}

// withRun runs them in a group of oklog/run: the first that returns interrupts the others.
func (s *service) withRun(ctx context.Context) error {
	var group run.Group
	for _, actor := range []func(context.Context) error{s.refresh, s.lead, s.turns} {
		ctx, cancel := context.WithCancelCause(ctx)
		group.Add(func() error { return actor(ctx) }, cancel)
	}
	return group.Run()
}
