package machines

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A pause is as long as those behind can wait.
func TestPausesAreBounded(t *testing.T) {
	const timeout = 16 * time.Second
	for shortLived, want := range []time.Duration{2 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
		16 * time.Second, 16 * time.Second} {
		d := deletions{timeout: timeout, shortLived: shortLived}
		if least, most := d.recreatePause(0), d.recreatePause(1); least != want || most != 2*want {
			t.Errorf("after %d nodes that did not last, a pause of %s to %s, want %s to %s", shortLived, least, most,
				want, 2*want)
		}
	}
	p := &contender{}
	p.retryState = newRetryState(events.Event{Seed: "x"}, &options{}, &defaultRetry)
	if d := p.shorten(100*time.Second, events.Event{}); d != 100*time.Second {
		t.Errorf("no session yet: %s", d)
	}
	p.timeout = timeout
	if d := p.shorten(10*time.Second, events.Event{}); d != 10*time.Second {
		t.Errorf("a short pause became %s", d)
	}
	if d := p.shorten(100*time.Second, events.Event{}); d < timeout || d > 2*timeout {
		t.Errorf("a long pause became %s, want between one and two session timeouts", d)
	}
	p.retry = new(Forever(100 * time.Second))
	if d := p.shorten(100*time.Second, events.Event{}); d != 100*time.Second {
		t.Errorf("the user chose 100s, and it is %s", d)
	}
	s := newStandalone(events.Event{Seed: "x"}, &options{})
	if _, again := s.retry.Next(1000, 0, 0.5); !again {
		t.Error("a machine without a retry policy gives up")
	}
}

// The ensemble's time is known to the millisecond, and rounded up where it must not be said too early.
func TestTheLatestTimeIsRoundedUp(t *testing.T) {
	c := clock{millis: 1000, sent: 50}
	for at, want := range map[int64]int64{50: 1000, 51: 1001, 50 + int64(time.Millisecond): 1001,
		51 + int64(time.Millisecond): 1002} {
		if got := c.most(at); got != want {
			t.Errorf("%d ns after the request it is %d at the latest, want %d", at-50, got, want)
		}
	}
}

// Answers that look alike.
func TestAnswersAreToldApart(t *testing.T) {
	parents := parentMaker{}
	parents.round = &parentRound{highestCreate: 3, lowestCreate: 5}
	ahead := &place{}
	ahead.ownDir, ahead.predecessor = "/l", "x"
	elected := func(asked int32) *election {
		p := &election{place{ownerSearch: &ownerSearch{}}}
		p.ownDir, p.unknown, p.asked, p.owner = "/l", true, asked, 3
		return p
	}
	job := &jobElection{}
	job.marker = "/m"
	open := &jobElection{}
	open.nextIntent, open.openLatches = closeNext, 1
	once, again := &agenda{after: closeNext}, &agenda{after: keepPlace}
	once.setIntent(backOff)
	again.setIntent(backOff)
	answer := func(request uint64, code events.Code) events.Event { return events.Event{Request: request, Code: code} }
	decide(t, []decision{
		{"before the parents' creates", parents.ofParent(answer(2, events.OK)), false},
		{"the first parent's", parents.ofParent(answer(3, events.OK)), true},
		{"the last parent's", parents.ofParent(answer(5, events.OK)), true},
		{"after the parents' creates", parents.ofParent(answer(6, events.OK)), false},
		{"the predecessor was read", ahead.present(events.Event{Path: "/l/x", Code: events.OK, Stat: owned(1, 1)}),
			true},
		{"the predecessor may not be read",
			ahead.present(events.Event{Path: "/l/x", Code: events.NoAuth, Stat: owned(1, 1)}), false},
		{"the last owner, and it is ours", elected(1).foundOurs(events.Event{Code: events.OK, Stat: owned(3, 1)}),
			true},
		{"more owners are asked for", elected(2).foundOurs(events.Event{Code: events.OK, Stat: owned(3, 1)}), false},
		{"the marker is absent", job.markerAbsent(events.Event{Path: "/m", Code: events.NoNode}), true},
		{"the marker is there", job.markerAbsent(events.Event{Path: "/m", Code: events.OK}), false},
		{"another node is absent", job.markerAbsent(events.Event{Path: "/n", Code: events.NoNode}), false},
		{"a latch is open", open.hasMarkerOrLatch(events.Event{}), true},
		{"neither marker nor latch", job.hasMarkerOrLatch(events.Event{}), false},
		{"a latch is closed first", open.mustClean(events.Event{}), true},
		{"nothing is left to clean", job.mustClean(events.Event{}), false},
		{"a number was created", (&number{}).createRefused(answer(1, events.OK)), false},
		{"a number exists", (&number{}).createRefused(answer(1, events.NodeExists)), false},
		{"a number may not be created", (&number{}).createRefused(answer(1, events.NoAuth)), true},
		{"an unknown outcome", (&request{}).unknown(answer(1, events.ConnectionLoss)), true},
		{"a known outcome", (&request{}).unknown(answer(1, events.OK)), false},
		{"no permits are listed", (&semaphore{}).recovered(answer(1, events.OK)), false},
		{"who tries once closes", once.nextIntent == closeNext, true},
		{"others back off", again.nextIntent == backOff, true},
	})
}

// Each way back to the line after a term has a pause.
func TestNobodyQueuesAgainWithoutAPause(t *testing.T) {
	for name, p := range map[string]struct {
		next        intent
		failed      int32
		afterShort  time.Duration
		least, most time.Duration
	}{
		"a short term":          {backOff, 0, 300 * time.Millisecond, 300 * time.Millisecond, 300 * time.Millisecond},
		"the work failed":       {backOff, 1, 0, time.Millisecond, time.Minute},
		"something was refused": {backOff, 0, 0, time.Millisecond, time.Minute},
		"the place is kept":     {keepPlace, 0, 0, time.Millisecond, time.Minute},
		"its node was deleted":  {letOthersPass, 0, 0, time.Millisecond, time.Minute},
	} {
		c := &contender{}
		c.retryState = newRetryState(events.Event{Seed: "x"}, &options{}, &defaultRetry)
		c.noteWork(p.failed, p.afterShort)
		c.nextIntent, c.timeout = p.next, 16*time.Second
		timers := found[events.SetTimer](effects(t, func(out *engine.Outbox) { c.backOff(events.Event{}, out) }))
		if len(timers) != 1 || timers[0].After < p.least || timers[0].After > p.most {
			t.Errorf("%s: it waits %+v, want %s to %s", name, timers, p.least, p.most)
		}
	}
}
