package program

import (
	"context"
	"errors"
	"time"

	"github.com/incumbent-go/incumbent"
)

// awaitOn waits for the next term, also after the own node was deleted again and again, as by resign: then the next
// node follows after a pause, which the note says once.
func (e *elector) awaitOn(ctx context.Context) (*incumbent.Leadership, error) {
	said := false
	look := time.NewTicker(deletedAgainPause)
	defer look.Stop()
	for {
		l, err := e.candidate.await(ctx)
		if !errors.Is(err, incumbent.ErrDeletedAgain) {
			return l, err
		}
		if !said {
			e.Note("%v: the next one follows after a pause", trimLibrary(err))
			said = true
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// deletedAgainPause is how often awaitOn asks whether the pause is over.
const deletedAgainPause = 200 * time.Millisecond
