package machines

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// A reply confirms if it is the success of a write that was sent in this session and on
// this connection. A write of an earlier connection may have been committed before another
// client was elected.
func TestOnlyWritesOfThisConnectionConfirm(t *testing.T) {
	const now = int64(time.Hour)
	s := session{number: 2, attached: true, attachedAt: now}
	s.timing = timing{tick: 2 * time.Second, syncLimit: 5, timeout: 15 * time.Second}
	s.heard, s.heardSent = now, now
	write := events.Event{Kind: events.ReplyMulti, Session: 2, SentAt: now, At: now + int64(5*time.Second)}
	for name, c := range map[string]struct {
		change func(*session, *events.Event)
		want   bool
	}{
		"a multi":            {func(*session, *events.Event) {}, true},
		"a create":           {func(_ *session, ev *events.Event) { ev.Kind = events.ReplyCreate }, true},
		"a delete":           {func(_ *session, ev *events.Event) { ev.Kind = events.ReplyDelete }, true},
		"a sync":             {func(_ *session, ev *events.Event) { ev.Kind = events.ReplySync }, false},
		"a read":             {func(_ *session, ev *events.Event) { ev.Kind = events.ReplyStat }, false},
		"a listing":          {func(_ *session, ev *events.Event) { ev.Kind = events.ReplyChildren }, false},
		"a refusal":          {func(_ *session, ev *events.Event) { ev.Code = events.NoNode }, false},
		"an earlier session": {func(_ *session, ev *events.Event) { ev.Session = 1 }, false},
		"sent before":        {func(_ *session, ev *events.Event) { ev.SentAt = now - 1 }, false},
		"there is none":      {func(s *session, _ *events.Event) { s.attached = false }, false},
		"shortly after others": {func(s *session, ev *events.Event) {
			s.heard, s.heardSent, s.quorum, s.validUntil = ev.At, ev.At, true, ev.At+1
		}, false},
	} {
		s, ev := s, write
		c.change(&s, &ev)
		if got := s.Confirms(ev); got != c.want {
			t.Errorf("%s: confirms %t, want %t", name, got, c.want)
		}
	}
}

// If a heartbeat does not find the node that it checked, it has confirmed nothing. Another
// machine's node is checked at once: the others' belief must not end because of that node.
func TestAMissedHeartbeatIsFollowedByAnother(t *testing.T) {
	c, answer := playAlone(t, "leads latch", "leads latch-2 path=/m", "at 4s", "session timer.fired name=heartbeat")
	check := func(path, latch string) string {
		return "multi {check " + path + "/_c_<" + latch + ".1>-latch-0000000000}"
	}
	if got := requests(answer); !slices.Equal(got, []string{check("/l", "latch")}) {
		t.Fatalf("the heartbeat is %q:\n%s", got, answer)
	}
	answer = c.play(t, "session reply.multi code=NONODE")
	if got := requests(answer); !slices.Contains(got, check("/m", "latch-2")) {
		t.Errorf("after a check that found nothing it sends %q, want %q among them:\n%s", got, check("/m", "latch-2"),
			answer)
	}
	answer = c.play(t, "session reply.multi")
	if got := requests(answer); len(got) > 0 {
		t.Errorf("after a check that found its node it sends %q, want nothing before the next heartbeat:\n%s",
			got, answer)
	}
	if got, want := time.Duration(c.session.validUntil), c.now+7500*time.Millisecond; got != want {
		t.Errorf("belief lasts until %s, want %s", got, want)
	}
}

// If no node is found, the checks end: without a bound, they would follow each other as
// fast as the server answers.
func TestMissedHeartbeatsEnd(t *testing.T) {
	c, _ := playAlone(t, "leads latch", "at 4s", "session timer.fired name=heartbeat")
	if answer := c.play(t, "session reply.multi code=THROTTLEDOP"); len(requests(answer)) > 0 {
		t.Errorf("the only check was refused: it sends %q, want nothing before the next heartbeat:\n%s",
			requests(answer), answer)
	}
}

// If several nodes in a row are gone, each of the others is checked at once: their machines must not
// lose leadership, although those whose nodes are gone have left meanwhile.
func TestEveryNodeIsCheckedAfterMissedHeartbeats(t *testing.T) {
	c, answer := playAlone(t, "leads latch", "leads latch-2 path=/m", "leads latch-3 path=/n", "leads latch-4 path=/o",
		"at 4s", "session timer.fired name=heartbeat")
	var checked []string
	for range 3 { // more would find no node
		checked = append(checked, checks(answer)...)
		answer = c.play(t, "session reply.multi code=NONODE")
	}
	checked = append(checked, checks(answer)...)
	slices.Sort(checked)
	if want := []string{"/l", "/m", "/n", "/o"}; !slices.Equal(checked, want) {
		t.Errorf("heartbeats check the nodes of %q, want %q, each once:\n%s", checked, want, answer)
	}
	c.play(t, "session reply.multi")
	if got, want := time.Duration(c.session.validUntil), c.now+7500*time.Millisecond; got != want {
		t.Errorf("belief lasts until %s, want %s", got, want)
	}
}

// checks returns the directories of the nodes that heartbeats in an answer check.
func checks(answer string) (dirs []string) {
	for _, r := range requests(answer) {
		if path, found := strings.CutPrefix(r, "multi {check "); found {
			dirs = append(dirs, path[:strings.LastIndex(path, "/")])
		}
	}
	return dirs
}

// A sync of an idle client confirms nothing, and if its answer comes after a silence, no request counts that is sent
// before the leader has settled.
func TestASyncWhileIdleConfirmsNothing(t *testing.T) {
	c := newConversation(t, newCoverage())
	for _, answer := range []string{
		c.play(t, "connected idleFor=2", "at 3750ms", "session timer.fired name=idle", "session reply.sync"),
		c.play(t, "at 7500ms", "session timer.fired name=idle", "at 12s", "session reply.sync sent=4500ms"),
	} {
		if strings.Contains(answer, "valid until") || !strings.Contains(answer, "reply.sync") {
			t.Errorf("a sync is answered: %s", answer)
		}
	}
	s := &session{idleSync: 3}
	s.timing, s.heard = timing{timeout: 15 * time.Second, tick: 2 * time.Second, syncLimit: 5}, 1
	late := events.Event{Kind: events.ReplySync, Code: events.OK, Request: 3, At: int64(6 * time.Second),
		SentAt: int64(time.Second)}
	if !s.idleUncounted(late) {
		t.Fatal("a silence of 6 s is none")
	}
	s.settleIdle(late, nil)
	next := events.Event{Kind: events.ReplyMulti, Code: events.OK, At: late.At + 2, SentAt: late.At + 1}
	if !s.uncounted(next) {
		t.Error("what is sent just after a silence counts")
	}
}
