package why

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// The first that waits is the next place behind the last leader's, of the same kind, whose node stands where its log
// ends, as far as all logs show.
func TestWhoWaitsFirst(t *testing.T) {
	var logs []*Log
	path := func(order int64, label string) string {
		return fmt.Sprintf("/l/_c_00000000-0000-0000-0000-0000000000%02d-%s-%010d", order, label, order)
	}
	place := func(order int64, label string, change func(l *Log, path string)) string {
		l := newCrafted(50+order, 100).read(t, fmt.Sprint("log", order))
		l.terms = nil
		p := path(order, label)
		l.nodes[p] = &node{path: p, czxid: 100 + order, at: 90 * ms, session: l.session.current}
		if change != nil {
			change(l, p)
		}
		logs = append(logs, l)
		return p
	}
	leader := newCrafted(5, 100)
	leader.stop(5, 300, events.CommandClose)
	led := leader.read(t, "leader")
	led.nodes[led.terms[0].Node] = &node{path: led.terms[0].Node, czxid: 5, session: led.session.current}
	logs = append(logs, led)
	place(4, "latch", nil)
	place(6, "lock", nil)
	place(7, "latch", func(l *Log, _ string) { l.session.current.closeAsked = 1 })
	place(8, "latch", func(l *Log, p string) { l.deletes = append(l.deletes, deletion{path: p, zxid: 200}) })
	gone := path(9, "latch")
	place(9, "latch", func(*Log, string) { led.gone = append(led.gone, sighting{1, 100 * ms, gone}) })
	want := place(10, "latch", nil)
	place(11, "latch", nil)
	r := &Report{logs: logs, h: newHistory(logs, nil, defaultDrift)}
	if got := r.firstWaiting(led.terms[0]); got == nil || got.node.path != want {
		t.Errorf("%+v, want %s", got, want)
	}
}

// A line in which two led, or worked, at once comes before one without a leader, and that before one of which little is
// known.
func TestWhichTroubleIsWorse(t *testing.T) {
	since := at(1)
	last := 5
	for _, s := range []LineSummary{{Verdict: TwoAtOnce}, {Verdict: CannotTell, Work: WorkTwo, NobodySince: since},
		{Verdict: CannotTell, NobodySince: since}, {Verdict: CannotTell, NobodySince: since, Left: true},
		{Verdict: NeverProven, NobodySince: since, Left: true}} {
		if got := s.trouble(); got >= last {
			t.Errorf("%+v is as bad as the one before", s)
		} else {
			last = got
		}
	}
}
