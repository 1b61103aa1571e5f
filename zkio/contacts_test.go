package zkio

import (
	"testing"
	"time"
)

func TestContactsFindTheLastBefore(t *testing.T) {
	var c contacts
	if got := c.before(7); got != 0 {
		t.Fatalf("nothing noted: got %d", got)
	}
	c.note(100, 100)
	if got := c.before(50); got != 100 {
		t.Errorf("before the first contact: got %d, want the first, 100", got)
	}
	c.note(200, 210)
	c.note(300, 390)
	for at, want := range map[int64]int64{100: 100, 209: 100, 210: 200, 389: 200, 1000: 300} {
		if got := c.before(at); got != want {
			t.Errorf("before %d: got %d, want %d", at, got, want)
		}
	}
}

// However many frames are sent, the memory reaches back over a session timeout.
func TestContactsReachBack(t *testing.T) {
	var c contacts
	timeout := 15 * time.Second
	c.setSpacing(timeout)
	now := int64(time.Hour)
	for range 100_000 {
		now += int64(time.Millisecond)
		c.note(now, now)
	}
	at := now - int64(timeout)*9/10
	if got := c.before(at); got > at || at-got > int64(timeout)/32 {
		t.Errorf("%s ago the last contact was %s earlier", time.Duration(now-at), time.Duration(at-got))
	}
}

// A ping counts from the time it was sent, once it is answered: until then it may be in the
// network, and the server has not received it.
func TestContactsAreAnswered(t *testing.T) {
	var c contacts
	c.note(100, 110)
	c.pinged(200)
	c.pinged(300)
	if got := c.before(1000); got != 100 {
		t.Errorf("two pings are under way: got %d, want 100", got)
	}
	c.ponged(900)
	if got := c.before(1000); got != 200 {
		t.Errorf("the first ping was answered: got %d, want 200", got)
	}
	if got := c.before(899); got != 100 {
		t.Errorf("before the answer: got %d, want 100", got)
	}
	c.ponged(910)
	c.ponged(920) // an answer to no ping
	if got := c.before(1000); got != 300 {
		t.Errorf("both were answered: got %d, want 300", got)
	}
}
