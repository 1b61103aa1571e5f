package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// interruption is a signal that came while waiting.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string { return fmt.Sprintf("left the queue: %s", i.signal) }

// interrupted gives a signal its exit code; other errors pass.
func interrupted(err error) error {
	var i interruption
	var coded *cli.ExitError
	if errors.As(err, &i) && !errors.As(err, &coded) {
		n, _ := i.signal.(syscall.Signal)
		return cli.Exit(exitSignal+int(n), i)
	}
	return err
}

// signals sends signals to a running command; without one they end the context.
type signals struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	ch     chan os.Signal

	mu      sync.Mutex
	first   os.Signal
	forward func(os.Signal)
	held    []os.Signal
}

func catch(ctx context.Context) *signals {
	s := &signals{ch: make(chan os.Signal, 16)}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	cli.NotifyUnlessIgnored(s.ch, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for sig := range s.ch {
			s.take(sig)
		}
	}()
	return s
}

func (s *signals) take(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = sig
	}
	if s.forward != nil {
		s.forward(sig)
		return
	}
	s.cancel(interruption{sig})
}

// came returns the first signal, if there was one.
func (s *signals) came() os.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// hold keeps signals until to is called, because the command is being started and cannot
// get them yet. It reports whether none came before.
func (s *signals) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forward = func(sig os.Signal) { s.held = append(s.held, sig) }
	return s.first == nil
}

// to has forward called for the signals that were held, and for each one from now on,
// until it is nil.
func (s *signals) to(forward func(os.Signal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forward = forward
	for _, sig := range s.held {
		if forward != nil {
			forward(sig)
		}
	}
	s.held = nil
}

func (s *signals) stop() {
	signal.Stop(s.ch)
	close(s.ch)
	s.cancel(nil)
}
