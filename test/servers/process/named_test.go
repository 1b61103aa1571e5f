//go:build unix

package process

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A leader is stopped until its session has expired and another leads. All that it says when it goes on names its own
// pause, and no server.
func TestAStoppedLeaderNamesItsPause(t *testing.T) {
	t.Parallel()
	l, _ := newLineInMemory(t)
	a := l.hire("a", "leading")
	a.says("leading")
	b := l.hire("b", "waiting")
	a.stop()
	b.says("leading")
	a.signal(syscall.SIGCONT)
	a.says("stopped")
	a.expired()

	named := map[string]bool{}
	for _, r := range a.tape.Records() {
		for _, effect := range r.Effects.Strings() {
			kind, _, _ := strings.Cut(strings.TrimPrefix(effect, "notify "), " ")
			if kind != string(events.Stopped) && kind != string(events.Suspended) && kind != string(events.Lost) {
				continue
			}
			_, rest, _ := strings.Cut(effect, "paused=")
			text, _, _ := strings.Cut(rest, " ")
			lasted, err := time.ParseDuration(text)
			if err != nil || lasted < 2*time.Second || lasted > time.Minute ||
				!strings.Contains(effect, "this process did not run for ") {
				t.Errorf("it says %s", effect)
			}
			t.Log(effect)
			named[kind] = true
		}
	}
	if len(named) != 3 {
		t.Errorf("it named the pause as the cause of %v only\n%s", named, a.tape.Tail(30))
	}
}

// A server is silent, and the process runs all the time: that is the server's silence.
func TestASilentServerIsNoPause(t *testing.T) {
	t.Parallel()
	repeat.Rounds(t, aSilentServerIsNoPause)
}

func aSilentServerIsNoPause(t *repeat.Round) {
	l, srv := newLineInMemory(t.T)
	a := l.hire("a", "leading")
	a.says("leading")
	srv.Freeze(zkmem.Outbound)
	a.says("stopped")
	a.tape.State(events.SessionMachine, "suspended")
	srv.Heal()
	var said []string
	for _, r := range a.tape.Records() {
		if r.Event.Kind == events.TimerFired && r.Event.Paused != 0 {
			t.Again("the client's process did not run for %s", time.Duration(r.Event.Paused))
		}
		if r.Event.Kind == events.ConnectionSuspended && !r.Internal {
			said = append(said, r.Event.Text)
		}
	}
	if len(said) != 1 || said[0] != srv.Addr()+": silent for too long" {
		t.Errorf("it says %q", said)
	}
}
