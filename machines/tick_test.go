package machines

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

func TestTheSpanAndThePeriodFollowFromTimeoutAndTick(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		timeout, tick time.Duration
		span, period  time.Duration // in whole milliseconds
	}{
		{15 * time.Second, 3 * time.Second, 7500 * ms, 3750 * ms},
		{15 * time.Second, 2 * time.Second, 7500 * ms, 3750 * ms},
		{10 * time.Second, 3 * time.Second, 4916 * ms, 2458 * ms},
		{10 * time.Second, 2 * time.Second, 5000 * ms, 2500 * ms},
		{6 * time.Second, 3 * time.Second, 2350 * ms, 1175 * ms},
		{6 * time.Second, 2 * time.Second, 2850 * ms, 1425 * ms},
		{4 * time.Second, 3 * time.Second, 1066 * ms, 533 * ms},
		{4 * time.Second, 2 * time.Second, 1566 * ms, 783 * ms},
		{4 * time.Second, 200 * ms, 2000 * ms, 500 * ms}, // by sync
		{2400 * ms, 3 * time.Second, 40 * ms, 60 * ms},   // T/40 at least
		{2300 * ms, 3 * time.Second, -24 * ms, 575 * ms},
		{44200 * ms, 3 * time.Second, 22100 * ms, 11050 * ms},
		{44300 * ms, 3 * time.Second, 22150 * ms, 5537 * ms}, // by sync
		{30 * time.Second, 2 * time.Second, 15 * time.Second, 3750 * ms},
	} {
		s := timing{tick: c.tick, syncLimit: 5, timeout: c.timeout}
		if span, period := s.beliefSpan(0, 0).Truncate(ms), s.period().Truncate(ms); span != c.span ||
			period != c.period {
			t.Errorf("T=%s tick=%s: belief lasts %s and is confirmed every %s, want %s and %s", c.timeout, c.tick, span,
				period, c.span, c.period)
		}
	}
}

// everySession calls f with sessions of many timeouts and ticks.
func everySession(f func(timing)) {
	for _, observers := range []bool{false, true} {
		for _, limit := range []int{1, 5} {
			for tick := 100 * time.Millisecond; tick <= 12*time.Second; tick += 100 * time.Millisecond {
				step := func(timeout time.Duration) time.Duration { return timeout/9 + 37*time.Millisecond }
				for timeout := 100 * time.Millisecond; timeout <= 90*time.Second; timeout += step(timeout) {
					f(timing{tick: tick, syncLimit: limit, timeout: timeout, observerMasters: observers})
				}
			}
		}
	}
}

func (t timing) settings() string {
	return fmt.Sprintf("T=%s tick=%s syncLimit=%d observerMasters=%t", t.timeout, t.tick, t.syncLimit,
		t.observerMasters)
}

// Two heartbeats fit into the first belief. They are no closer to each other than the slack, and
// without any belief they do not hurry.
func TestTwoHeartbeatsFitIntoTheFirstBelief(t *testing.T) {
	short, hopeless := 0, 0
	everySession(func(s timing) {
		span, period := s.beliefSpan(0, 0), s.period()
		if (span > 0) != s.healthy(events.Event{}) {
			t.Errorf("%s: healthy %t, and belief lasts %s", s.settings(), s.healthy(events.Event{}), span)
		}
		switch {
		case span <= 0:
			hopeless++
			if period < s.timeout/8 {
				t.Errorf("%s: no belief, and a heartbeat every %s", s.settings(), period)
			}
		case period > span/2 && period != s.slack() && period != leastPeriod:
			t.Errorf("%s: belief lasts %s, and a heartbeat comes every %s", s.settings(), span, period)
		case period < s.slack() || period > s.timeout/4:
			t.Errorf("%s: a heartbeat every %s, want from a fortieth to a quarter of the timeout", s.settings(), period)
		case period < s.timeout/8:
			short++
		}
	})
	if short == 0 || hopeless == 0 {
		t.Errorf("%d sessions had their heartbeats closer than usual, %d no belief: want some", short, hopeless)
	}
}

func TestTheShortestTimeoutLeavesTimeForBelief(t *testing.T) {
	everySession(func(s timing) {
		s.timeout = ShortestTimeout(s.tick, s.observerMasters)
		if !s.healthy(events.Event{}) {
			t.Fatalf("%s is too short", s.settings())
		}
		if s.timeout -= time.Millisecond; s.healthy(events.Event{}) {
			t.Fatalf("%s is long enough, too", s.settings())
		}
	})
	if got, want := ShortestTimeout(DefaultTick, false), 2338*time.Millisecond; got != want {
		t.Errorf("%s by default, want %s", got, want)
	}
}

// A server that grants more than was asked has granted its least, two ticks. What is learned from that
// is its tick, and so belief never lasts longer than it does for a client that knows the tick.
func TestBeliefWithALearnedTickIsNoLongerThanWithTheTrueOne(t *testing.T) {
	learned := 0
	everySession(func(s timing) {
		asked, tick := s.timeout, s.tick
		s.timeout = min(max(asked, 2*tick), 20*tick) // as servers do
		assumed := s
		assumed.tick = LargerTick(DefaultTick, asked, s.timeout)
		if s.timeout <= asked && assumed.tick != DefaultTick {
			t.Errorf("asked for %s: a tick of %s follows from no more than that", asked, assumed.tick)
		}
		if s.timeout <= asked && tick > DefaultTick {
			return // nothing gives it away
		}
		if assumed.tick > DefaultTick {
			learned++
		}
		for _, since := range []int64{0, 1} {
			for _, ago := range []time.Duration{0, s.timeout / 2} {
				s.since, assumed.since = since, since
				sent := int64(time.Hour)
				true, got := s.beliefSpan(sent, sent-int64(ago)), assumed.beliefSpan(sent, sent-int64(ago))
				if got > true {
					t.Errorf("%s, asked for %s: belief lasts %s with the learned tick of %s, and %s with the true one",
						s.settings(), asked, got, assumed.tick, true)
				}
			}
		}
	})
	if learned == 0 {
		t.Error("no tick was learned")
	}
}

func TestATickIsLearnedOnlyFromMoreThanWasAsked(t *testing.T) {
	const second = time.Second
	for _, c := range []struct{ tick, asked, granted, want time.Duration }{
		{3 * second, 15 * second, 20 * second, 10 * second},
		{3 * second, 15 * second, 15 * second, 3 * second},
		{3 * second, 15 * second, 10 * second, 3 * second},
		{3 * second, 4 * second, 5 * second, 3 * second},
		{10 * second, 4 * second, 8 * second, 10 * second},
		{3 * second, 0, 20 * second, 3 * second}, // a log that does not say what was asked
		{3 * second, 1 * second, 500 * time.Hour, MaxTick},
	} {
		if got := LargerTick(c.tick, c.asked, c.granted); got != c.want {
			t.Errorf("tick %s, asked for %s, granted %s: %s, want %s", c.tick, c.asked, c.granted, got, c.want)
		}
	}
}

// An assumed tick grows with the largest grant, and never becomes smaller, whatever happens to the
// connection and the session. A configured one stays. Each is warned of when something new was learned.
func TestALearnedTickIsKeptForLife(t *testing.T) {
	const second = time.Second
	type grant struct {
		end     events.Kind // how the connection before it ended
		granted time.Duration
		tick    time.Duration // assumed from then on
		warns   bool
	}
	suspended, expired := events.ConnectionSuspended, events.ConnectionLost
	grants := []grant{
		{"", 15 * second, 3 * second, false},
		{suspended, 16 * second, 8 * second, true},
		{suspended, 15 * second, 8 * second, false},
		{expired, 15 * second, 8 * second, false},
		{expired, 16 * second, 8 * second, false},
		{suspended, 24 * second, 12 * second, true},
		{expired, 18 * second, 12 * second, false},
	}
	for _, assumed := range []bool{true, false} {
		p := newTickPlayer(map[string]string{"askedTimeout": "15s", "tickAssumed": fmt.Sprint(assumed)})
		warned := false
		for i, g := range grants {
			p.end(g.end)
			p.attach(g.granted)
			warns := p.first(isNotice(events.Warning)) >= 0
			tick, want := g.tick, g.warns
			if !assumed {
				tick, want = DefaultTick, g.warns && !warned
			}
			warned = warned || want
			if p.session.tick != tick || warns != want {
				t.Errorf("assumed %t, grant %d of %s: tick %s and warned %t, want %s and %t", assumed, i+1, g.granted,
					p.session.tick, warns, tick, want)
			}
		}
	}
}

// Belief that rode a disconnect out depends on the smaller tick. It ends before any machine learns of
// the new connection; with a tick that did not grow it goes on.
func TestRiddenBeliefEndsIfTheTickGrew(t *testing.T) {
	for granted, holds := range map[time.Duration]bool{15 * time.Second: true, 16 * time.Second: false} {
		p := newTickPlayer(map[string]string{"askedTimeout": "15s", "tickAssumed": "true", "rideOut": "true"})
		p.attach(15 * time.Second)
		p.feed(events.Event{Kind: events.HeartbeatWanted, Name: "latch", Path: "/l/a"})
		p.feed(events.Event{Kind: events.ConnectionConfirmed, SentAt: p.at})
		p.end(events.ConnectionSuspended)
		p.attach(granted)
		stamped := events.Event{At: p.at}
		p.session.Stamp(&stamped)
		ended := p.first(func(e events.Effect) bool { d, is := e.(events.Deadline); return is && d.Until == 0 })
		shortened := p.first(func(e events.Effect) bool {
			d, is := e.(events.Deadline)
			return is && d.Alone != 0 && d.Alone <= p.at
		})
		reconnected := p.first(isNotice(events.Reconnected))
		if reconnected < 0 || (p.session.validUntil > p.at) != holds || (ended < 0) != holds || ended > reconnected {
			t.Errorf("granted %s: belief until %s, its end is effect %d and the new connection %d; want belief %t",
				granted, time.Duration(p.session.validUntil-p.at), ended, reconnected, holds)
		}
		if (shortened < 0) != holds {
			t.Errorf("granted %s: that the session is sure was shortened by effect %d, want that: %t", granted,
				shortened, !holds)
		}
		if stamped.ValidUntil != 0 {
			t.Errorf("granted %s: nothing was confirmed on the new connection, and an event has a deadline", granted)
		}
	}
}

// tickPlayer plays what zkio reports to a session machine.
type tickPlayer struct {
	engine  *engine.Engine
	session *session
	at      int64
	out     []engine.Addressed // of the last event
}

func newTickPlayer(options map[string]string) *tickPlayer {
	p := &tickPlayer{}
	p.engine = engine.New(false, SessionRecipe.With(func(open events.Event) (s *session, err error) {
		p.session, err = newSession(open)
		return p.session, err
	}))
	p.feed(events.Event{Kind: events.CommandOpen, Recipe: "session", Options: options})
	p.feed(events.Event{Kind: events.CommandStart, Request: 1})
	return p
}

func (p *tickPlayer) feed(ev events.Event) {
	p.at += int64(time.Millisecond)
	ev.At = p.at
	if p.session != nil {
		ev.Session = p.session.number
	}
	p.out = slices.Clone(p.engine.Step(events.Envelope{To: events.SessionMachine, Event: ev}))
}

// first returns the place of the first such effect of the last event, -1 if there is none.
func (p *tickPlayer) first(like func(events.Effect) bool) int {
	return slices.IndexFunc(p.out, func(a engine.Addressed) bool { return like(a.Effect) })
}

func isNotice(what events.Notice) func(events.Effect) bool {
	return func(e events.Effect) bool { n, is := e.(events.Notify); return is && n.What == what }
}

// end ends the connection or the session. After the end of a session, the next one begins.
func (p *tickPlayer) end(how events.Kind) {
	if how == "" {
		return
	}
	p.feed(events.Event{Kind: how})
	for p.session.number == 0 {
		awaited := p.engine.Awaits(events.SessionMachine)
		p.feed(events.Event{Kind: events.TimerFired, Request: awaited[len(awaited)-1].Request})
	}
}

func (p *tickPlayer) attach(granted time.Duration) {
	p.feed(events.Event{Kind: events.ConnectionAttached, SessionID: 7, Timeout: int64(granted)})
}
