//go:build unix

package process

import (
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// A leader is stopped between its check and its write, the moment that no library can close. It wakes up when another
// has led and written, and writes: only the store can refuse that, by the token.
func TestALeaderIsStoppedBetweenCheckAndWrite(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	a := l.hire("a", "leading")
	a.says("leading")
	b := l.hire("b", "waiting")
	a.say("write")
	if got := a.says("wrote"); got != "taken true" {
		t.Fatal(got)
	}
	a.say("faint")
	b.says("leading")
	began := time.Now()
	b.say("write")
	if got := b.says("wrote"); got != "taken true" {
		t.Fatal(got)
	}
	a.signal(syscall.SIGCONT)
	woken := time.Now()
	said := map[string]bool{a.says(""): true, a.says(""): true}
	told := time.Now()
	if !said["stopped"] || !said["wrote stale false"] {
		t.Errorf("it says %v: want its write refused by the store, and no belief after waking", said)
	}
	if stale := l.store.stales(); stale != 1 {
		t.Errorf("%d stale writes reached the store, want the one", stale)
	}
	t.Logf("two believed at once for the rest of the pause, %s; all was said within %s of waking",
		woken.Sub(began).Round(time.Millisecond), told.Sub(woken).Round(time.Millisecond))
	a.expired()
}

// The next in line is stopped; its predecessor goes, and the news waits in its socket until its own session is long
// over and the one behind it leads. It must not take the news for its turn.
func TestTheNextInLineIsStoppedWithTheNewsInItsSocket(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	a := l.hire("a", "leading")
	a.says("leading")
	b := l.hire("b", "waiting")
	c := l.hire("c", "waiting")
	b.stop()
	a.in.Close() // a closes its latch and ends
	c.says("leading")
	c.say("write")
	if got := c.says("wrote"); got != "taken true" {
		t.Fatal(got)
	}
	b.signal(syscall.SIGCONT)
	b.expired()
	for _, r := range b.tape.Records() {
		if r.Event.Kind == events.ConnectionAttached && r.Event.Session == 2 {
			break
		}
		if r.To == "leading" {
			t.Fatalf("b took the news for its turn:\n%s", b.tape.Tail(30))
		}
	}
	c.say("write")
	if got := c.says("wrote"); got != "taken true" {
		t.Fatal(got)
	}
	c.in.Close()
	b.says("leading")
}

func TestAWaiterIsStoppedPastItsSession(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	a := l.hire("a", "leading")
	a.says("leading")
	b := l.hire("b", "waiting")
	c := l.hire("c", "waiting")
	c.stop()
	gone(t, l, 2)
	c.signal(syscall.SIGCONT)
	c.expired()
	a.in.Close()
	b.says("leading")
	b.in.Close()
	c.says("leading")
}
