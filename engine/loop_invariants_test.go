package engine_test

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// TestAnInboxThatIsTooLong checks that a bound of the inbox is checked if a test asks for
// it, and not otherwise.
func TestAnInboxThatIsTooLong(t *testing.T) {
	for most, broken := range map[int]string{0: "", 5: "", 4: "engine: machine latch-1, event work.returned: broken " +
		"invariant: more than 4 events wait in the inbox"} {
		l := engine.NewLoop(engine.New(false), nil, nil, nil)
		if most > 0 {
			l.CheckInvariants(most)
		}
		said := func() (said string) {
			defer func() {
				if r := recover(); r != nil {
					said = fmt.Sprint(r)
				}
			}()
			for range 5 {
				l.Post(events.Envelope{To: "latch-1", Event: events.Event{Kind: events.WorkReturned}})
			}
			return ""
		}()
		if said != broken {
			t.Errorf("a bound of %d: %q, want %q", most, said, broken)
		}
	}
}
