package incumbent

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An Await whose context has ended leaves nothing with the handle or its machine, and is
// granted nothing when the handle leads later: neither if another participant led meanwhile
// nor if there was no connection.
func TestAwaitsGivenUpLeaveNothing(t *testing.T) {
	const times = 300
	for name, cutOff := range map[string]bool{"another leads": false, "without a connection": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				first, second := w.start(), w.start()
				if cutOff {
					w.refuse(second, true)
					second.cut()
				}
				for range times {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					_, err := second.latch.Await(ctx)
					if cancel(); !errors.Is(err, context.DeadlineExceeded) {
						t.Fatalf("its context ended: %v", err)
					}
				}
				synctest.Wait()
				if err := first.latch.participant.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.refuse(second, false)
				if pass(time.Minute); !second.latch.participant.HasLeadership() {
					t.Fatalf("it does not lead: %s", second.latch.participant.Phase())
				}
				if granted := second.tape.Effects("latch-1", "notify granted"); granted != 0 {
					t.Errorf("%d Awaits were given up, and the machine grants leadership to %d", times, granted)
				}
				held, err := second.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				held.Release()
			})
		})
	}
}

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

// A try of a plain mutex that only listed the line has no place in it when its answer is delivered, so the caller's
// next try is not behind it. One that has a node keeps its place until that is deleted.
func TestATryOfAPlainMutexLeavesNoPlace(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		for phase, free := range map[string]bool{"probing": true, "listing": false} {
			h := &holdHandle{}
			h.prepare(n.Client, "/"+phase, LatchOptions{})
			a := acquisition{path: "/" + phase, options: MutexOptions{Plain: true, Prefix: "n_"}, try: true}
			fine(t, h.takePlace(t.Context(), a, events.Event{Options: map[string]string{}}))
			h.entered(phase)
			h.answer(events.Answer{Code: events.Locked})
			place := plainPlace("/"+phase, "n_")
			if n.reserve(place) != free {
				t.Errorf("%s: the place is free: %t, want %t", phase, !free, free)
			}
			h.entered("closed") // frees it once, and not the next one's
			if n.reserve(place) == free {
				t.Errorf("%s: after the end the place is free: %t", phase, free)
			}
		}
	})
}

// The command of a put has the number of its items and of their bytes, next to its own options, which stay as they are.
func TestPutCommandsCountItemsAndBytes(t *testing.T) {
	options := map[string]string{"priority": "3"}
	for _, c := range []struct {
		nodes        [][]byte
		items, bytes string
	}{
		{[][]byte{[]byte("abc"), []byte("de"), nil}, "3", "5"},
		{[][]byte{nil}, "1", "0"},
	} {
		got := putCommand(7, c.nodes, options)
		want := map[string]string{"priority": "3", "items": c.items, "bytes": c.bytes}
		if got.Kind != events.CommandPut || got.Work != 7 || !maps.Equal(got.Options, want) {
			t.Errorf("%+v, want the options %v", got, want)
		}
	}
	if len(options) != 1 {
		t.Errorf("the options were changed: %v", options)
	}
}
