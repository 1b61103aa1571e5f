package calls

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// watched is a context that counts the functions that wait for its end.
type watched struct {
	context.Context
	waits *int
}

// Value hides that the context is one of the package context, which would call no AfterFunc.
func (w watched) Value(any) any { return nil }

func (w watched) AfterFunc(f func()) func() bool {
	*w.waits++
	stop := context.AfterFunc(w.Context, f)
	return func() bool { *w.waits--; return stop() }
}

// A context that outlives another ends a second after it, for the same cause; or when it is no longer needed, which
// leaves nothing.
func TestOutlive(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		parent, end := context.WithCancelCause(t.Context())
		waits, gone := 0, errors.New("gone")
		late, stop := Outlive(parent)
		short, stopShort := Outlive(watched{parent, &waits})
		virtual.Sleep(time.Minute)
		if late.Err() != nil || waits != 1 {
			t.Errorf("%v, %d wait", late.Err(), waits)
		}
		if stopShort(); short.Err() == nil || waits != 0 {
			t.Errorf("%v, %d wait", short.Err(), waits)
		}
		end(gone)
		virtual.Sleep(LastMoment - 1)
		if synctest.Wait(); late.Err() != nil {
			t.Error("it has ended early")
		}
		virtual.Sleep(1)
		if synctest.Wait(); context.Cause(late) != gone {
			t.Errorf("%v, want the cause", context.Cause(late))
		}
		stop()
	})
}

// A wait ends with what it waits for, or with its context: what has happened goes first.
func TestWaitsEnd(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		over, end := context.WithCancel(t.Context())
		end()
		closed, open := make(chan struct{}), make(chan struct{})
		close(closed)
		for range 20 { // a select takes any of two
			if !IsClosed(over, closed) || IsClosed(over, open) || !IsClosed(t.Context(), closed) {
				t.Fatal("a closed channel is open, or an open one closed")
			}
		}
		began := time.Now()
		if Sleep(over, time.Second) || time.Since(began) != 0 {
			t.Errorf("slept %s after the end", time.Since(began))
		}
		if !Sleep(t.Context(), time.Second) || time.Since(began) != time.Second {
			t.Errorf("slept %s, want 1s", time.Since(began))
		}
	})
}
