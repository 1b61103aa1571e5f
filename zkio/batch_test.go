package zkio

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// connected returns a session with a connection on which no goroutine writes, and a call of it that is not queued.
func connected() (*session, *call) {
	a := &Adapter{coding: coding{cfg: Config{Now: func() int64 { return 1 }, Lag: func() time.Duration { return 0 }}}}
	s := &session{a: a, wire: &wire{writer: newWriter()}, lanes: lanes{window: 1}, pending: map[int32]*call{},
		callers: callers{}}
	c := a.newCall("machine", events.Exists{Call: events.Call{Request: 1}, Path: "/n"})
	s.callers.add(c)
	s.wire.writer.runs = true // so that none is started
	return s, c
}

// A connection that is to end takes nothing more: what waits then was surely not sent.
func TestAConnectionThatIsToEndTakesNothing(t *testing.T) {
	for _, broken := range []bool{false, true} {
		s, c := connected()
		s.lanes.push(c)
		if broken {
			s.wire.reason = errors.New("no answer")
		}
		if batch := s.takeBatch(s.wire, nil); len(batch) == 0 != broken || c.started == broken ||
			s.lanes.ready() != broken {
			t.Errorf("broken %t: takes %d bytes, started %t, waits %t", broken, len(batch), c.started, s.lanes.ready())
		}
	}
}

// A suspected call goes alone if it can, and after five seconds whatever is pending: others may never come to an end.
func TestASuspectedCallWaitsForOthersWithABound(t *testing.T) {
	const pause, most = time.Second, 5 * time.Second
	for name, c := range map[string]struct {
		pending bool
		wait    time.Duration
	}{"alone": {false, pause}, "others are pending": {true, pause + most - unparkPause}} {
		virtual.Test(t, func(t *testing.T) {
			s, suspected := connected()
			if c.pending {
				s.pending[1] = suspected
			}
			s.park(suspected, pause)
			virtual.Sleep(c.wait - 1)
			s.mu.Lock()
			early := len(s.parked) == 0
			s.mu.Unlock()
			virtual.Sleep(1)
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if early || len(s.parked) != 0 || !s.lanes.ready() {
				t.Errorf("%s: sent before %s: %t; parked then: %d", name, c.wait, early, len(s.parked))
			}
		})
	}
}
