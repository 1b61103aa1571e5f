package interop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// crewLogin is the login of Java's client.
const crewLogin = `Client {
  org.apache.zookeeper.server.auth.DigestLoginModule required username="crew" password="crewsecret";
};
`

// Java's participants and this library's take turns in one line of a server that demands SASL. What either creates is
// for their user alone, also if the other created the line.
func TestJavaAndGoShareALineBySASL(t *testing.T) {
	t.Parallel()
	realzk.Require(t)
	login := filepath.Join(t.TempDir(), "jaas.conf")
	ok(t, os.WriteFile(login, []byte(crewLogin), 0o600))
	users := map[string]string{"crew": "crewsecret", "eve": "evesecret"}
	server := realzk.Start(t, realzk.Options{
		Settings:   []string{"enforce.auth.enabled=true", "enforce.auth.schemes=sasl"},
		Properties: append(realzk.SASL(t, users), realzk.RequireSASL),
	})
	s := &stage{t: t, addr: server.Addr(), timeout: timeout, journal: noJournal, more: make(chan struct{})}
	java := s.java("-Djava.security.auth.login.config="+login, "-Dzookeeper.fips-mode=false", "-Dcreator=all").launch()
	crew, eve := s.loggedIn("crew", "crewsecret"), s.loggedIn("eve", "evesecret")
	for _, first := range []string{"go", "java"} {
		(&turns{s, java, crew, eve, "/of-" + first, 0}).take(first == "java")
	}
	nobody, err := incumbent.Open(t.Context(), incumbent.Config{Servers: server.Addr(), Silent: true})
	ok(t, err)
	if _, err := nobody.Exists("/of-go").Do(t.Context()); err == nil || !strings.Contains(err.Error(), "Config.SASL") {
		t.Errorf("without a login: %v", err)
	}
	_ = nobody.Close(t.Context()) // its error is the one above
}

// loggedIn returns a client with a user of the server.
func (s *stage) loggedIn(user, password string) *incumbent.Client {
	s.t.Helper()
	c, err := incumbent.Open(s.t.Context(), incumbent.Config{
		Servers: s.addr, SessionTimeout: s.timeout, SASL: incumbent.DigestMD5(user, password), Silent: true,
	})
	ok(s.t, err)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		ok(s.t, c.Close(ctx))
	})
	return c
}

// turns is one line in which Java's latches and this library's lead by turns.
type turns struct {
	*stage
	other     *peer
	crew, eve *incumbent.Client
	path      string
	at        int // what the Java peer has said until now
}

// take hands leadership over three times each way.
func (l *turns) take(javaLeads bool) {
	l.t.Helper()
	var own *incumbent.Latch
	if !javaLeads {
		own = l.enrol(0)
	} else {
		l.java(0)
	}
	for n := 1; n <= 6; n++ {
		if javaLeads {
			_, l.at = l.await(l.at, "Java to lead", func(s saying) bool { return s.words[0] == "leader" })
			own = l.enrol(n)
			l.guarded()
			l.other.say("leave %s", l.id(n-1))
		} else {
			term, err := own.Await(l.t.Context())
			ok(l.t, err)
			l.java(n)
			l.guarded()
			term.Release()
			ok(l.t, own.Close(l.t.Context()))
		}
		javaLeads = !javaLeads
	}
	if javaLeads {
		l.await(l.at, "Java to lead at last", func(s saying) bool { return s.words[0] == "leader" })
		l.other.say("leave %s", l.id(6))
		return
	}
	ok(l.t, own.Close(l.t.Context()))
}

func (l *turns) id(n int) string { return strings.TrimPrefix(l.path, "/") + "-" + string(rune('0'+n)) }

// enrol adds a latch of this library to the line.
func (l *turns) enrol(n int) *incumbent.Latch {
	l.t.Helper()
	latch, err := l.crew.Latch(l.path, incumbent.LatchOptions{ID: l.id(n)})
	ok(l.t, err)
	ok(l.t, latch.Start())
	l.inLine(l.id(n))
	return latch
}

// java adds one of Java's.
func (l *turns) java(n int) {
	l.t.Helper()
	l.other.say("join latch %s %s", l.id(n), l.path)
	l.inLine(l.id(n))
}

// inLine waits until somebody is in the line.
func (l *turns) inLine(id string) {
	l.t.Helper()
	for _, err := range l.crew.WatchChildren(l.t.Context(), l.path) {
		ok(l.t, err)
		line, err := l.crew.Line(l.t.Context(), l.path)
		ok(l.t, err)
		if slices.ContainsFunc(line.Participants, func(p incumbent.Participant) bool { return p.ID == id }) {
			return
		}
	}
	l.t.Fatalf("%s is not in line", id)
}

// guarded checks that another user can delete no place of the line, nor add one.
func (l *turns) guarded() {
	l.t.Helper()
	line, err := l.crew.Line(l.t.Context(), l.path)
	ok(l.t, err)
	if len(line.Participants) != 2 {
		l.t.Errorf("in line: %+v", line.Participants)
	}
	for _, one := range line.Participants {
		if err := l.eve.Delete(one.Path).Do(l.t.Context()); !errors.Is(err, incumbent.ErrNoAuth) {
			l.t.Errorf("another user deletes %s of %s: %v", one.Path, one.ID, err)
		}
		if _, err := l.eve.Get(one.Path).Do(l.t.Context()); !errors.Is(err, incumbent.ErrNoAuth) {
			l.t.Errorf("another user reads %s of %s: %v", one.Path, one.ID, err)
		}
	}
	if _, err := l.eve.Create(l.path+"/forged", nil).Do(l.t.Context()); !errors.Is(err, incumbent.ErrNoAuth) {
		l.t.Errorf("another user creates a node in the line: %v", err)
	}
}
