package incumbent

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Remove deletes the items of this id that no consumer has locked, and returns how
// many those were. It lists the queue: with many items that is dear, see
// docs/queues.md. What consumers take at most once they may have while it is removed.
//
// Errors: ErrNotConnected, the context's, ErrOutcomeUnknown (one more may have been
// removed), or an *Error. Nothing is tried twice: call it again.
func (q *IDQueue[T]) Remove(ctx context.Context, id string) (removed int, err error) {
	names, err := q.client.list(ctx, q.path)
	if err != nil {
		return 0, unlessMissing(err)
	}
	items, _ := q.kind.Backlog(names)
	for _, item := range items {
		if item.ID != machines.FixID(id) {
			continue
		}
		gone, err := q.remove(ctx, item.Name)
		if err != nil {
			return removed, fmt.Errorf("incumbent: remove %s: %w", item.Name, err)
		}
		if gone {
			removed++
		}
	}
	return removed, nil
}

// remove deletes one item under its lock, in one step, unless another has it.
func (q *IDQueue[T]) remove(ctx context.Context, name string) (bool, error) {
	lock, item := q.options.LockPath+"/"+name, q.path+"/"+name
	ops := []Op{
		{Verb: "create", Path: lock, Mode: events.Ephemeral},
		{Verb: "delete", Path: item, Version: -1},
		{Verb: "delete", Path: lock, Version: -1},
	}
	for founded := false; ; founded = true {
		session := q.client.io.Current()
		results, err := q.client.commit(ctx, session, ops...)
		var refused *zkio.Error
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, ErrOutcomeUnknown), !errors.As(err, &refused):
			return false, err
		case refused.Code == events.NodeExists:
			return false, nil // a consumer is at it
		case refused.Code != events.NoNode:
			return false, &Error{refused.Code, refused.Text}
		case results[0].Code != events.NoNode:
			return false, nil // it is gone
		case founded:
			return false, &Error{refused.Code, q.options.LockPath}
		}
		// Nobody ever locked anything: the locks have no directory.
		_, err = q.client.Create(q.options.LockPath, nil).Parents().Do(ctx)
		if there := (*Error)(nil); err != nil && !(errors.As(err, &there) && there.Code == events.NodeExists) {
			return false, err
		}
	}
}
