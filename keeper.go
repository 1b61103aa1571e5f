package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/events"
)

// keeper is what the handles share that keep leadership until they give it up.
type keeper struct{ participant }

// Start joins the line. It returns at once; what goes wrong in the background is
// in Err, and an Await returns it. A second call is ErrAlreadyStarted, one after
// Close is ErrClosed.
func (k *keeper) Start() error { return k.start(context.Background()) }

// Await returns when leadership is held. The caller does its work under what is
// returned, and calls its Release when the work is done; several callers may
// hold the same term. Leadership is kept until Resign or Close.
//
// Errors: ErrNotStarted; ErrClosed; the context's cause (with signal.NotifyContext
// since Go 1.26 that names the signal, and is not context.Canceled); or what stands
// in the way (ErrNoAuth, ErrPersistentNode, ErrCounterEnd, …), after which the
// handle goes on trying and Await may be called again.
func (k *keeper) Await(ctx context.Context) (*Leadership, error) {
	return k.await(ctx, ctx, func(n uint64) {
		k.client.post(k.id, events.Event{Kind: events.CommandCancel, Work: n})
	})
}

// Resign gives leadership up and queues again at the tail; it returns when the
// work under it has returned and the old place is gone, by deletion or with the
// session. ErrNotLeading when there is nothing to give up.
func (k *keeper) Resign(ctx context.Context) error {
	return k.ask(ctx, events.Event{Kind: events.CommandResign})
}

func (k *keeper) notice(n events.Notify) {
	if n.What == events.Granted {
		k.granted(n)
		return
	}
	k.participant.notice(n)
}
