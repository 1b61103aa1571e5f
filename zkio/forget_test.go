package zkio

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// The call in the slot has been encoded, and its frame is on its way to the socket: it is
// sent without a watch, and its reply is not posted.
func TestTheCallInTheSlotOfAMachineThatIsOver(t *testing.T) {
	for _, over := range []bool{true, false} {
		posted := 0
		a := &Adapter{coding: coding{cfg: Config{Now: func() int64 { return 1 },
			Lag: func() time.Duration { return 0 }, Post: func(events.Envelope) { posted++ }}}}
		w := &wire{}
		s := &session{a: a, wire: w, number: 1, pending: map[int32]*call{}, callers: callers{}}
		c := a.newCall("machine", events.Exists{Call: events.Call{Session: 1, Request: 1}, Path: "/n", Watch: true})
		s.callers.add(c)
		s.slot, c.started = c, true
		if over {
			s.forget("machine")
		}
		frame := make([]byte, jute.LengthSize+8+6+1)
		binary.BigEndian.PutUint32(frame[jute.LengthSize:], 7)
		if !s.admitFrame(w, frame) || s.pending[7] != c {
			t.Fatal("the frame does not leave")
		}
		s.answer(c, c.event(events.OK, ""), Kept{})
		watched, answered := int(frame[len(frame)-1]) == 1, posted == 1
		if waits := len(s.watches.waiters) > 0; watched == over || answered == over || waits == over ||
			len(s.callers) > 0 {
			t.Errorf("over %t: sent with a watch %t, answer posted %t, waits %t, %d callers", over, watched, answered,
				waits, len(s.callers))
		}
	}
}
