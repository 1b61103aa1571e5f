package incumbent

import (
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// After maxStatPaths, terms are counted under one path.
func TestPathsAreBounded(t *testing.T) {
	var m meters
	m.init((&Client{}).metersUse())
	for i := range maxStatPaths + 5 {
		path := "/line" + string(rune('a'+i%26)) + string(rune(0x4e00+i))
		m.termEnded("latch", path, &LostError{Reason: ReasonClosed})
	}
	var s Stats
	m.readRare(&s, 0)
	if len(s.Terms) != maxStatPaths+1 {
		t.Errorf("%d paths", len(s.Terms))
	}
	if i := slices.IndexFunc(s.Terms, func(one TermStats) bool { return one.Path == "other" }); i < 0 ||
		s.Terms[i].Count != 5 {
		t.Error("the rest is not counted under other")
	}
}

// hangingReceiver keeps the loop waiting in each notice.
type hangingReceiver struct {
	receiver
	until chan struct{}
}

func (h hangingReceiver) notice(n events.Notify) {
	<-h.until
	h.receiver.notice(n)
}

// A step allocates nothing more because it is counted.
func TestAStepIsCountedWithoutAllocation(t *testing.T) {
	c := &Client{handles: map[events.ID]receiver{}}
	c.meters.init(c.metersUse())
	c.meters.budget.Store(int64(time.Second))
	ev := &events.Event{Kind: events.ReplySync, At: 5e8, SentAt: 4e8, ValidUntil: 9e8}
	step := engine.Observed{Machine: events.SessionMachine, Event: ev, Seq: 7}
	if n := testing.AllocsPerRun(100, func() { c.meters.stepped(step) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if c.meters.heartbeats[bySync].read().Count() != 101 {
		t.Error("the step was not counted")
	}
}

// No kind of event that the meters count allocates, and none of those that they do not.
func TestNoEventIsCountedWithAnAllocation(t *testing.T) {
	c := &Client{handles: map[events.ID]receiver{}, config: &Config{}}
	c.meters.init(c.metersUse())
	c.meters.budget.Store(int64(time.Second))
	for _, kind := range events.Kinds() {
		for _, machine := range []events.ID{events.SessionMachine, "latch-1",
			events.ID(machines.ConsumerRecipe.Name() + "-1")} {
			step := engine.Observed{Machine: machine,
				Event: &events.Event{Kind: kind, At: 5e8, SentAt: 4e8, ValidUntil: 9e8}, Seq: 7}
			if n := testing.AllocsPerRun(50, func() { c.meters.stepped(step) }); n != 0 {
				t.Errorf("%s of %s: %v allocations", kind, machine, n)
			}
		}
	}
	if c.meters.lag.noteTime(time.Millisecond); testing.AllocsPerRun(50,
		func() { c.meters.lag.noteTime(time.Second) }) != 0 {
		t.Error("the loop's lag is counted with an allocation")
	}
}
