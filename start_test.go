package incumbent

import (
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// delayedLatch is a latch that learns its machine's state late.
type delayedLatch struct {
	*Latch
	freed chan struct{}
}

func (l delayedLatch) entered(state string) {
	<-l.freed
	l.Latch.entered(state)
}

// The answer to Start comes before the notice of the state; Start waits for both, so that a
// call right after it does not return ErrNotStarted.
func TestStartReturnsWhenStarted(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		c := w.open()
		l := delayedLatch{&Latch{}, make(chan struct{})}
		l.Latch.participant.prepare(c.Client, "/line", LatchOptions{})
		if _, err := c.register(machines.LatchRecipe.Name(), func(id events.ID) receiver {
			l.Latch.participant.id = id
			return l
		}, LatchOptions{}.open("/line", c.config)); err != nil {
			t.Fatal(err)
		}
		started := make(chan error, 1)
		go func() { started <- l.Start() }()
		synctest.Wait()
		early := len(started) > 0
		close(l.freed)
		if err := <-started; err != nil || early || l.Latch.participant.State() != Started {
			t.Errorf("Start: %v, before the state was known: %t; State is %s", err, early, l.Latch.participant.State())
		}
	})
}
