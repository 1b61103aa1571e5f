package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// A single row is enough to contradict an Ignore.
func TestMustCompileRefusesToIgnoreWhatOneRowDecides(t *testing.T) {
	c := workerTable()
	c.Ignores = append(c.Ignores, Ignore{[]State{ready}, []events.Kind{events.CommandStart}, "a row decides it"})
	const want = "command.start in ready is ignored, but a row decides it"
	if got := refusal(func() { MustCompile(c) }); !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A machine begins in the first state, so no arrow has to lead there, not even in the smallest chart.
func TestTheFirstStateIsReached(t *testing.T) {
	got := refusal(func() {
		MustCompile(Chart[worker]{Name: "smallest", States: []StateDoc{{Name: over, Doc: "Over."}}, Final: over})
	})
	if strings.Contains(got, "no arrow leads to it") {
		t.Errorf("the first state: %s", got)
	}
	got = refusal(func() {
		MustCompile(Chart[worker]{Name: "small", Final: over,
			States: []StateDoc{{Name: ready, Doc: "Ready."}, {Name: over, Doc: "Over."}}})
	})
	if !strings.Contains(got, "state over: no arrow leads to it") {
		t.Errorf("a state that no arrow leads to: %s", got)
	}
}

// Withdraw takes one command back: that of this machine, kind and number, if it still waits. All others are stepped.
func TestACommandIsWithdrawnWhileItWaits(t *testing.T) {
	s := newStage(bubble{time.Now()}) // three envelopes wait
	command := func(to events.ID, number uint64) {
		s.Post(events.Envelope{To: to, Event: events.Event{Kind: events.CommandStart, Request: number}})
	}
	command("w", 2)
	command("w", 3)
	for _, wrong := range []struct {
		to     events.ID
		kind   events.Kind
		number uint64
	}{{"v", events.CommandStart, 2}, {"w", events.CommandClose, 2}, {"w", events.CommandStart, 4}} {
		if s.Withdraw(wrong.to, wrong.kind, wrong.number) {
			t.Errorf("a command that does not wait was withdrawn: %v", wrong)
		}
	}
	if !s.Withdraw("w", events.CommandStart, 2) || s.Withdraw("w", events.CommandStart, 2) {
		t.Error("a command that waits is withdrawn once")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx) // steps what waits
	var stepped []uint64
	for _, r := range s.records {
		if r.Machine == "w" && r.Event.Kind == events.CommandStart {
			stepped = append(stepped, r.Event.Request)
		}
	}
	if len(stepped) != 1 || stepped[0] != 3 {
		t.Errorf("the machine got the commands %d, want 3 alone", stepped)
	}
	if s.Withdraw("w", events.CommandStart, 3) {
		t.Error("a command that was stepped was withdrawn")
	}
}
