package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// lateness is how many confirmations in a row may come too late before that is
// no passing slowness any more, and the calls that await leadership get an error.
const lateness = 3

// trouble is the last failure, and the back-off.
type trouble struct {
	retry    Policy
	dice     dice
	code     events.Code // of what stands in the way; OK: nothing does
	text     string
	failures int
	failedAt int64
	quick    int  // terms in a row whose work failed or returned at once
	spent    bool // the retry policy gave up
}

func newTrouble(open events.Event, o *options, usual Policy) trouble {
	return trouble{retry: o.policy("retry", usual), dice: newDice(open.Seed)}
}

// patience is the retry policy of a machine that is opened without one.
var patience = BoundedExponential(-1, 250*time.Millisecond, 30*time.Second)

// exhausted is a retry policy that gave up.
func (t *trouble) exhausted(events.Event) bool { return t.spent }

// fail makes an error visible on the handle.
func (t *trouble) fail(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	t.code, t.text = code, text
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Code: code, Text: text})
}

// attempt asks the policy for the pause before the next attempt; one that gives up
// means no pause.
func (t *trouble) attempt(ev events.Event) (d time.Duration, again bool) {
	if t.failures == 0 {
		t.failedAt = ev.At
	}
	d, again = t.retry.Next(t.failures, time.Duration(ev.At-t.failedAt), t.dice.roll())
	t.failures++
	return d, again
}

// restNext is the pause before the next attempt of a machine that never gives up.
func (t *trouble) restNext() time.Duration {
	d, again := t.retry.Next(t.failures, 0, t.dice.roll())
	if !again {
		d = restAtLast
	}
	t.failures++
	return d
}

// pace is the pause after work that failed or returned at once. It goes by the
// policy, but never ends: such work is no reason to leave the line.
func (t *trouble) pace() time.Duration {
	d, again := t.retry.Next(t.quick, 0, t.dice.roll())
	if !again {
		d, _ = patience.Next(t.quick, 0, t.dice.roll())
	}
	return d
}

// recover ends a trouble.
func (t *trouble) recover(out *engine.Outbox) {
	t.failures = 0
	if t.code != events.OK {
		t.code, t.text = events.OK, ""
		out.Notify(events.Notify{What: events.Recovered})
	}
}
