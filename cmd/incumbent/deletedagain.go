package main

import (
	"context"
	"errors"
	"time"

	"github.com/incumbent-go/incumbent"
)

// awaitOn waits for the next term, also after the own node was deleted again and again, as by resign: then the next node
// follows after a pause, which the note says once.
func (e *elector) awaitOn(ctx context.Context) (*incumbent.Leadership, error) {
	said := false
	for {
		l, err := e.candidate.await(ctx)
		if !errors.Is(err, incumbent.ErrDeletedAgain) {
			return l, err
		}
		if !said {
			e.Note("%v: the next one follows after a pause", trimLibrary(err))
			said = true
		}
		if !pauseOf(ctx, deletedAgainPause) {
			return nil, context.Cause(ctx)
		}
	}
}

// deletedAgainPause is how often awaitOn asks whether the pause is over.
const deletedAgainPause = 200 * time.Millisecond

// pauseOf waits, and reports whether the context lasted.
func pauseOf(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
