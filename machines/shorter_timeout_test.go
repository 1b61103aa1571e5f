package machines

import (
	"strings"
	"testing"
	"time"
)

// Another server of the ensemble may grant a shorter session timeout at a reconnect. The session then
// ends sooner than belief that rode the disconnect out would: that was computed with the longer
// timeout. So belief ends.
func TestAShorterTimeoutEndsBeliefThatRodeOut(t *testing.T) {
	for timeout, ends := range map[string]bool{"15s": false, "4s": true} {
		c := newConversation(t, newCoverage())
		c.play(t, "connected rideOut=true", "leads latch rideOut=true", "suspend", "at 1s", "attach timeout="+timeout)
		if got := c.engine.State("latch") != leading; got != ends {
			t.Errorf("after a reconnect with a timeout of %s belief has ended: %t, want %t", timeout, got, ends)
		}
	}
}

// While belief rides a disconnect out, no heartbeats run, so the leader may have heard of the session
// later. What was shown before stays true: the deadline does not move back.
func TestTheDeadlineDoesNotMoveBack(t *testing.T) {
	c := newConversation(t, newCoverage())
	c.play(t, "connected timeout=4s rideOut=true", "leads latch rideOut=true")
	for range 4 {
		c.play(t, "at 780ms", "session timer.fired name=heartbeat", "session reply.multi sent=0s")
	}
	before, alone := c.session.validUntil, c.session.aloneUntil
	c.play(t, "suspend", "attach timeout=4s", "at 100ms")
	answer := c.play(t, "session reply.multi sent=0s")
	if c.session.validUntil < before || c.session.aloneUntil < alone {
		t.Errorf("the deadline moves back by %s, and AloneUntil by %s:\n%s", time.Duration(before-c.session.validUntil),
			time.Duration(alone-c.session.aloneUntil), answer)
	}
	if !strings.Contains(answer, "valid until") {
		t.Errorf("the heartbeat did not confirm:\n%s", answer)
	}
}
