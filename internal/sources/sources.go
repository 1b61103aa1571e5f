// Package sources replaces the clock and the random numbers of a client, for simulations that run the real door. The
// context that incumbent.Open gets carries them. A program outside this module cannot import the package.
package sources

import (
	"context"

	"github.com/incumbent-go/incumbent/engine"
)

// Sources are what a client gets in place of its own.
type Sources struct {
	Clock engine.Clock  // nil: its own
	Seed  func() string // called for each machine that is opened
}

type key struct{}

// With returns a context with which incumbent.Open uses these sources.
func With(ctx context.Context, s Sources) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the sources of a context. Found is false if it has none, as in every program.
func From(ctx context.Context) (s Sources, found bool) {
	s, found = ctx.Value(key{}).(Sources)
	return s, found
}
