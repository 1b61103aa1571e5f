package door_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// If a term begins in the machine when Close gives up waiting, no work begins: the session
// is closed right after, and the node is deleted with it.
func TestNoWorkBeginsOnceClosed(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		first, second := w.open(), w.open()
		leader, err := first.Selector("/line", func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil },
			incumbent.SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		next, err := second.Selector("/line", func(*incumbent.Leadership) error {
			t.Error("work ran")
			return nil
		}, incumbent.SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*incumbent.Selector{leader, next} {
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		free := second.stopLoop()
		if err := leader.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the event waits in the inbox of the second
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		closed := make(chan error)
		go func() { closed <- second.Close(ended) }()
		synctest.Wait()
		free()
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}
