package zkio

import (
	"testing"
	"time"
)

// The clients of a server that has ended do not come to the next one in the same moment, and none of
// them waits for long. A first connection does not wait.
func TestAfterALostConnectionTheNextIsTriedAtARandomMoment(t *testing.T) {
	const clients = 1000
	spread := spreadOf(15 * time.Second)
	early, late := 0, 0
	for range clients {
		h := newHosts([]string{"a:1", "b:1", "c:1"},
			Config{Timeout: 15 * time.Second, Backoff: time.Second, Handshake: 5 * time.Second})
		if _, pause := h.next(0); pause != 0 {
			t.Fatalf("the first connection waits for %v", pause)
		}
		h.attached(h.targets[0], "", 0)
		h.detached(int64(time.Minute), int64(time.Minute), 15*time.Second)
		_, pause := h.next(0)
		if pause < 0 || pause >= spread {
			t.Fatalf("a pause of %v, want less than %v", pause, spread)
		}
		if pause < spread/4 {
			early++
		}
		if pause >= spread*3/4 {
			late++
		}
		if _, pause := h.next(0); pause != 0 {
			t.Fatalf("the second server of the round is tried after %v", pause)
		}
	}
	if early < clients/8 || late < clients/8 {
		t.Errorf("%d in the first quarter of %v, %d in the last, of %d", early, spread, late, clients)
	}
}

func TestTheSpreadFollowsTheTimeout(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		0: 1, 3 * time.Second: 100 * time.Millisecond, 15 * time.Second: 500 * time.Millisecond,
		time.Minute: 500 * time.Millisecond,
	} {
		if got := spreadOf(timeout); got != want {
			t.Errorf("at a session timeout of %v it is %v, want %v", timeout, got, want)
		}
	}
}
