package incumbent

import "context"

// turn is a lock that is waited for no longer than a context lasts.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) wait() { t <- struct{}{} }

func (t turn) give() { <-t }
