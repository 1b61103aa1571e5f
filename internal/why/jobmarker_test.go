package why

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// The nodes of all leaders of a job have one path. That an earlier leader's has gone says nothing of how the next one's
// process ended.
func TestAJobsLeaderThatIsKilled(t *testing.T) {
	a, b := jobLog("a@-@1", true), jobLog("b@-@1", false)
	sees := func(at, czxid int64) {
		b.add("jobelection-1", events.Event{Kind: events.ReplyStat, At: at, Session: 1, Path: b.own,
			Stat: &events.Stat{Czxid: czxid, EphemeralOwner: czxid}}, "looking", "standby")
	}
	sees(90, 10)
	b.add("jobelection-1", events.Event{Kind: events.WatchDeleted, At: 95, Session: 1, Path: b.own}, "following",
		"following")
	sees(110, 20)
	b.add("jobelection-1", events.Event{Kind: events.WatchDeleted, At: 5000, Session: 1, Path: b.own}, "following",
		"enrolling")
	b.add("jobelection-1", events.Event{Kind: events.ReplyStat, At: 5100, Session: 1, ValidUntil: 9000 * ms},
		"looking", "leading", "notify elected "+b.own+" token=30")
	var end Ending
	for _, m := range explainOnOneHost(t, a, b).Moves {
		if m.From != nil && m.From.Token == 20 {
			end = m.Ending
		}
	}
	if end.Cause != CauseKilled || strings.Contains(end.Text, "-") {
		t.Errorf("%s: %s", end.Cause, end.Text)
	}
}

// A session that ends long after a term, in which it led again, did not end that term.
func TestASessionThatLedAgain(t *testing.T) {
	a := jobLog("a@-@1", true)
	stop := func(at int64) {
		a.add("jobelection-1", events.Event{Kind: events.WatchDeleted, At: at, Session: 1}, "leading", "draining",
			"notify stopped "+a.own+" token=20")
	}
	stop(300)
	a.add("jobelection-1", events.Event{Kind: events.ReplyStat, At: 400, Session: 1, ValidUntil: 9000 * ms},
		"looking", "leading", "notify elected "+a.own+" token=40")
	a.add(events.SessionMachine, events.Event{Kind: events.ConnectionLost, At: 20000, Session: 1,
		Code: events.SessionExpired}, "connected", "lost")
	for _, m := range explainOnOneHost(t, a).Moves {
		if m.From == nil || m.From.Token != 20 {
			continue
		}
		if m.Ending.Cause != CauseDeleted || m.NodeEnd != NodeDeleted {
			t.Errorf("%s, and the node was %s", m.Ending.Cause, m.NodeEnd)
		}
	}
}

// explainOnOneHost explains logs that were recorded by one clock.
func explainOnOneHost(t *testing.T, all ...*crafted) *Report {
	t.Helper()
	logs := readAll(t, all...)
	for _, l := range logs {
		l.Clock = "the host's"
	}
	return Explain(logs, nil, Options{})
}

// underLatch has the log's client create a latch's node with a number, and lead with a token.
func (c *crafted) underLatch(number int, at, token int64) {
	latch := events.ID(fmt.Sprintf("latch-jobelection-1-%d", number))
	const dir = "/ns/job/leader/election/latch"
	c.add(latch, events.Event{Kind: events.CommandOpen, At: at - 3, Recipe: "latch", Path: dir,
		Options: map[string]string{"opener": "jobelection-1"}}, "", "latent")
	path := fmt.Sprintf("%s/_c_00000000-0000-0000-0000-0000000000%02d-latch-%010d", dir, number, number)
	c.add(latch, events.Event{Kind: events.ReplyCreate, At: at - 2, SentAt: at - 3, Session: 1, Zxid: token - 1,
		Path: path}, "enrolling", "leading")
	c.add(latch, events.Event{Kind: events.WatchDeleted, At: at - 1, Session: 1, Path: path}, "leading", "closed")
	c.add("jobelection-1", events.Event{Kind: events.ReplyStat, At: at, Session: 1, Path: c.own,
		ValidUntil: (at + 800) * ms, Stat: &events.Stat{Czxid: token, EphemeralOwner: c.records[0].Event.SessionID}},
		"looking", "leading", fmt.Sprintf("notify elected %s token=%d", c.own, token))
}

// A leader of a job without a log between two that have one takes "proven" away, and is named: by its marker if a
// client saw that, or by the number of its latch's node.
func TestALeaderOfAJobWithoutALog(t *testing.T) {
	const nobody = "its client's log is not here; that log would show it"
	for what, c := range map[string]struct {
		next int  // the number of the latch's node of the second leader, behind 4
		seen bool // the third client saw a marker between
		want string
	}{
		"nobody between": {5, false, ""},
		"a latch's node": {7, false, "the instance with latch node 5 may have led, and its client's log is not here, " +
			"and those of 1 other place; that log would show it"},
		"a marker that was seen": {5, true, "instance c@-@1 of session 0x9 may have led, and " + nobody},
		"a lower number":         {3, false, "an instance may have led, and " + nobody},
	} {
		a, b, d := jobLog("a@-@1", false), jobLog("b@-@1", false), jobLog("d@-@1", false)
		a.underLatch(4, 100, 20)
		a.add("jobelection-1", events.Event{Kind: events.CommandResign, At: 300, Session: 1}, "leading", "draining",
			"notify stopped "+a.own+" token=20")
		if c.seen {
			d.add("jobelection-1", events.Event{Kind: events.ReplyStat, At: 400, Session: 1, Path: d.own,
				Data: []byte("c@-@1"), Stat: &events.Stat{Czxid: 25, EphemeralOwner: 9}}, "looking", "standby")
		}
		b.underLatch(c.next, 1000, 30)
		for _, one := range []*crafted{a, b, d} {
			one.add("jobelection-1", events.Event{Kind: events.TimerFired, At: 1100, Session: 1}, "standby", "standby")
		}
		r := explainOnOneHost(t, a, b, d)
		if got := r.Why; (r.Verdict == CannotTell) != (c.want != "") || c.want != "" && got != c.want {
			t.Errorf("%s: %s: %s, want %q", what, r.Verdict, got, c.want)
		}
	}
}
