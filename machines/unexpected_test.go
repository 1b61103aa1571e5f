package machines

import (
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// TestOddEvents feeds events that no executor should send, at any moment of a walk. The machines may
// ignore them, but must not panic, and must replay.
func TestOddEvents(t *testing.T) {
	for seed := range int64(60) {
		w := newWorld(1000+seed, nil)
		for range w.dice.Intn(400) {
			w.move(w.use, w.operate)
		}
		for range 300 {
			id := append([]events.ID{events.SessionMachine, "nobody"}, everybody...)[w.dice.Intn(2+len(everybody))]
			ev := w.odd(w.dice, id)
			w.now += int64(w.dice.Intn(int(time.Second)))
			ev.At = w.now
			w.engine.Step(events.Envelope{To: id, Event: ev})
			w.log = append(w.log, w.engine.Records()...)
		}
		w.mustReplay(t)
	}
}

// odd returns an event of any kind with any content. Half of the answers are to requests that were
// sent.
func (w *world) odd(dice *rand.Rand, id events.ID) events.Event {
	kinds := events.Kinds()
	ev := events.Event{Kind: kinds[dice.Intn(len(kinds))], Request: uint64(dice.Intn(20))}
	if owed := w.engine.Awaits(id); len(owed) > 0 && dice.Intn(2) == 0 {
		a := owed[dice.Intn(len(owed))]
		ev.Kind, ev.Request = a.Kind, a.Request
	}
	paths := []string{"", "/", "nothing", "/a/l", "/a/l/", "/a/l/latch-0000000001", "/a/l/" + strings.Repeat("x", 300)}
	if p := w.members[id]; p != nil {
		ahead, label := "", LatchLabel
		if in := w.places[id]; in != nil {
			ahead, label = in.predecessor, in.label
		}
		paths = append(paths, p.path(), p.path(), join(p.ownDir, ahead))
		ev.Children = []string{p.own(), ahead, ownPrefix(p.guid, label) + "0000000001"}[:dice.Intn(4)]
	}
	ev.Path = paths[dice.Intn(len(paths))]
	ev.Code = []events.Code{events.OK, events.OK, events.OK, "WHAT", events.NoNode, events.ConnectionLoss,
		events.SessionExpired, events.NotSent, events.Unimplemented}[dice.Intn(9)]
	ev.Session = []int64{0, w.number, w.number, w.number - 1, -7}[dice.Intn(5)]
	ev.SentAt = []int64{0, w.now, -1, 1 << 62}[dice.Intn(4)]
	ev.Timeout = []int64{0, int64(15 * time.Second), -1}[dice.Intn(3)]
	ev.Zxid, ev.SessionID, ev.Work = dice.Int63(), int64(dice.Intn(3)), uint64(dice.Intn(9))
	if dice.Intn(2) == 0 {
		ev.Stat = &events.Stat{EphemeralOwner: int64(dice.Intn(3)), Czxid: dice.Int63()}
	}
	if dice.Intn(5) == 0 {
		ev.Children = append(ev.Children, "", "latch-", "lock-2147483647", "_c_", "\x00")
	}
	return ev
}
