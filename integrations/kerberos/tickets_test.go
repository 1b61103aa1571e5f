package kerberos

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// scripted is a KDC of the test's: its tickets last as long as it says, and it can fail.
type scripted struct {
	mu sync.Mutex
	script
}

// script is what it does, and what it has done.
type script struct {
	lasts   time.Duration
	fails   error
	refuses int           // so many tickets for servers
	slow    time.Duration // for each answer
	behind  time.Duration // its clock
	logins  int
	renewed int
	tickets int
}

func (s *scripted) name() string { return "alice@" + testRealm }

// have changes what the KDC does.
func (s *scripted) have(change func(*script)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.script)
}

// done returns what the KDC has done.
func (s *scripted) done() script {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.script
}

func (s *scripted) answer(count *int) (credential, error) {
	virtual.Sleep(s.done().slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return credential{}, s.fails
	}
	*count++
	now := time.Now()
	return credential{begin: now.Add(-s.behind), end: now.Add(s.lasts)}, nil
}

func (s *scripted) login() (credential, error)           { return s.answer(&s.logins) }
func (s *scripted) renew(credential) (credential, error) { return s.answer(&s.renewed) }

func (s *scripted) ticket(credential, service) (credential, error) {
	refused := false
	s.have(func(s *script) {
		if refused = s.refuses > 0; refused {
			s.refuses--
		}
	})
	if refused {
		return credential{}, errors.New("refused")
	}
	return s.answer(&s.tickets)
}

var (
	toLocalhost = service{name: "zookeeper/localhost"}
	noAnswer    = unanswered{errors.New("no KDC answers")}
)

// Tickets are renewed after four fifths of their time, also while nobody logs in, and a KDC that is away for less
// than the rest is not missed.
func TestTicketsAreRenewed(t *testing.T) {
	virtual.Within(t, 100*time.Hour, func(t *testing.T) {
		s := &scripted{script: script{lasts: time.Hour}}
		k := newTickets(s)
		defer k.close()
		first, err := k.get(t.Context(), toLocalhost)
		if err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(47 * time.Minute)
		if s.done().renewed != 0 {
			t.Error("renewed before four fifths")
		}
		virtual.Sleep(2 * time.Minute)
		second, _ := k.get(t.Context(), toLocalhost)
		if s.done().renewed != 1 || s.done().tickets != 2 || !second.end.After(first.end) || s.done().logins != 1 {
			t.Errorf("%+v", s.done())
		}
		s.have(func(s *script) { s.fails = noAnswer })
		virtual.Sleep(55 * time.Minute)
		if _, err := k.get(t.Context(), toLocalhost); err != nil {
			t.Error("a ticket that still lasts is not used:", err)
		}
		s.have(func(s *script) { s.fails = nil })
		virtual.Sleep(2 * time.Minute)
		if s.done().renewed != 2 || s.done().logins != 1 {
			t.Errorf("after the KDC is back: %+v", s.done())
		}
	})
}

// After the end of the tickets nothing is tried until somebody logs in.
func TestTicketsThatEnd(t *testing.T) {
	virtual.Within(t, 100*time.Hour, func(t *testing.T) {
		s := &scripted{script: script{lasts: time.Hour}}
		k := newTickets(s)
		defer k.close()
		if _, err := k.get(t.Context(), toLocalhost); err != nil {
			t.Fatal(err)
		}
		s.have(func(s *script) { s.fails = noAnswer })
		virtual.Sleep(2 * time.Hour)
		if _, err := k.get(t.Context(), toLocalhost); !isUnanswered(err) {
			t.Error(err)
		}
		s.have(func(s *script) { s.fails = nil })
		virtual.Sleep(24 * time.Hour)
		if s.done().renewed != 0 {
			t.Errorf("%+v", s.done())
		}
		if _, err := k.get(t.Context(), toLocalhost); err != nil || s.done().logins != 2 {
			t.Errorf("%v, %+v", err, s.done())
		}
	})
}

// Who waits may give up, and what the KDC answers later is kept. Two that wait ask once.
func TestASlowKDC(t *testing.T) {
	virtual.Within(t, 100*time.Hour, func(t *testing.T) {
		s := &scripted{script: script{lasts: time.Hour, slow: 5 * time.Second}}
		k := newTickets(s)
		defer k.close()
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			_, err := k.get(ctx, toLocalhost)
			if !isUnanswered(err) || !says(err, "in time for a ticket for zookeeper/localhost") {
				t.Error(err)
			}
			cancel()
		}
		if _, err := k.get(t.Context(), toLocalhost); err != nil || s.done().logins != 1 || s.done().tickets != 1 {
			t.Errorf("%v, %+v", err, s.done())
		}
	})
}

// A refusal of a ticket that was had before is asked again with a new one, and once only.
func TestARefusedTicket(t *testing.T) {
	virtual.Within(t, 100*time.Hour, func(t *testing.T) {
		s := &scripted{script: script{lasts: time.Hour}}
		k := newTickets(s)
		if _, err := k.get(t.Context(), toLocalhost); err != nil {
			t.Fatal(err)
		}
		s.have(func(s *script) { s.refuses = 1 })
		if _, err := k.get(t.Context(), service{name: "zookeeper/other"}); err != nil || s.done().logins != 2 {
			t.Errorf("%v, %+v", err, s.done())
		}
		s.have(func(s *script) { s.refuses = 2 })
		_, err := k.get(t.Context(), service{name: "zookeeper/third"})
		if err == nil || isUnanswered(err) || s.done().logins != 3 {
			t.Errorf("%v, %+v", err, s.done())
		}
		k.close()
		if _, err := k.get(t.Context(), toLocalhost); !errors.Is(err, errClosed) {
			t.Error(err)
		}
		virtual.Sleep(24 * time.Hour)
		if s.done().renewed != 0 {
			t.Error("renewed after the close")
		}
	})
}

// A ticket with which the last login did not end well is asked for again, once a minute, and used if no KDC answers.
func TestATicketThatAServerRefused(t *testing.T) {
	virtual.Within(t, 100*time.Hour, func(t *testing.T) {
		s := &scripted{script: script{lasts: time.Hour}}
		k := newTickets(s)
		defer k.close()
		login := func(pause time.Duration, accepted bool, want int) {
			t.Helper()
			virtual.Sleep(pause)
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			if _, err := k.get(ctx, toLocalhost); err != nil || s.done().tickets != want || ctx.Err() != nil {
				t.Errorf("%v, %v, %+v, want %d tickets", err, ctx.Err(), s.done(), want)
			}
			if accepted {
				k.login(toLocalhost, false)
			}
		}
		login(0, true, 1)
		login(2*time.Minute, false, 1)
		login(time.Second, false, 2)
		login(time.Second, false, 2)
		login(time.Minute, true, 3)
		login(2*time.Minute, false, 3)
		s.have(func(s *script) { s.fails = noAnswer })
		login(time.Second, false, 3)
		s.have(func(s *script) { s.fails, s.slow = nil, 5*time.Second })
		login(time.Second, false, 3) // a KDC has been asked a second ago
		login(time.Minute, false, 3) // it has not answered yet
		login(10*time.Second, false, 4)
		if s.done().logins != 1 {
			t.Errorf("%+v", s.done())
		}
	})
}

// Tickets that are due at once are renewed once a second.
func TestTicketsOfAKDCWhoseClockIsBehind(t *testing.T) {
	virtual.Within(t, 100*time.Hour, func(t *testing.T) {
		s := &scripted{script: script{lasts: time.Hour, behind: 5 * time.Hour}}
		k := newTickets(s)
		defer k.close()
		if _, err := k.get(t.Context(), toLocalhost); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(10*time.Second + 500*time.Millisecond)
		if got := s.done().renewed; got != 10 {
			t.Errorf("renewed %d times in 10 s", got)
		}
	})
}
