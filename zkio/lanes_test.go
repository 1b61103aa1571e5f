package zkio

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// The urgent lane goes first, then deletes; each lane keeps its order, and a full
// window of one lane does not stop the others.
func TestLanes(t *testing.T) {
	l := lanes{window: 2}
	names := map[*call]string{}
	add := func(name string, lane int) *call {
		c := &call{lane: lane}
		names[c] = name
		l.push(c)
		return c
	}
	add("n1", normal)
	withdrawn := add("n2", normal)
	n3 := add("n3", normal)
	add("d1", deletes)
	add("u1", urgent)
	add("u2", urgent)
	add("u3", urgent)
	add("n4", normal)
	if !l.withdraw(withdrawn) || l.withdraw(withdrawn) {
		t.Error("a call is withdrawn once")
	}
	for _, want := range []string{"u1", "u2", "d1", "n1", "n3", ""} {
		if got := names[l.next()]; got != want {
			t.Errorf("next is %q, want %q", got, want)
		}
	}
	l.answered(n3)
	if got := names[l.next()]; got != "n4" {
		t.Errorf("after a landing comes %q", got)
	}
	if rest := l.drain(); len(rest) != 1 || names[rest[0]] != "u3" {
		t.Errorf("%d are left", len(rest))
	}
}

// The reads of a closed machine are not sent, nor answered when the connection ends; its
// writes are.
func TestLanesOfAMachineThatIsOver(t *testing.T) {
	all := callers{}
	fill := func(l *lanes) (kept []*call) {
		for _, id := range []events.ID{"over", "on", "over", ""} {
			for _, reads := range []bool{true, false} {
				c := &call{id: id, lane: normal, reads: reads}
				all.add(c)
				l.push(c)
				if id != "over" || !reads {
					kept = append(kept, c)
				}
			}
		}
		return kept
	}
	leave, answered := lanes{window: 10}, lanes{window: 10}
	first, second := fill(&leave), fill(&answered)
	all.forget("over")
	for _, want := range first {
		if got := leave.next(); got != want {
			t.Fatalf("%+v leaves, want %+v", got, want)
		}
	}
	if got := leave.next(); got != nil || leave.inFlight[normal] != len(first) {
		t.Errorf("%+v leaves, too; %d are under way", got, leave.inFlight)
	}
	if got := answered.drain(); !slices.Equal(got, second) {
		t.Errorf("%d are answered, want %d", len(got), len(second))
	}
}

// The table has no machines whose calls are all answered.
func TestCallersAreForgotten(t *testing.T) {
	all := callers{}
	one, other, late := &call{id: "a"}, &call{id: "a"}, &call{id: "a"}
	all.add(one)
	all.add(other)
	all.done(one)
	if len(all.known) != 1 {
		t.Error("a has a call, and is not known")
	}
	all.forget("a")
	all.add(late) // of another machine of this name
	all.done(other)
	if len(all.known) != 1 || late.caller.closed || !other.caller.closed {
		t.Errorf("%+v", all)
	}
	if all.done(late); len(all.known) != 0 || all.known == nil {
		t.Errorf("%+v is known, or the map of few is not kept", all)
	}
	var many []*call
	for i := range fewCallers + 1 {
		many = append(many, &call{id: events.ID(fmt.Sprint("m", i))})
		all.add(many[i])
	}
	for _, c := range many {
		all.done(c)
	}
	if all.known != nil {
		t.Error("the map of many is kept")
	}
}

// A lane in which something always waits keeps memory for the calls that wait, and not for those that were sent.
func TestALaneThatIsNeverEmptyDoesNotGrow(t *testing.T) {
	var q queue
	first := &call{order: 1}
	q.push(first)
	for n := uint64(2); n < 100_000; n++ {
		q.push(&call{order: n})
		if got := q.pop(); got.order != n-1 {
			t.Fatalf("call %d after %d", got.order, n-2)
		}
	}
	if got := cap(q.calls); got > 64 {
		t.Errorf("one call waits, in a list for %d", got)
	}
}

// The numbers of requests stay above those of the driver's own, also after as many requests as there are numbers.
func TestNumbersOfRequestsBeginAgain(t *testing.T) {
	w := newWriter()
	w.xid = math.MaxInt32 - 1
	for n, want := range []int32{math.MaxInt32, firstXid + 1, firstXid + 2} {
		if got := w.next(); got != want {
			t.Errorf("request %d has the number %d, want %d", n, got, want)
		}
	}
}
