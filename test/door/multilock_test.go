package door_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// waitingLock is a Lockable that keeps the context of its last wait.
type waitingLock struct {
	path string
	err  error
	ctx  context.Context
}

var errNoLock = errors.New("no lock")

func (l *waitingLock) Path() string { return l.path }
func (l *waitingLock) Lock(ctx context.Context) (*incumbent.Hold, error) {
	l.ctx = ctx
	return nil, l.err
}
func (l *waitingLock) TryLock(ctx context.Context) (*incumbent.Hold, bool, error) {
	l.ctx = ctx
	return nil, false, l.err
}

// The context that a multi-lock gives to its locks ends with the call, so that it leaves nothing behind in the
// caller's, which may
// last as long as the program.
func TestAMultiLockEndsTheContextOfItsWaits(t *testing.T) {
	l := &waitingLock{path: "/a", err: errNoLock}
	multi := must(incumbent.NewMultiLock(l))
	if _, err := multi.Lock(t.Context()); !errors.Is(err, errNoLock) || l.ctx.Err() == nil {
		t.Errorf("Lock: %v, and the context's error is %v", err, l.ctx.Err())
	}
	l.ctx, l.err = nil, nil
	if _, held, err := multi.TryLock(t.Context()); held || err != nil || l.ctx.Err() == nil {
		t.Errorf("TryLock: %t, %v, and the context's error is %v", held, err, l.ctx.Err())
	}
}

// A hold of several locks has the values of the context that asked for it, and does not end with that context.
func TestAMultiHoldHasTheCallersValues(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		type key struct{}
		n := w.open()
		a, b := must(n.Mutex("/a", incumbent.MutexOptions{})), must(n.Mutex("/b", incumbent.MutexOptions{}))
		multi := must(incumbent.NewMultiLock(a, b))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		hold := must(multi.Lock(ctx))
		cancel()
		pass(time.Minute)
		if err := hold.Context().Err(); err != nil || hold.Context().Value(key{}) != "value" {
			t.Errorf("%v, and the value is %v", err, hold.Context().Value(key{}))
		}
		succeed(t, hold.Unlock(t.Context()))
		if hold.Context().Err() == nil {
			t.Error("the hold's context outlives it")
		}
	})
}
