package why

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why/txnlog"
	"github.com/incumbent-go/incumbent/test/kit/effects"
)

// on reads a log that was written on one host with the others.
func (c *crafted) on(t *testing.T, name string) *Log {
	t.Helper()
	l := c.read(t, name)
	l.Clock, l.Header.Host, l.Header.PID = "this", "host-"+name, 4711
	return l
}

// The node of a leader that did not release stands ahead of all: the summary names it, its process, and how to end
// that.
func TestASummaryNamesWhatIsInTheWay(t *testing.T) {
	a, b := newCrafted(1, 100), newCrafted(2, 2000)
	a.stop(1, 1100, events.CommandClose)
	b.working(2000)
	b.stop(2, 2900, events.ConnectionUnconfirmed)
	b.add("latch-1", events.Event{Kind: events.TimerFired, At: 9000, ValidUntil: 9500 * ms}, "draining", "draining")
	r := Explain([]*Log{a.on(t, "alice"), b.on(t, "bob")}, nil, Options{})
	if len(r.Summaries) != 1 {
		t.Fatalf("%+v", r.Summaries)
	}
	s := r.Summaries[0]
	if s.Leader != "" || s.NobodySince == nil || s.AsOf.Sub(*s.NobodySince) != 6100*time.Millisecond ||
		s.InTheWay == nil || s.InTheWay.PID != 4711 || s.Gaps != 2 || s.Longest != 6100*time.Millisecond ||
		s.Without != 7*time.Second {
		t.Errorf("%+v", s)
	}
	text := strings.Join(r.Lines(false)[1:], "\n")
	for _, want := range []string{"NOBODY LEADS since 00:00:02.900, for 6.10 s",
		"node 2 of bob (session 0x66, process 4711 on host-bob) is ahead of all: its work has not returned",
		"Without a leader: 7.00 s in 2 gaps, the longest 6.10 s from 00:00:02.900",
		"Do: end the process, and its node goes: kill 4711    # on host-bob"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// out ends the connection, and not the term.
func (s *scene) out(at int64) {
	s.session(events.Event{Kind: events.ConnectionSuspended, At: at, Code: events.ConnectionLoss,
		End: events.ConnectionEndSilent, Text: "zk1:2181: silent for too long"}, "connected", "suspended")
}

// back begins a connection of the same session.
func (s *scene) back(at int64) {
	s.session(events.Event{Kind: events.ConnectionAttached, At: at, SessionID: 101, Timeout: 4000 * ms}, "suspended",
		"connected")
}

// bobInLine returns the log of a client with a node between those of two terms, whose connection ended at some
// instants, and was there again after some. Its session is over at an instant.
func bobInLine(t *testing.T, outs, backs []int64, over int64) *Log {
	t.Helper()
	b := newScene()
	b.records, b.own = nil, "/l/_c_00000000-0000-0000-0000-000000000002-latch-0000000002"
	b.add(events.SessionMachine, events.Event{Kind: events.ConnectionAttached, At: 150, Session: 1, SessionID: 101,
		Timeout: 4000 * ms}, "connecting", "connected")
	b.add("latch-1", events.Event{Kind: events.CommandOpen, Recipe: "latch", Path: "/l", At: 160}, "", "latent")
	b.add("latch-1", events.Event{Kind: events.ReplyCreate, At: 200, SentAt: 190, Session: 1, Zxid: 2, Path: b.own},
		"enrolling", "listing")
	for i, at := range outs {
		b.out(at)
		if i < len(backs) {
			b.back(backs[i])
		}
	}
	b.lost(over, events.SessionExpired)
	l, err := Read("bob", events.Header{}, &each{b.records})
	if err != nil {
		t.Fatal(err)
	}
	l.Clock = "this"
	return l
}

// A connection that was there again before the next led is no cause of what came later.
func TestAnOutageThatWasOverIsNoCause(t *testing.T) {
	for what, c := range map[string]struct {
		outs, backs []int64
		skipped     Cause
	}{
		"it was out":                       {[]int64{4000}, nil, CauseSilent},
		"it was back, and out again":       {[]int64{500, 4000}, []int64{600}, CauseSilent},
		"it was back":                      {[]int64{500}, []int64{600}, CauseSessionExpired},
		"it was back after the next's end": {[]int64{4000}, []int64{5500}, CauseSilent},
	} {
		a, next := newCrafted(1, 100), newCrafted(3, 5000)
		a.stop(1, 1100, events.CommandClose)
		next.records[0].Event.SessionID = 103
		next.add("latch-1", events.Event{Kind: events.TimerFired, At: 5500, ValidUntil: 0}, "leading", "leading")
		a.records[0].Event.SessionID = 105
		r := Explain([]*Log{a.on(t, "alice"), bobInLine(t, c.outs, c.backs, 6000), next.on(t, "carol")}, nil, Options{})
		if all := r.Summaries[0].Skipped; len(all) != 1 || all[0].Cause != c.skipped {
			t.Errorf("%s: %+v, want %s", what, all, c.skipped)
		}
	}
}

// What was wrong with the next leader, and was over before the term ended, did not delay it.
func TestAnOutageOfTheNextBeforeTheEnd(t *testing.T) {
	for back, want := range map[int64]Role{900: RoleNeither, 1400: RoleDelayed} {
		a := newScene()
		a.records[0].Event.SessionID = 105
		a.unconfirmed(1100, 0)
		b := newScene()
		b.records, b.own = nil, "/l/_c_00000000-0000-0000-0000-000000000002-latch-0000000002"
		b.add(events.SessionMachine, events.Event{Kind: events.ConnectionAttached, At: 50, Session: 1, SessionID: 101,
			Timeout: 4000 * ms}, "connecting", "connected")
		b.add("latch-1", events.Event{Kind: events.CommandOpen, Recipe: "latch", Path: "/l", At: 160}, "", "latent")
		b.write(5, 300, 310)
		b.out(800)
		b.back(back)
		b.add("latch-1", events.Event{Kind: events.ReplyChildren, At: 5000, Session: 1, ValidUntil: 6000 * ms},
			"listing", "leading", "notify elected "+b.own+" token=2")
		r := explainOnOneHost(t, a.crafted, b.crafted)
		i := slices.IndexFunc(r.Summaries[0].Terms[0].Why, func(b Because) bool { return b.Cause == CauseSilent })
		if i < 0 || r.Summaries[0].Terms[0].Why[i].Role != want {
			t.Errorf("back at %d: %+v, want the role %q", back, r.Summaries[0].Terms[0].Why, want)
		}
	}
}

// The next in line whose server does not answer is skipped, and the summary says so.
func TestASummarySaysWhoWasSkipped(t *testing.T) {
	a, c := newCrafted(1, 100), newCrafted(3, 5000)
	a.stop(1, 1100, events.CommandClose)
	b := &crafted{own: "/l/_c_00000000-0000-0000-0000-000000000002-latch-0000000002"}
	b.add(events.SessionMachine, events.Event{Kind: events.ConnectionAttached, At: 150, Session: 1, SessionID: 102,
		Timeout: 4000 * ms}, "connecting", "connected")
	b.add("latch-1", events.Event{Kind: events.ReplyCreate, At: 200, SentAt: 190, Session: 1, Zxid: 2, Path: b.own},
		"enrolling", "listing")
	b.add(events.SessionMachine, events.Event{Kind: events.ConnectionSuspended, At: 4000, Session: 1,
		Code: events.ConnectionLoss, End: events.ConnectionEndSilent, Text: "zk2:2181: silent for too long"},
		"connected", "suspended")
	b.add(events.SessionMachine, events.Event{Kind: events.ConnectionLost, At: 6000, Session: 1,
		Code: events.SessionExpired}, "suspended", "resting")
	l, err := Read("bob", events.Header{}, &each{b.records})
	if err != nil {
		t.Fatal(err)
	}
	l.Clock = "this"
	c.add("latch-1", events.Event{Kind: events.TimerFired, At: 5500, ValidUntil: 0}, "leading", "leading")
	r := Explain([]*Log{a.on(t, "alice"), l, c.on(t, "carol")}, nil, Options{})
	s := r.Summaries[0]
	if len(s.Skipped) != 1 || s.Skipped[0].Participant != "bob" || s.Skipped[0].For != "carol" ||
		s.Skipped[0].Cause != CauseSilent {
		t.Errorf("%+v", s.Skipped)
	}
	if text := strings.Join(r.Lines(false), "\n"); !strings.Contains(text,
		"Skipped: bob was ahead of carol until its node went, before 00:00:05.000, and did not lead: it "+
			"heard nothing") {
		t.Error(text)
	}
	if s.Leader != "carol" || s.Token != 3 || s.NobodySince != nil {
		t.Errorf("%+v", s)
	}
	// Nobody waited for one whose node went before the leader's.
	change := func(zxid int64, kind int32, path string, session int64) txnlog.Txn {
		one := txnlog.Change{Kind: kind, Path: path, Ephemeral: kind == txnlog.Create}
		return txnlog.Txn{Zxid: zxid, Session: session, Kind: kind, Time: 5, Changes: []txnlog.Change{one}}
	}
	for role, ends := range map[string][]string{
		"the next came later": {a.own, b.own}, "also wrong then": {b.own, a.own},
	} {
		txns := []txnlog.Txn{change(1, txnlog.Create, a.own, 101), change(2, txnlog.Create, b.own, 102),
			change(4, txnlog.Delete, ends[0], 9), change(5, txnlog.Delete, ends[1], 9)}
		r := Explain([]*Log{a.on(t, "alice"), l, c.on(t, "carol")}, txns, Options{})
		if text := strings.Join(r.Lines(false), "\n"); !strings.Contains(text, role+": bob was skipped") {
			t.Errorf("want %q:\n%s", role, text)
		}
	}
}

// Somebody waits, and nobody leads: the last leader's leave is not all of it. The summary names who is first in line.
func TestASummaryNamesWhoWaits(t *testing.T) {
	a := newCrafted(1, 100)
	a.stop(1, 1100, events.CommandClose)
	for _, end := range []int64{1200, 9000} {
		b := &crafted{own: "/l/_c_00000000-0000-0000-0000-000000000002-latch-0000000002"}
		b.add(events.SessionMachine, events.Event{Kind: events.ConnectionAttached, At: 150, Session: 1, SessionID: 102,
			Timeout: 4000 * ms}, "connecting", "connected")
		b.add("latch-1", events.Event{Kind: events.ReplyCreate, At: 200, SentAt: 190, Session: 1, Zxid: 2, Path: b.own},
			"enrolling", "listing")
		b.add("latch-1", events.Event{Kind: events.WatchDeleted, At: 1150, Path: a.own}, "waiting", "listing")
		b.add("latch-1", events.Event{Kind: events.TimerFired, At: end}, "listing", "listing")
		l, err := Read("bob", events.Header{Host: "host-bob", PID: 4711}, &each{b.records})
		if err != nil {
			t.Fatal(err)
		}
		l.Clock = "this"
		r := Explain([]*Log{a.on(t, "alice"), l}, nil, Options{})
		s, text := r.Summaries[0], strings.Join(r.Lines(false), "\n")
		if s.NobodySince == nil || s.Left || s.InTheWay == nil || s.InTheWay.Participant != "bob" {
			t.Errorf("until %d: %+v\n%s", end, s, text)
		}
		const kill = "Do: see why it does not lead: if its process stands still, end that, and its node goes: kill 4711"
		if long := end > 1100+4000; strings.Contains(text, kill) != long {
			t.Errorf("until %d it says what to do: %t\n%s", end, !long, text)
		}
	}
}

// The end of a term whose log was cut is no fact: the summary does not say until when it was.
func TestATermWhoseLogWasCutHasNoEnd(t *testing.T) {
	a, b := newCrafted(1, 100), newCrafted(2, 2000)
	cut := a.on(t, "alice")
	cut.Damage = "a line was changed"
	s := Explain([]*Log{cut, b.on(t, "bob")}, nil, Options{}).Summaries[0]
	if len(s.Terms) != 2 || s.Terms[0].Until != nil || s.Terms[0].Without != 0 ||
		!strings.HasSuffix(s.Terms[0].Text, "cannot tell: until when is not in its log") {
		t.Errorf("%+v", s.Terms)
	}
}

// Several lines are a table: trouble on top, and nothing of it is longer than a terminal.
func TestSeveralLinesAreATable(t *testing.T) {
	var logs []*Log
	for i := range 12 {
		c := newCrafted(1, 100)
		dir := fmt.Sprintf("/jobs/%02d", i)
		for j := range c.records {
			for k, e := range c.records[j].Effects {
				c.records[j].Effects[k] = effects.Of(strings.Replace(e.String(), "/l/", dir+"/", 1))[0]
			}
		}
		c.own = strings.Replace(c.own, "/l/", dir+"/", 1)
		c.records[0].Event.SessionID += int64(i)
		if i == 7 {
			c.stop(1, 500, events.ConnectionSuspended)
		}
		c.add("latch-1", events.Event{Kind: events.TimerFired, At: 900}, "leading", "leading")
		logs = append(logs, c.on(t, fmt.Sprint("host", i)))
	}
	lines := Explain(logs, nil, Options{}).Lines(false)
	if len(lines) > mostLines || !strings.HasPrefix(lines[1], "Times are UTC") || !strings.HasPrefix(lines[2],
		"line ") || !strings.HasPrefix(lines[3], "/jobs/07  NOBODY") || !strings.HasPrefix(lines[4],
		"/jobs/00  host0 ") || !strings.HasPrefix(lines[11],
		"(4 lines more") {
		t.Error(strings.Join(lines, "\n"))
	}
}

// A time that is known up to bounds is said with both: as one number with a small error, and as a range otherwise.
func TestATimeWithBounds(t *testing.T) {
	for _, c := range []struct {
		least, most time.Duration
		want        string
	}{
		{2540 * time.Millisecond, 4480 * time.Millisecond, "at least 2.54 s, at most 4.48 s"},
		{2440 * time.Millisecond, 2441 * time.Millisecond, "2.44 s"},
		{2440 * time.Millisecond, 2500 * time.Millisecond, "2.47 s (±30.0 ms)"},
		{0, 41 * time.Millisecond, "at most 41.0 ms"},
		{-time.Second, time.Second, "at most 1.00 s"},
		{time.Second, -1, "at least 1.00 s"},
	} {
		if got := between(c.least, c.most); got != c.want {
			t.Errorf("%v to %v: %q, want %q", c.least, c.most, got, c.want)
		}
	}
}
