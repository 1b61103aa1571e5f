package why

import (
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
