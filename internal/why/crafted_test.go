package why

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/effects"
)

// crafted is a log that a test writes by hand. Times are in milliseconds.
type crafted struct {
	records []events.Record
	own     string
}

const ms = int64(time.Millisecond)

// newCrafted returns the log of a participant that leads with a token, from a time, and may
// believe for a second.
func newCrafted(token, from int64) *crafted {
	c := &crafted{own: fmt.Sprintf("/l/_c_00000000-0000-0000-0000-0000000000%02d-latch-%010d", token, token)}
	c.add(events.SessionMachine,
		events.Event{Kind: events.ConnectionAttached, At: from - 20, Session: 1, SessionID: token + 100,
			Timeout: 4000 * ms}, "connecting", "connected")
	c.add("latch-1", events.Event{Kind: events.ReplyChildren, At: from, Session: 1, ValidUntil: (from + 1000) * ms},
		"listing", "leading", fmt.Sprintf("notify elected %s token=%d", c.own, token))
	return c
}

// add adds a record. At and SentAt of the event are in milliseconds.
func (c *crafted) add(machine events.ID, ev events.Event, from, to string, words ...string) {
	ev.At, ev.SentAt = ev.At*ms, ev.SentAt*ms
	c.records = append(c.records, events.Record{Seq: uint64(len(c.records) + 1), Machine: machine, Event: ev,
		From: from, Row: string(ev.Kind), To: to, Effects: effects.Of(words...)})
	c.because(reasons[ev.Kind])
}

// stop ends the term.
func (c *crafted) stop(token, at int64, kind events.Kind) {
	c.add("latch-1", events.Event{Kind: kind, At: at, Session: 1}, "leading", "draining",
		fmt.Sprintf("notify stopped %s token=%d", c.own, token))
}

// because sets why the last record ends a term.
func (c *crafted) because(reason events.Reason) {
	r := &c.records[len(c.records)-1]
	for i, e := range r.Effects {
		if n, is := e.(events.Notify); is && n.What == events.Stopped {
			n.Reason = reason
			r.Effects[i] = n
		}
	}
	r.Deadline, r.Reason = r.Effects.Facts()
}

// reasons are why terms end, by the events that end them.
var reasons = map[events.Kind]events.Reason{events.CommandClose: events.ReasonClosed,
	events.CommandResign: events.ReasonResigned, events.ConnectionSuspended: events.ReasonSuspended,
	events.ConnectionLost: events.ReasonSessionOver, events.ConnectionUnconfirmed: events.ReasonUnconfirmed,
	events.WatchDeleted: events.ReasonDeleted, events.WatchChanged: events.ReasonNodeChanged,
	events.HealthChecked: events.ReasonUnhealthy, events.WorkReturned: events.ReasonReturned}

// write answers a write.
func (c *crafted) write(zxid, sent, at int64) {
	c.add("latch-1", events.Event{Kind: events.ReplyMulti, At: at, SentAt: sent, Zxid: zxid, Session: 1},
		"waiting", "waiting")
}

func (c *crafted) read(t *testing.T, name string) *Log {
	t.Helper()
	l, err := Read(name, events.Header{}, &each{c.records})
	if err != nil || len(l.terms) != 1 {
		t.Fatal(err, len(l.terms))
	}
	return l
}

// Only a write that was sent after the end of a term shows that the end came before what a
// client did that saw the write.
func TestAWriteThatWasSentBeforeTheEndProvesNothing(t *testing.T) {
	for sent, want := range map[int64]Certainty{550: Unknown, 650: Proven} {
		a, b := newCrafted(1, 100), newCrafted(2, 1100)
		a.stop(1, 600, events.CommandResign)
		a.write(50, sent, 700)
		later := slices.Clone(b.records)
		b.records = later[:1:1]
		b.write(51, 900, 950)
		b.records = append(b.records, later[1])
		for i := range b.records {
			b.records[i].Seq = uint64(i + 1)
		}
		one, two := a.read(t, "a"), b.read(t, "b")
		h := newHistory([]*Log{one, two}, nil, defaultDrift)
		h.clocks = align([]*Log{one, two}, nil, true, defaultDrift) // without clocks
		if p := h.compare(one.terms[0], two.terms[0]); p.Certainty != want {
			t.Errorf("sent at %d: %s: %s", sent, p.Certainty, p.How)
		}
	}
}

// A node's time is a whole millisecond of the ensemble leader's clock: up to one more may have
// passed.
func TestANodesTimeIsRoundedDown(t *testing.T) {
	l := newCrafted(1, 100).read(t, "a")
	l.stamps.add(stamp{at: 5*ms + 900_000, sent: 5*ms + 900_000, zxid: 1, millis: 5}) // the clocks are the same
	c := align([]*Log{l}, nil, false, defaultDrift)
	if got := c.read(l, 5*ms+900_000)[c.epochs[0]]; got.lo > 5*ms+900_000 || got.hi < 5*ms+900_000 || got.width() > ms {
		t.Errorf("%+v", got)
	}
}

// A process that was killed may have had the right to believe until its deadline, and may have
// been dead since its last record.
func TestTheRightOfAKilledProcess(t *testing.T) {
	c := newCrafted(1, 100)
	c.write(9, 150, 200)
	if got, want := c.read(t, "a").terms[0].endBounds(), (interval{200 * ms, 1100 * ms}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A session that is over before it can have expired was ended by the ensemble.
func TestASessionThatEndedTooEarly(t *testing.T) {
	for lost, want := range map[int64]Cause{900: CauseSessionExpired, 6000: CauseConnectionClosed} {
		c := newCrafted(1, 100)
		c.write(9, 150, 200)
		c.add(events.SessionMachine,
			events.Event{Kind: events.ConnectionSuspended, At: 800, Session: 1, Code: events.ConnectionLoss,
				Text: "zk1:2181: closed by the server"}, "connected", "suspended", "valid until: unconfirmed")
		c.stop(1, 800, events.ConnectionSuspended)
		last := &c.records[len(c.records)-1]
		last.Cause, last.Internal = last.Seq-1, true
		c.add(events.SessionMachine,
			events.Event{Kind: events.ConnectionLost, At: lost, Session: 1, Code: events.SessionExpired},
			"suspended", "resting")
		l := c.read(t, "a")
		if e := newHistory([]*Log{l}, nil, defaultDrift).endingOf(l.terms[0], nil); e.Cause != want {
			t.Errorf("over at %d: %s: %s", lost, e.Cause, e.Text)
		}
	}
}

// What stands behind a gap shows nothing of a term that the gap may have ended.
func TestAnOverlapBehindAGapIsNone(t *testing.T) {
	a, b := newCrafted(1, 100), newCrafted(2, 120)
	b.write(50, 130, 140)
	gap := &events.Gap{From: 3, To: 4, Count: 2, Why: "slow"}
	for range 2 {
		a.write(40, 110, 120)
	}
	a.write(60, 200, 210) // it has seen what the next leader wrote
	a.records[len(a.records)-1].Machine = "latch-2"
	one, err := Read("a", events.Header{}, &holed{each{a.records}, gap})
	if err != nil {
		t.Fatal(err)
	}
	two := b.read(t, "b")
	h := newHistory([]*Log{one, two}, nil, defaultDrift)
	if p := h.compare(one.terms[0], two.terms[0]); p.Certainty == Both {
		t.Errorf("%s: %s", p.Certainty, p.How)
	}
}

// The reason that a notice has is the term's, whatever event ended the term.
func TestTheRecordedReasonCounts(t *testing.T) {
	for _, recorded := range []events.Reason{events.ReasonNodeGone, events.ReasonUnreadable} {
		c := newCrafted(5, 100)
		c.stop(5, 200, events.WatchDeleted)
		c.because(recorded)
		if got := c.read(t, "a").terms[0].Reason; got != recorded {
			t.Errorf("recorded %q: the reason is %q", recorded, got)
		}
	}
}
