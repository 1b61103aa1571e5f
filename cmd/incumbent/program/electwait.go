package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

// wait queues until leadership is held, or there is a reason to stop. The caller has to
// call the function that it returns when the leadership is over.
func (e *elector) wait() (*incumbent.Leadership, func(), error) {
	// The leadership's context derives from this one, so it has to last as long.
	ctx, cancel := context.WithCancelCause(e.signals.ctx)
	free := func() { cancel(nil) }
	if e.try > 0 {
		timer := time.AfterFunc(e.try, func() {
			cancel(cli.Exit(exitTimeout, fmt.Errorf("not %s after %s (--try)", e.doing, e.try)))
		})
		defer timer.Stop()
	}
	looking, enough := context.WithCancel(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		if _, queues := e.candidate.(interface{ queues() }); e.tryOnce && queues {
			e.giveUpBehind(looking, cancel)
			return
		}
		e.printPosition(looking)
	}()
	l, err := e.awaitOn(ctx)
	enough()
	<-looked // it prints, which nobody's reading holds up
	switch {
	case err == nil && ctx.Err() == nil:
		return l, free, nil
	case err == nil: // in the same moment
		e.candidate.done(l)
	}
	free()
	if cause := context.Cause(ctx); cause != context.Canceled {
		return nil, nil, interrupted(tried(cause, err))
	}
	return nil, nil, failure(err)
}

// tried adds to the end of --try what the servers had refused last, if they did.
func tried(cause, err error) error {
	var ended *cli.ExitError
	var refused *incumbent.Error
	if errors.As(cause, &ended) && ended.Code == exitTimeout && errors.As(err, &refused) {
		return cli.Exit(exitTimeout, fmt.Errorf("%w: %w", ended.Err, flagNames(refused)))
	}
	return cause
}

// tryInterval is the time between two looks of --try 0s at the line.
const tryInterval = 50 * time.Millisecond

// giveUpBehind ends the wait of --try 0s if somebody else is first in the line when this participant is in it.
func (e *elector) giveUpBehind(ctx context.Context, cancel context.CancelCauseFunc) {
	look := time.NewTicker(tryInterval)
	defer look.Stop()
	for ctx.Err() == nil {
		line, err := e.client.Line(ctx, e.path, e.prefixes()...)
		if first, found := e.firstOf(line); err == nil && found {
			if first.Owner != e.client.SessionID() {
				cancel(cli.Exit(exitTimeout, fmt.Errorf("not %s: %s is first in line (--try 0s)", e.doing,
					events.Quote(first.ID, events.MaxName))))
			}
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// firstOf returns the head of the own line, once this participant is in it.
func (e *elector) firstOf(line incumbent.Line) (first incumbent.Participant, found bool) {
	for _, p := range line.Participants {
		if !e.inLine(p) {
			continue
		}
		if first.Path == "" {
			first = p
		}
		found = found || p.Owner == e.client.SessionID()
	}
	return first, found
}

// inLine reports whether a participant queues in the line in which this one does. A plain line is that of its prefix,
// whatever recipe that is of.
func (e *elector) inLine(p incumbent.Participant) bool {
	if e.line == "election" {
		return p.Prefix == e.prefix
	}
	return p.Recipe == e.line
}

// printPosition prints once who else is in the line.
func (e *elector) printPosition(ctx context.Context) {
	if p, ok := e.candidate.(*permits); ok {
		p.print(ctx)
		return
	}
	line, err := e.client.Line(ctx, e.path, e.prefixes()...)
	if err != nil {
		return
	}
	line.Participants = slices.DeleteFunc(line.Participants, func(p incumbent.Participant) bool {
		return !e.inLine(p)
	})
	others := 0
	for _, p := range line.Participants {
		if p.ID != e.id || p.Persistent() {
			others++
		}
	}
	first, there := line.First()
	if others > 0 && (!there || first.ID != e.id) {
		e.Note("waiting in %s as %s: %s in line, %s", e.path, events.Quote(e.id, events.MaxName), cli.Plural(others,
			"other"), head(line, func(s string) string { return s }))
	}
}

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
