package world

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// trusting is a world whose clients take an answer that proves nothing for a refusal: the planted bug.
type trusting struct{ scribe }

func (*trusting) Posting(_ *Client, _ events.ID, ev *events.Event) bool {
	if ev.Code.Unknown() && ev.SentAt != 0 {
		ev.Code = events.NotSent
	}
	return true
}

// A write that is carried out, and answered by a code that says nothing about it, costs neither the lead nor leaves a
// node: a client whose work it was leads after all, and so does the next one.
func TestAWriteAnsweredByACodeThatProvesNothing(t *testing.T) {
	for _, planted := range []bool{false, true} {
		wrong := 0
		for _, recipe := range []string{"latch", "selector", "mutex", "readwrite", "semaphore"} {
			for after := range time.Duration(8) {
				when := 20*time.Second + after*20*time.Millisecond
				if !recovers(t, recipe, when, planted) {
					wrong++
					if !planted {
						t.Errorf("%s, from %s on: nobody leads, or a node stays", recipe, when)
					}
				}
			}
		}
		if planted && wrong == 0 {
			t.Error("the planted bug was not seen")
		}
	}
}

// recovers plays one world: at a moment the leader's node is deleted, and its next write is answered so.
func recovers(t *testing.T, recipe string, when time.Duration, planted bool) bool {
	var o Observer = &scribe{}
	s := three(recipe, Action{At: at(20 * time.Second), Do: Expire}, Action{At: at(when), Do: Misreport},
		Action{At: at(50 * time.Second), Do: Close, Who: 1},
		Action{At: at(50 * time.Second), Do: Close, Who: 2})
	if planted {
		o = &trusting{}
	}
	w, err := New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	switch o := o.(type) {
	case *scribe:
		o.w = w
	case *trusting:
		o.w = w
	}
	w.Until(at(80 * time.Second))
	return w.Clients()[0].Holds() && len(w.Ensemble().Children("/jobs")) <= 2
}
