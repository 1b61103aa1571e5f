package why

import (
	"strings"
	"testing"
	"time"
)

// hourApart returns the logs of a world, the hosts' clocks set by so many hours against that of the ensemble's leader.
func hourApart(t *testing.T, hours ...int64) []*Log {
	s := newSimulated(t, 3, false)
	for _, server := range s.Ensemble().Servers() {
		server.SetClockAhead(0)
	}
	logs := s.logs(t)
	f := newHistory(logs, s.txns, defaultDrift)
	for i, l := range logs {
		at := f.clocks.read(l, l.Header.StartAt)[f.chooseShownClock().clock]
		if !at.known() {
			t.Fatal(l.Name, "cannot be aligned")
		}
		l.wall = at.mid() + hours[i]*int64(time.Hour)
		l.Header.Host = "host" + l.Name
	}
	return logs
}

// Times are shown by the clock that most agree on, be it that of hosts or of the ensemble's leader, or by the one
// that is named; and a time of any of them finds its moves.
func TestTheClockThatMostAgreeOn(t *testing.T) {
	for _, c := range []struct {
		hours  []int64
		clock  string
		shift  int64 // in hours
		says   string
		around int64 // of the first move, in hours after its time as shown
	}{
		{[]int64{0, 1, 0}, "", 0, "client1's own clock was 1h0m0s ahead", 1},
		{[]int64{1, 1, 1}, "", 1,
			"by the clock which 3 hosts agree on; the clock of the ensemble's leader was 1h0m0s behind", -1},
		{[]int64{-1, -1, -1}, "ensemble", 0, "client0's own clock was 1h0m0s behind", -1},
		{[]int64{0, 5, 0}, "client1", 5, "by the clock of client1; ", -5},
		{[]int64{0, 5, 0}, "hostclient1", 5, "client0's own clock was 5h0m0s behind", -5},
	} {
		logs := hourApart(t, c.hours...)
		r := Explain(logs, nil, Options{Clock: c.clock})
		text := strings.Join(r.Lines(true), "\n")
		if got := time.Duration(r.byClock.shift).Round(time.Hour); got != time.Duration(c.shift)*time.Hour ||
			!strings.Contains(text, c.says) {
			t.Errorf("%v, %q: set forward by %s, want %d h and %q\n%s", c.hours, c.clock, got, c.shift, c.says, text)
		}
		if clocks := r.Summaries[0].Clocks; c.hours[1] == 5 && (len(clocks) != 1 || clocks[0].Host != "client1") {
			t.Errorf("%v, %q: the clock of client1 is wrong by what most hosts agree on, not %+v", c.hours,
				c.clock, clocks)
		}
		at := time.Unix(0, r.Moves[0].when).Add(time.Duration(c.around)*time.Hour - 10*time.Second)
		near := Explain(logs, nil, Options{Clock: c.clock, Around: at})
		if len(near.Moves) == 0 || near.nearestTo != 0 || near.Moves[0].when != r.Moves[0].when {
			t.Errorf("%v, %q: around %s there are %d moves", c.hours, c.clock, at, len(near.Moves))
		}
	}
}
