package incumbent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Work that returns because the context of Run has ended may be noticed before that end is: the cause is in the error
// nevertheless, and so is what the work returned.
func TestRunHasTheCauseWhateverIsNoticedFirst(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		s, err := w.open().Selector("/line", func(*Leadership) error { return nil }, SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cause := errors.New("the host shuts down")
		ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now(), cause)
		defer cancel()
		for range 100 { // a select with two ready cases takes either
			s.participant.finishRun(ErrWorkFailed)
			if err := s.outcome(ctx); !errors.Is(err, cause) {
				t.Fatal(err)
			}
		}
		select {
		case <-s.participant.ending.get():
		default:
		}
		s.participant.finishRun(ErrWorkFailed)
		if err := s.outcome(context.Background()); !errors.Is(err, ErrWorkFailed) {
			t.Error(err)
		}
	})
}
