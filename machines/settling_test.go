package machines

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// answer is an answer to a session machine: when it comes, and when its request was sent.
type answer struct {
	kind     events.Kind // reply.multi, or connection.attached for a handshake
	sent, at time.Duration
}

// A leader that was paused commits waiting writes before it looks at its sessions. So belief begins
// only with an answer from after it had the reports of its followers. And an answer of a leader that
// was not paused is never taken for one of a leader that was.
func TestAnswersOfALeaderThatWasPausedDoNotCount(t *testing.T) {
	const ms = time.Millisecond
	write, handshake := events.ReplyMulti, events.ConnectionAttached
	for _, c := range []struct {
		name      string
		timeout   time.Duration
		observers string
		answers   []answer
		from      time.Duration // when the request was sent on which belief depends in the end; 0: there is no belief
	}{
		{"no rest", 15 * time.Second, "", []answer{{write, 0, 5 * ms}, {write, 4 * time.Second, 5 * time.Second}},
			4 * time.Second},
		{"a rest of more than a third", 15 * time.Second, "",
			[]answer{{write, 0, 0}, {write, 4 * time.Second, 5*time.Second + ms}}, 0},
		{"the second answer comes at once", 15 * time.Second, "",
			[]answer{{write, 0, 0}, {write, 4 * time.Second, 6 * time.Second},
				{write, 6 * time.Second, 6*time.Second + ms}}, 0},
		{"asked for just before a tick has gone by", 15 * time.Second, "",
			[]answer{{write, 0, 0}, {write, 6 * time.Second, 6 * time.Second},
				{write, 8*time.Second - ms, 8*time.Second + ms}}, 0},
		{"asked for a tick later", 15 * time.Second, "",
			[]answer{{write, 0, 0}, {write, 6 * time.Second, 6 * time.Second},
				{write, 8 * time.Second, 8*time.Second + ms}}, 8 * time.Second},
		{"a tick is too short behind observer masters", 15 * time.Second, "true",
			[]answer{{write, 0, 0}, {write, 6 * time.Second, 6 * time.Second},
				{write, 8 * time.Second, 8*time.Second + ms}}, 0},
		{"one and a half are not", 15 * time.Second, "true",
			[]answer{{write, 0, 0}, {write, 6 * time.Second, 6 * time.Second},
				{write, 9 * time.Second, 9*time.Second + ms}}, 9 * time.Second},
		{"a second rest", 15 * time.Second, "", []answer{{write, 0, 0}, {write, 6 * time.Second, 6 * time.Second},
			{write, 8 * time.Second, 12 * time.Second}, {write, 12 * time.Second, 12 * time.Second}}, 0},
		{"a handshake ends the rest", 15 * time.Second, "", []answer{{write, 0, 0}, {handshake, 0, 60 * time.Second},
			{write, 60 * time.Second, 60*time.Second + ms}}, 60 * time.Second},
		{"a handshake while it settles", 15 * time.Second, "",
			[]answer{{write, 0, 0}, {write, 6 * time.Second, 6 * time.Second}, {handshake, 0, 7 * time.Second},
				{write, 7 * time.Second, 7*time.Second + ms}}, 7 * time.Second},
		{"a rest after a handshake", 15 * time.Second, "",
			[]answer{{handshake, 0, 60 * time.Second}, {write, 66 * time.Second, 66 * time.Second}}, 0},
		{"a period is shorter than a tick", 4 * time.Second, "",
			[]answer{{write, 0, 0}, {write, 4 * time.Second, 4 * time.Second},
				{write, 5 * time.Second, 5 * time.Second}, {write, 6 * time.Second, 6 * time.Second}}, 6 * time.Second},
	} {
		got, s := hear(c.timeout, c.observers, c.answers)
		if want := int64(c.from); c.from == 0 && got != 0 ||
			c.from != 0 && got != start+want+int64(s.beliefSpan(start+want, 0)) {
			t.Errorf("%s: belief lasts until %s, want it to depend on the request that was sent at %s", c.name,
				time.Duration(got-start), c.from)
		}
	}
}

const start = int64(time.Hour)

// hear feeds answers to a session machine that sends heartbeats, and returns the deadline of belief
// after the last.
func hear(timeout time.Duration, observers string, answers []answer) (until int64, s *session) {
	e := engine.New(false, SessionRecipe.With(func(open events.Event) (*session, error) {
		made, err := newSession(open)
		s = made
		return made, err
	}))
	feed := func(at time.Duration, ev events.Event) {
		if ev.At = start + int64(at); s != nil {
			ev.Session = s.number
		}
		e.Step(events.Envelope{To: events.SessionMachine, Event: ev})
	}
	attach := events.Event{Kind: events.ConnectionAttached, SessionID: 7, Timeout: int64(timeout)}
	open := events.Event{Kind: events.CommandOpen, Recipe: "session", Options: map[string]string{"tick": "2s"}}
	if observers != "" {
		open.Options["observerMasters"] = observers
	}
	feed(0, open)
	feed(0, events.Event{Kind: events.CommandStart, Request: 1})
	feed(0, attach)
	feed(0, events.Event{Kind: events.HeartbeatWanted, Name: "latch", Path: "/l/a"})
	for _, a := range answers {
		if a.kind == events.ConnectionAttached {
			feed(a.at, events.Event{Kind: events.ConnectionSuspended})
			feed(a.at, attach)
			continue
		}
		feed(a.at, events.Event{Kind: events.ConnectionConfirmed, SentAt: start + int64(a.sent)})
	}
	last := answers[len(answers)-1]
	ev := events.Event{At: start + int64(last.at)}
	s.Stamp(&ev)
	if ev.ValidUntil <= ev.At || s.confirmed != start+int64(last.sent) {
		return 0, s
	}
	return ev.ValidUntil, s
}
