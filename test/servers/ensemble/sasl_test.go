package ensemble_test

import (
	"bytes"
	"os"
	"strings"
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

// One server of three has another password. It refuses the logins of clients whose sessions it could serve, and no
// session ends: the others serve it.
func TestOneServerOfAnEnsembleRefusesALogin(t *testing.T) {
	const user, password = "jörg", "größer"
	var o ensemble.Options // its tick allows of a session that outlives the elections of a busy machine
	o.Properties = append(realzk.SASL(t, map[string]string{user: password}), realzk.RequireSASL)
	jaas := strings.TrimPrefix(o.Properties[0], "java.security.auth.login.config=")
	right, err := os.ReadFile(jaas)
	ok(t, err)
	e := ensemble.Start(t, o)
	log := tape.New(t)
	c := kit.Recorded(t, log, incumbent.Config{
		Servers: e.Addrs(), SessionTimeout: 20 * e.Tick(), Tick: e.Tick(), SyncLimit: e.SyncLimit(),
		ConnectRetry: incumbent.RetryForever(50 * time.Millisecond), SASL: incumbent.DigestMD5(user, password),
	}, kit.CloseConnected)
	ok(t, c.WaitConnected(t.Context()))
	ok(t, os.WriteFile(jaas, bytes.ReplaceAll(right, []byte(password), []byte("another")), 0o600))
	servers := e.Servers()
	servers[0].Stop()
	servers[0].Restart()
	e.Whole()
	ok(t, os.WriteFile(jaas, right, 0o600))
	refused := func() int {
		return log.Count(func(r events.Record) bool {
			return r.Event.Kind == events.ConnectionRefused &&
				strings.Contains(r.Event.Text, "was refused by the server")
		})
	}
	for range 3 {
		for _, s := range servers[1:] { // from the last, a client comes to the first
			s.Stop()
			s.Restart()
			e.Whole()
		}
		if refused() > 0 {
			break
		}
	}
	ok(t, c.WaitConnected(t.Context()))
	lost := log.Count(func(r events.Record) bool { return r.Event.Kind == events.ConnectionLost })
	if refused() == 0 || lost > 0 {
		t.Errorf("%d logins were refused, want one at least, and %d sessions were lost\n%s",
			refused(), lost, log.Tail(20))
	}
}
