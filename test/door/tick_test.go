package door_test

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A server with a tick of 10 s grants 20 s when it is asked for 15. A client without a
// configured tick learns from that, once and for its whole life, and its contacts are as
// old as such a tick demands. A configured tick stays. Either is logged once.
func TestAGrantOfMoreThanWasAskedSaysWhatTheTickIs(t *testing.T) {
	for name, test := range map[string]struct {
		tick, known time.Duration
	}{
		"no tick is configured": {0, 10 * time.Second},
		"a tick is configured":  {2 * time.Second, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{Tick: 10 * time.Second}, func(t *testing.T, w *world) {
				log := &lines{}
				n := w.start(func(c *incumbent.Config) { c.Tick, c.Logger = test.tick, zerolog.New(log) })
				pass(time.Minute)
				n.cut()
				pass(time.Minute)
				w.srv.ExpireSession(n.session())
				pass(2 * time.Minute)
				if !n.latch.HasLeadership() || n.SessionTimeout() != 20*time.Second {
					t.Fatalf("leads %t, granted %s", n.latch.HasLeadership(), n.SessionTimeout())
				}
				if got := n.tape.Effects(events.SessionMachine, "notify warning"); got != 1 ||
					len(log.with("its tickTime is 10s")) != 1 {
					t.Errorf("%d notices, and the log has %q: want one of each", got, log.with("tickTime"))
				}
				if youngest := n.youngestContact(time.Minute); youngest < test.known/2 ||
					youngest > test.known/2+n.SessionTimeout()/3 {
					t.Errorf("the leader is said to know of a contact %s before a request, want %s", youngest,
						test.known/2)
				}
			})
		})
	}
}

// youngestContact returns how long before a heartbeat its contact was, at least, in the last
// part of the log.
func (n *node) youngestContact(last time.Duration) time.Duration {
	youngest := int64(time.Hour)
	for _, r := range n.tape.Records() {
		if ev := r.Event; r.Machine == events.SessionMachine && ev.Kind == events.ReplyMulti &&
			ev.At > n.w.now()-int64(last) {
			youngest = min(youngest, ev.SentAt-ev.Contact)
		}
	}
	return time.Duration(youngest)
}
