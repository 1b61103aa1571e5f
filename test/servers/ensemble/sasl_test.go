package ensemble_test

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

// Two participants log in again, through a rolling restart of an ensemble that demands it. Then one hands over to the
// other.
func TestALoginThroughARollingRestart(t *testing.T) {
	o := short
	o.Properties = append(realzk.SASL(t, map[string]string{"jörg": "größer"}), realzk.RequireSASL)
	e := ensemble.Start(t, o)
	w := newWitness(t)
	member := func(id string) *node {
		log := tape.New(t)
		c := kit.Recorded(t, log, incumbent.Config{
			Servers: e.Addrs(), SessionTimeout: timeout, Tick: e.Tick(), SyncLimit: e.SyncLimit(),
			ConnectRetry: incumbent.RetryForever(50 * time.Millisecond), SASL: incumbent.DigestMD5("jörg", "größer"),
		}, kit.CloseConnected)
		return joinBy(t, c, log, w, incumbent.LatchOptions{ID: id})
	}
	a := member("a")
	a.leads()
	b := member("b")
	b.is("waiting")
	for _, s := range e.Servers() {
		s.Stop()
		s.Restart()
		e.Whole()
	}
	ok(t, a.Close(t.Context()))
	b.is("leading")
	for _, n := range []*node{a, b} {
		logins := n.tape.Count(func(r events.Record) bool { return r.Event.Kind == events.ConnectionAttached })
		refused := n.tape.Count(func(r events.Record) bool { return r.Event.Code == events.AuthFailed })
		if logins < 2 || refused > 0 {
			t.Errorf("%s logged in %d times, want at least 2, and was refused %d times\n%s", n.ID(), logins, refused,
				n.tape.Tail(20))
		}
	}
}
