package why

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// working adds to a log that work begins, at a time in milliseconds.
func (c *crafted) working(at int64) *crafted {
	c.add("latch-1", events.Event{Kind: events.CommandAwait, At: at, Session: 1}, "leading", "leading",
		"notify granted work=1")
	return c
}

// returns adds that it ends.
func (c *crafted) returns(at int64, code events.Code) *crafted {
	c.add("latch-1", events.Event{Kind: events.WorkReturned, At: at, Session: 1, Code: code}, "draining", "draining")
	return c
}

func commandLine(what events.CommandStep, at int64, c *crafted, token int64) events.CommandLine {
	return events.CommandLine{What: what, Group: int(token), At: at * ms, Boot: "this", Node: c.own, Token: token}
}

// explainWork explains the logs of alice and bob, written on one host.
func explainWork(t *testing.T, a, b *crafted, lines ...events.CommandLine) *Report {
	t.Helper()
	logs := []*Log{a.read(t, "alice"), b.read(t, "bob")}
	for _, l := range logs {
		l.Clock, l.Header.Clock, l.Header.Boot = "this", "boottime", "this"
	}
	return Explain(logs, nil, Options{Commands: [][]events.CommandLine{lines}})
}

// When work ended decides whether two worked at once, whatever right they had.
func TestWorkAtOnce(t *testing.T) {
	type lines = []events.CommandLine
	for name, c := range map[string]struct {
		returned int64 // 0: it did not
		code     events.Code
		paused   int64
		lines    func(a, b *crafted) lines
		idle     bool // the next leader does no work
		want     WorkVerdict
		both     time.Duration
		says     string
	}{
		"it returned in time": {returned: 1150, want: WorkAlone},
		"it ran on": {returned: 3200, want: WorkTwo, both: 1200 * time.Millisecond,
			says: "ran on for 1.20 s after bob led, and both worked for 1.20 s: check what tokens 1 and 2 wrote"},
		"the next did not work": {returned: 3200, idle: true, want: WorkAlone,
			says: "ran on for 1.20 s after bob led: bob did not work then"},
		"the process was paused": {returned: 3200, paused: 2000, want: WorkTwo, both: 100 * time.Millisecond,
			says: "both worked for 100.0 ms"},
		"its grace was over": {returned: 1150, code: events.StillRunning, want: WorkTwo,
			both: 3000 * time.Millisecond},
		"it never returned": {want: WorkTwo, both: 3000 * time.Millisecond,
			says: "The work of alice had not returned by the end of its log, and both worked"},
		"the guard killed it": {returned: 4000, lines: func(a, b *crafted) lines {
			return lines{commandLine(events.CommandBegan, 150, a, 1), commandLine(events.CommandBegan, 2000, b, 2),
				commandLine(events.CommandGuarded, 1400, a, 1), commandLine(events.CommandEnded, 3900, a, 1)}
		}, want: WorkAlone, says: "The guard ended alice's command 500.0 ms before bob led"},
		"the guard was stopped": {returned: 4000, lines: func(a, b *crafted) lines {
			return lines{commandLine(events.CommandBegan, 150, a, 1), commandLine(events.CommandBegan, 2000, b, 2),
				commandLine(events.CommandKilled, 3800, a, 1), commandLine(events.CommandEnded, 3900, a, 1)}
		}, want: WorkTwo, both: 1900 * time.Millisecond, says: "alice's command ran on for 1.90 s after bob led"},
		"its end is not recorded": {returned: 3000, lines: func(a, b *crafted) lines {
			return lines{commandLine(events.CommandBegan, 150, a, 1)}
		}, want: WorkUnknown, says: "when the command of alice ended is not recorded"},
		"its end is not recorded, and it was not released": {lines: func(a, b *crafted) lines {
			return lines{commandLine(events.CommandBegan, 150, a, 1)}
		}, want: WorkUnknown, says: "when the command of alice ended is not recorded"},
		"its end was before it was released": {returned: 1150, lines: func(a, b *crafted) lines {
			return lines{commandLine(events.CommandBegan, 150, a, 1)}
		}, want: WorkAlone},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newCrafted(1, 100), newCrafted(2, 2000)
			a.working(150)
			a.stop(1, 1100, events.ConnectionUnconfirmed)
			if c.returned > 0 {
				a.returns(c.returned, c.code)
			}
			a.add("latch-1", events.Event{Kind: events.TimerFired, At: 5000, Paused: 0}, "draining", "draining")
			if c.paused > 0 {
				last := &a.records[len(a.records)-2]
				a.records = append(a.records[:len(a.records)-2], events.Record{Seq: last.Seq, Machine: "latch-1",
					Event: events.Event{Kind: events.TimerFired, At: 3100 * ms, Paused: c.paused * ms}},
					a.records[len(a.records)-2], a.records[len(a.records)-1])
				for i := range a.records {
					a.records[i].Seq = uint64(i + 1)
				}
			}
			if !c.idle {
				b.working(2000)
			}
			b.add("latch-1", events.Event{Kind: events.TimerFired, At: 5000}, "leading", "leading")
			var all lines
			if c.lines != nil {
				all = c.lines(a, b)
			}
			r := explainWork(t, a, b, all...)
			var both time.Duration
			text := strings.Join(r.Lines(true), "\n")
			for _, m := range r.Moves {
				for _, o := range m.Work {
					both += o.Both
				}
			}
			if r.Work != c.want || both != c.both || !strings.Contains(text, c.says) {
				t.Errorf("%q, both for %s; want %q, %s and %q\n%s", r.Work, both, c.want, c.both, c.says, text)
			}
		})
	}
}

// A guarded write that was committed after the next leader's first write is out of its term.
func TestGuardedWritesInTheirTerms(t *testing.T) {
	for zxid, want := range map[int64]WritesVerdict{40: WritesInTerm, 60: WritesLate} {
		a, b := newCrafted(1, 100), newCrafted(2, 2000)
		a.stop(1, 1100, events.ConnectionUnconfirmed)
		b.write(50, 2100, 2200)
		one, two := a.read(t, "alice"), b.read(t, "bob")
		one.writes = []events.Write{{At: 1050 * ms, Path: a.own, Token: 1, Zxid: zxid}, {At: 1060 * ms, Path: a.own,
			Token: 1, Refused: events.NodeExists}}
		one.Clock, two.Clock = "this", "this"
		r := Explain([]*Log{one, two}, nil, Options{})
		if r.Writes.Verdict != want || r.Writes.Committed != 1 || r.Writes.Refused != 1 {
			t.Errorf("zxid %d: %+v, want %q", zxid, r.Writes, want)
		}
		if p := r.Picture(); p.Writes != want || !strings.Contains(strings.ToLower(p.Headline), "guarded write") {
			t.Errorf("zxid %d: a picture has %q and %q, want %q", zxid, p.Writes, p.Headline, want)
		}
	}
}

// The command of a term whose flight log is missing is named.
func TestACommandWithoutAFlightLog(t *testing.T) {
	a, b := newCrafted(1, 100), newCrafted(2, 2000)
	a.stop(1, 1100, events.ConnectionUnconfirmed)
	r := explainWork(t, a, b, events.CommandLine{What: events.CommandBegan,
		Node: "/l/_c_00000000-0000-0000-0000-000000000009-latch-0000000009", Token: 9})
	if text := strings.Join(r.Lines(true), "\n"); !strings.Contains(text,
		"A command ran in the term of node 9 with token 9, whose log is not here") {
		t.Error(text)
	}
}
