package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
)

// candidate is a place in a line, whatever the recipe.
type candidate interface {
	// await returns when leadership is held. Each is given back by done.
	await(context.Context) (*incumbent.Leadership, error)
	done(*incumbent.Leadership)
	close(context.Context) error
}

func newLatchCandidate(e *elector) (candidate, error) {
	l, err := e.client.Latch(e.path, incumbent.LatchOptions{ID: e.id})
	if err != nil {
		return nil, err
	}
	return latchCandidate{l}, l.Start()
}

// newElectionCandidate joins a plain election.
func newElectionCandidate(e *elector) (candidate, error) {
	el, err := e.client.Election(e.path, e.prefix, incumbent.LatchOptions{ID: e.id})
	if err != nil {
		return nil, err
	}
	return latchCandidate{el}, el.Start()
}

// latchCandidate is a latch, or a candidate of a plain election.
type latchCandidate struct {
	place interface {
		Await(context.Context) (*incumbent.Leadership, error)
		Close(context.Context) error
	}
}

func (k latchCandidate) await(ctx context.Context) (*incumbent.Leadership, error) {
	return k.place.Await(ctx)
}
func (k latchCandidate) done(held *incumbent.Leadership) { held.Release() }
func (k latchCandidate) close(ctx context.Context) error { return k.place.Close(ctx) }

// prefixes are the plain elections that a command looks at besides.
type prefixes []string

func (p *prefixes) flags(f *pflag.FlagSet) {
	f.StringArrayVar((*[]string)(p), "prefix", nil, "a plain election in the directory, by its prefix, such as n_ (may be repeated)")
}

// selector turns the selector's function into something to wait for.
type selector struct {
	*incumbent.Selector
	terms   chan *incumbent.Leadership
	over    chan struct{} // one value for each term that is given back
	closing chan struct{}
	ended   chan error // what ended Run by itself
}

func newSelectorCandidate(e *elector) (candidate, error) {
	s := &selector{terms: make(chan *incumbent.Leadership), over: make(chan struct{}), closing: make(chan struct{}), ended: make(chan error, 1)}
	var err error
	s.Selector, err = e.client.Selector(e.path, s.work, incumbent.SelectorOptions{
		LatchOptions: incumbent.LatchOptions{ID: e.id}, AutoRequeue: true,
	})
	if err != nil {
		return nil, err
	}
	go func() { s.ended <- s.Run(context.Background()) }()
	return s, nil
}

func (s *selector) work(l *incumbent.Leadership) error {
	select {
	case s.terms <- l:
		<-s.over
	case <-l.Context().Done():
	case <-s.closing:
	}
	return nil
}

func (s *selector) await(ctx context.Context) (*incumbent.Leadership, error) {
	select {
	case l := <-s.terms:
		return l, nil
	case err := <-s.ended:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *selector) done(*incumbent.Leadership) { s.over <- struct{}{} }

func (s *selector) close(ctx context.Context) error {
	close(s.closing)
	return s.Close(ctx)
}
