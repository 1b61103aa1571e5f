package program

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/incumbent-go/incumbent"
)

// candidate is a participant of a line, whatever the recipe.
type candidate interface {
	// await returns when leadership is held. done releases it.
	await(context.Context) (*incumbent.Leadership, error)
	done(*incumbent.Leadership)
	close(context.Context) error
}

// prefixes returns the prefix of the plain election, if it is one.
func (e *elector) prefixes() []string {
	if e.line == "election" {
		return []string{e.prefix}
	}
	return nil
}

// options are those of a latch, a selector or an election.
func (e *elector) options() incumbent.LatchOptions {
	return incumbent.LatchOptions{ID: e.id, Advertise: e.advertise}
}

func newLatchCandidate(e *elector) (candidate, error) {
	l, err := e.client.Latch(e.path, e.options())
	if err != nil {
		return nil, err
	}
	return latchCandidate{l}, l.Start()
}

// newElectionCandidate joins a plain election.
func newElectionCandidate(e *elector) (candidate, error) {
	el, err := e.client.Election(e.path, e.prefix, e.options())
	if err != nil {
		return nil, err
	}
	return latchCandidate{el}, el.Start()
}

// latchCandidate is a latch, or a participant of a plain election.
type latchCandidate struct {
	participant interface {
		Await(context.Context) (*incumbent.Leadership, error)
		Close(context.Context) error
	}
}

// queues marks the candidates that cannot try without a place in the line.
func (latchCandidate) queues() {}
func (*selector) queues()      {}

func (k latchCandidate) await(ctx context.Context) (*incumbent.Leadership, error) {
	return k.participant.Await(ctx)
}
func (k latchCandidate) done(held *incumbent.Leadership) { held.Release() }
func (k latchCandidate) close(ctx context.Context) error { return k.participant.Close(ctx) }

// prefixes has the prefixes of the plain elections that a command reads as well.
type prefixes []string

func (p *prefixes) flags(f *pflag.FlagSet) {
	f.StringArrayVar((*[]string)(p), "prefix", nil, "a plain election or lock in the directory, by its prefix, "+
		"such as n_, or '' if its names are only a number (may be repeated)")
}

// selector sends each term from the selector's function to await.
type selector struct {
	*incumbent.Selector
	terms   chan *incumbent.Leadership
	over    chan struct{} // one value for each term that is released
	closing chan struct{}
	ended   chan error // the result of Run
}

func newSelectorCandidate(e *elector) (candidate, error) {
	s := &selector{terms: make(chan *incumbent.Leadership), over: make(chan struct{}), closing: make(chan struct{}),
		ended: make(chan error, 1)}
	var err error
	s.Selector, err = e.client.Selector(e.path, s.work, incumbent.SelectorOptions{
		ID: e.id, Advertise: e.advertise, AutoRequeue: true,
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
		return nil, errors.Join(context.Cause(ctx), s.Err())
	}
}

func (s *selector) done(*incumbent.Leadership) { s.over <- struct{}{} }

func (s *selector) close(ctx context.Context) error {
	close(s.closing)
	return s.Close(ctx)
}
