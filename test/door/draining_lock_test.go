package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A lock that was lost, or whose client is closed, and that is not unlocked is named in the
// log: it is a lock, and Unlock ends it.
func TestAForgottenUnlockIsNamed(t *testing.T) {
	for reason, end := range map[string]func(*testing.T, *node){
		"the own node was deleted": func(t *testing.T, n *node) { n.evict(t, "/lock") },
		"closed":                   func(_ *testing.T, n *node) { go func() { _ = n.Close(context.Background()) }() },
	} {
		t.Run(reason, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, config := logged()
				n := w.open(config)
				hold := must(must(n.Mutex("/lock", incumbent.MutexOptions{})).Lock(t.Context()))
				end(t, n)
				pass(14 * time.Second)
				log.silent(t)
				pass(2 * time.Second)
				log.warned(t, "incumbent: /lock:", "the lock with token ", fmt.Sprint(hold.Token()),
					"draining_lock_test.go:", reason, "is not unlocked: call its Unlock", "Close waits")
				if strings.Contains(log.String(), "Release") {
					t.Errorf("the warning is about a Leadership: %s", log)
				}
				hold.Release()
				pass(time.Minute)
				log.warned(t)
			})
		})
	}
}

// Client.Close names the call that gave out what is not released, for every type.
func TestClientCloseNamesTheCall(t *testing.T) {
	const lock, lead = "call its Unlock", "call its Release"
	for name, c := range map[string]struct {
		take func(context.Context, *node) (release func())
		says string
	}{
		"Mutex.Lock": {func(ctx context.Context, n *node) func() {
			return must(must(n.Mutex("/a", incumbent.MutexOptions{})).Lock(ctx)).Release
		}, lock},
		"Mutex.TryLock": {func(ctx context.Context, n *node) func() {
			hold, _, err := must(n.Mutex("/a", incumbent.MutexOptions{})).TryLock(ctx)
			return must(hold, err).Release
		}, lock},
		"Holder.Lock": {func(ctx context.Context, n *node) func() {
			return must(must(n.Mutex("/a", incumbent.MutexOptions{})).Holder().Lock(ctx)).Release
		}, lock},
		"Semaphore.Acquire": {func(ctx context.Context, n *node) func() {
			return must(must(n.Semaphore("/a", 2, incumbent.SemaphoreOptions{})).Acquire(ctx, 2)).Release
		}, "the hold of permits with token "},
		"ReadWriteLock.RLock": {func(ctx context.Context, n *node) func() {
			return must(must(n.ReadWriteLock("/a", incumbent.MutexOptions{})).RLock(ctx)).Release
		}, lock},
		"WriteHold.Downgrade": {func(ctx context.Context, n *node) func() {
			return must(must(must(n.ReadWriteLock("/a", incumbent.MutexOptions{})).Lock(ctx)).Downgrade(ctx)).Release
		}, lock},
		"MultiLock.Lock": {func(ctx context.Context, n *node) func() {
			hold := must(must(incumbent.NewMultiLock(must(n.Mutex("/a", incumbent.MutexOptions{})))).Lock(ctx))
			return func() { _ = hold.Unlock(ctx) }
		}, lock},
		"Election.Await": {func(ctx context.Context, n *node) func() {
			e := must(n.Election("/a", "n_", incumbent.LatchOptions{}))
			_ = e.Start()
			return must(e.Await(ctx)).Release
		}, lead},
		"JobElection.Await": {func(ctx context.Context, n *node) func() {
			j := must(n.JobElection("/a", incumbent.JobElectionOptions{}))
			_ = j.Start()
			return must(j.Await(ctx)).Release
		}, lead},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				release := c.take(t.Context(), n)
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				err := n.Close(ended)
				mustSay(t, err, "incumbent: close /a: ", "draining_lock_test.go:",
					"(door_test.TestClientCloseNamesTheCall.", c.says)
				if !errors.Is(err, incumbent.ErrWorkRunning) || !errors.Is(err, context.Canceled) {
					t.Errorf("Client.Close: %v, want ErrWorkRunning and the context's end", err)
				}
				release()
			})
		})
	}
}

// A function that JobElection.ExecuteInLeader calls is named as such: it has no Release to
// call.
func TestAFunctionThatExecutesInLeaderIsNamed(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, config := logged()
		n := w.open(config)
		j := must(n.JobElection("/job", incumbent.JobElectionOptions{}))
		deaf := &deafWork{returns: make(chan struct{})}
		ended := make(chan error, 1)
		go func() {
			ended <- j.ExecuteInLeader(t.Context(), "latch",
				func(l *incumbent.Leadership) error { l.Release(); return deaf.work(l) })
		}()
		pass(time.Second)
		n.evict(t, "/job/latch")
		pass(time.Minute)
		log.warned(t, "incumbent: /job/latch: the work door_test.TestAFunctionThatExecutesInLeaderIsNamed.",
			"draining_lock_test.go:")
		close(deaf.returns)
		fine(t, <-ended)
	})
}
