package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A checkpoint is taken between the records of two steps, also in the middle of a long
// inbox, and however it is asked for. Nothing is recorded because of it.
func TestALoopTakesACheckpointBetweenTwoSteps(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		var taken []Checkpoint
		take := func(c Checkpoint) {
			if n := uint64(len(s.records)); c.Seq() != n || c.timers == nil {
				t.Errorf("a checkpoint of seq %d with %d timers was taken after %d records", c.Seq(), len(c.timers), n)
			}
			taken = append(taken, c)
		}
		begin := func(seq uint64) { want(t, "the seq at the beginning", seq, uint64(len(s.records))) }
		record := s.record
		s.record = func(r []events.Record) {
			record(r)
			if r[0].Event.Text == "now" {
				s.Checkpoint(begin, take)
			}
		}
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		for _, text := range []string{"before", "now", "after"} {
			s.post("w", events.Event{Kind: events.WorkReturned, Text: text})
		}
		s.run()
		synctest.Wait()
		if len(taken) != 1 || taken[0].Seq() != uint64(len(s.records)-1) {
			t.Fatalf("%d checkpoints were taken, the first at %d of %d records", len(taken), taken[0].Seq(),
				len(s.records))
		}
		records := len(s.records)
		want(t, "asked of an idle loop", s.Checkpoint(begin, func(c Checkpoint) {
			take(c)
			s.Checkpoint(begin, take)
		}), true)
		synctest.Wait()
		want(t, "checkpoints", len(taken), 3)
		want(t, "records", len(s.records), records)
		s.end()
		want(t, "asked of a loop that has ended", s.Checkpoint(begin, take), false)
		synctest.Wait()
		want(t, "checkpoints", len(taken), 3)
	})
}

// A loop takes every checkpoint for which Checkpoint reported true, also the last.
func TestALoopThatEndsTakesTheCheckpoint(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		free, begun, taken := make(chan struct{}), 0, 0
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		s.hands.answer = func(events.ID, events.Effect) { <-free }
		s.run()
		synctest.Wait()
		go s.end()
		synctest.Wait()
		want(t, "asked", s.Checkpoint(func(uint64) { begun++ }, func(Checkpoint) { taken++ }), true)
		close(free)
		synctest.Wait()
		want(t, "checkpoints", taken, 1)
		want(t, "beginnings", begun, 1)
	})
}

// A loop that goes on from a checkpoint fires its timers when they are due, in their order,
// and knows since when they run.
func TestALoopGoesOnFromACheckpoint(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		clock := bubble{time.Now()}
		s := newStage(clock)
		for _, id := range []events.ID{"v", "u"} {
			s.post(id, events.Event{Kind: events.CommandOpen, Recipe: "worker"})
		}
		for _, id := range []events.ID{"w", "v", "u"} {
			s.post(id, events.Event{Kind: events.CommandStart, Request: 2})
		}
		s.run()
		virtual.Sleep(time.Second / 2)
		var c Checkpoint
		s.Checkpoint(func(uint64) {}, func(taken Checkpoint) { c = taken })
		synctest.Wait()
		s.end()
		c = reread(t, c)
		want(t, "timers", len(c.timers), 3)

		e, err := c.Restore(true, toys...)
		if err != nil {
			t.Fatal(err)
		}
		on := &stage{hands: &hands{}}
		on.Loop = NewLoop(e, on.hands, clock, func(r []events.Record) { on.records = append(on.records, r...) })
		on.CountPauses(func(since int64) time.Duration { return time.Duration(since) + 1 })
		on.Resume(c)
		on.run()
		virtual.Sleep(time.Second)
		on.end()
		var order string
		for _, r := range on.records {
			if r.Event.Kind == events.TimerFired && time.Duration(r.Event.At) == time.Second && r.Event.Paused == 1 {
				order += string(r.Machine)
			}
		}
		want(t, "the timers fired after a second", order, "wvu")
	})
}
