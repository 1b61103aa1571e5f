package incumbent

import (
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

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
