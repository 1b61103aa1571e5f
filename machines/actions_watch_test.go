package machines

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// The handle is notified of a leader once on each connection.
func TestALeaderIsNotifiedOnceOnEachConnection(t *testing.T) {
	o := &leaderWatch{}
	tells := func() int {
		ev := events.Event{Code: events.OK, Path: "/l/x", Stat: owned(3, 7)}
		return len(found[events.Notify](effects(t, func(out *engine.Outbox) { o.tellLeader(ev, out) })))
	}
	if first, again := tells(), tells(); first != 1 || again != 0 {
		t.Errorf("%d notices of a leader, and %d when nothing has changed", first, again)
	}
	o.noteGap(events.Event{}, nil)
	if n := tells(); n != 1 {
		t.Errorf("%d notices on the next connection, want 1", n)
	}
}

// The handle is notified of names when they change, and after a failure, which is over then.
func TestTheSameNamesAreNotifiedAfterAFailure(t *testing.T) {
	o := &nodeWatch{replyKind: events.ReplyChildren}
	tells := func() int {
		ev := events.Event{Code: events.OK, Children: []string{"a"}}
		return len(found[events.Notify](effects(t, func(out *engine.Outbox) { o.tell(ev, out) })))
	}
	if first, again := tells(), tells(); first != 1 || again != 0 {
		t.Errorf("%d notices of names, and %d when nothing has changed", first, again)
	}
	o.tellAgain(events.Event{}, nil)
	if n := tells(); n != 1 {
		t.Errorf("%d notices after a failure, want 1", n)
	}
}

// A new read makes earlier ones, and the pause before it, meaningless.
func TestAReadReplacesWhatWasPending(t *testing.T) {
	o := &nodeWatch{standalone: standalone{path: "/n"}, replyKind: events.ReplyStat}
	all := effects(t, func(out *engine.Outbox) {
		out.Timer(backOffTimer, time.Second)
		o.read(events.Event{}, out)
	})
	mustSend(t, "a timer was set", all, "stop", "get /n")
}

// Data that the ensemble refuses are answered for, and not written again.
func TestRefusedDataAreGivenUp(t *testing.T) {
	p := &persistent{paced: paced{standalone: standalone{path: "/p"}}, parentMaker: newParentMaker("/")}
	p.payload, p.asked, p.written, p.before, p.sets = 3, 3, 1, 1, []setCommand{{8, 3}}
	answers := found[events.Answer](effects(t, func(out *engine.Outbox) {
		p.giveUpWrite(events.Event{Code: events.NoAuth}, out)
	}))
	if len(answers) != 1 || answers[0].Command != 8 || answers[0].Code != events.NoAuth || p.payload != 1 {
		t.Errorf("the answers are %v, and the data are those of %d, want 1", answers, p.payload)
	}
}

// A tree cache that is up to date has no failure any more.
func TestATreeCacheThatIsReadHasRecovered(t *testing.T) {
	c := &treeCache{}
	c.noted().code = events.NoAuth
	notices := found[events.Notify](effects(t, func(out *engine.Outbox) { c.settle(events.Event{}, out) }))
	if len(notices) != 2 || notices[0].What != events.Recovered || notices[1].What != events.Settled {
		t.Errorf("the notices are %v", notices)
	}
}

// The handle is notified of the end of a failure once.
func TestTheEndOfAFailureIsNotifiedOnce(t *testing.T) {
	s := &retryState{failing: &failureSeries{code: events.NoAuth, text: "/x", failures: 4}}
	for n, want := range []int{1, 0} {
		if got := len(found[events.Notify](effects(t, s.clearFailure))); got != want {
			t.Errorf("the %d. time, %d notices", n+1, got)
		}
	}
	if s.failing != nil {
		t.Errorf("%+v is left of the failure", s.failing)
	}
	s.failing = &failureSeries{failures: 1} // one that was not shown on the handle
	if effects(t, s.clearFailure); s.failing != nil {
		t.Errorf("%+v is left of a failure that was not shown", s.failing)
	}
}

// After its session, a client pauses as the policy says, and goes on when the policy gives up.
func TestAClientPausesBetweenSessions(t *testing.T) {
	for policy, want := range map[Policy]time.Duration{Forever(7 * time.Second): 7 * time.Second,
		NTimes(0, time.Second): pauseAfterGiveUp} {
		s := &session{retry: policy, jitter: (&options{}).jitter("x")}
		timers := found[events.SetTimer](effects(t, func(out *engine.Outbox) { s.lose(events.Event{}, out) }))
		if len(timers) != 1 || timers[0].After != want {
			t.Errorf("%v: the timers are %v, want one of %s", policy, timers, want)
		}
	}
}

// Every line of a directory is listed, and other nodes are counted.
func TestEveryPlaceOfADirectoryIsListed(t *testing.T) {
	all, foreign := Places([]string{"note", "n_0000000002", "n_0000000001"}, "n_")
	if len(all) != 2 || all[0].Sequence != 1 || all[1].Sequence != 2 || all[0].Kind.Label != "n_" || foreign != 1 {
		t.Errorf("%v, and %d other nodes", all, foreign)
	}
}

// A node is the same as long as nothing of it has changed, or nobody says what it is.
func TestWhenANodeIsTheSame(t *testing.T) {
	read := events.Stat{Czxid: 1, Mzxid: 2, NumChildren: 3}
	same := func(code events.Code) bool { return sameNode(read, events.Event{Code: code}) }
	is := func(stat events.Stat) bool { return sameNode(read, events.Event{Code: events.OK, Stat: &stat}) }
	decide(t, []decision{
		{"nothing changed", is(read), true},
		{"another node", is(events.Stat{Czxid: 4, Mzxid: 2, NumChildren: 3}), false},
		{"other data", is(events.Stat{Czxid: 1, Mzxid: 4, NumChildren: 3}), false},
		{"other children", is(events.Stat{Czxid: 1, Mzxid: 2, NumChildren: 4}), false},
		{"it is gone", same(events.NoNode), false},
		{"nobody says", same(events.ConnectionLoss), true},
	})
}

// A node of an attempt that was given up is searched for from the look on that has shown none.
func TestASearchBeginsAtALook(t *testing.T) {
	for zxid, want := range map[int64]int{0: 0, 7: 2} {
		a := &attempts{mayFollow: true}
		got := tells(t, func(out *engine.Outbox) { a.searchName("m", "/l/x", events.Event{Zxid: zxid}, out) })
		if len(got) != want {
			t.Errorf("after the look %d it tells %q", zxid, got)
		}
	}
}

// A cache with a recursive watch lists a node again if its children are more or fewer than it knows.
func TestAListingThatIsMissing(t *testing.T) {
	for children, want := range map[int32]bool{1: false, 2: true} {
		c, err := newTreeCache(events.Event{Path: "/t", Seed: "s"})
		if err != nil {
			t.Fatal(err)
		}
		c.set, c.root.listed = true, true
		c.root.children = []*cachedNode{newCachedNode(c.root, "/t/a")}
		c.root.self.request, c.inFlight = 3, []read{{of: c.root}}
		ev := events.Event{Code: events.OK, Request: 3, Path: "/t", Stat: &events.Stat{NumChildren: children}}
		effects(t, func(out *engine.Outbox) { c.noteData(ev, out) })
		if got := len(c.due) > 0; got != want {
			t.Errorf("%d children, of which it knows 1: it lists them: %t", children, got)
		}
	}
}
