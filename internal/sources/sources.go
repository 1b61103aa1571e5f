// Package sources replaces the clock, the random numbers and the standard error of a client, and stops its loop, for
// simulations and tests that run the real door. The context that incumbent.Open gets carries them. A program outside
// this module cannot import the package.
package sources

import (
	"context"
	"io"
	"time"

	"github.com/incumbent-go/incumbent/engine"
)

// Sources are what a client gets in place of its own.
type Sources struct {
	Clock         engine.Clock     // nil: its own
	Seed          func() string    // called for each machine that is opened; nil: its own
	Wall          func() time.Time // for a Job's schedule; nil: the machine's
	StandardError io.Writer        // nil: the process's

	// AskServer has the client ask what its server is, as one without sources does.
	AskServer bool

	RecordRoom  int           // bytes of records that wait for Config.Record; 0: the default
	RecordDelay time.Duration // for which records are collected; 0: the default; below 0: none

	// Opened is called by Open, unless it is nil. The function step makes the client's loop call f in a step of its
	// own, and does not wait for that. f may block: the loop stands still until it returns. step returns false if the
	// loop has ended.
	Opened func(step func(f func()) bool)
}

type key struct{}

// With returns a context with which incumbent.Open uses these sources.
func With(ctx context.Context, s Sources) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the sources of a context. Found is false if it has none, as in every program.
func From(ctx context.Context) (s Sources, found bool) {
	s, found = ctx.Value(key{}).(Sources)
	return s, found
}
