package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// conversation is a run with everything in it: several machines, tells, answers,
// late ones, lost sessions, the end of a machine.
func conversation() *scene {
	s := newScene("a", "b", "c")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
	s.feed("b", events.Event{Kind: events.CommandStart, Request: 3})
	s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1, Session: 1, SentAt: 5, Zxid: 9, Path: "/n1"})
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 4}) // gossips
	s.feed("b", events.Event{Kind: events.ReplyCreate, Request: 1, Session: 1, Code: events.NodeExists})
	s.feed("b", events.Event{Kind: events.TimerFired, Request: 3})
	s.feed("b", events.Event{Kind: events.ReplyStat, Request: 2, Session: 1})
	s.feed(events.SessionMachine, events.Event{Kind: events.ConnectionSuspended})
	s.feed(events.SessionMachine, events.Event{Kind: events.ConnectionLost})
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 5})
	s.feed("a", events.Event{Kind: events.WatchDeleted, Path: "/n1", Session: 1})
	s.feed("c", events.Event{Kind: events.CommandClose, Request: 6})
	s.feed("c", events.Event{Kind: events.CommandAwait, Request: 7})
	s.feed(events.All, events.Event{Kind: events.ConnectionLost, Session: 2})
	return s
}

// Promise 13: the same envelopes give the same effects and records.
func TestEngineIsPure(t *testing.T) {
	first, second := conversation(), conversation()
	want(t, "effects", strings.Join(second.did, "\n"), strings.Join(first.did, "\n"))
	want(t, "records", string(second.log(t)), string(first.log(t)))
	if len(first.did) < 10 || len(first.records) < 25 {
		t.Errorf("the conversation is too short: %d effects, %d records", len(first.did), len(first.records))
	}
}

// Recording must not change what happens.
func TestRecordingChangesNothing(t *testing.T) {
	s := conversation()
	quiet := New(false, toys...)
	var did []string
	for _, r := range s.records {
		if !r.Internal {
			for _, a := range quiet.Step(events.Envelope{To: r.Machine, Event: r.Event}) {
				did = append(did, fmt.Sprintf("%s: %s", a.From, a.Effect))
			}
		}
		if len(quiet.Records()) != 0 {
			t.Fatal("an engine without recording has records")
		}
	}
	// All is one envelope in the conversation and one for each machine here.
	want(t, "effects", strings.Join(did, "\n"), strings.Join(s.did, "\n"))
}

func TestSeqHasNoGaps(t *testing.T) {
	for i, r := range conversation().records {
		if r.Seq != uint64(i+1) {
			t.Fatalf("record %d has seq %d", i+1, r.Seq)
		}
	}
}

// Tell goes to the teller as well as to others, and All means every machine but
// the session's, in order of creation.
func TestTellReachesItsMachinesInOrder(t *testing.T) {
	s := newScene("b", "a", "c")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
	mark := len(s.records)
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 3}) // gossips
	var got []string
	for _, r := range s.records[mark:] {
		got = append(got, fmt.Sprintf("%d %s %s told=%v cause=%d", r.Seq-s.records[mark].Seq, r.Machine, r.Event.Text,
			r.Internal, r.Cause))
	}
	seq := s.records[mark].Seq
	want(t, "records", strings.Join(got, "\n"), strings.Join([]string{
		"0 a  told=false cause=0",
		fmt.Sprintf("1 a to myself told=true cause=%d", seq),
		fmt.Sprintf("2 b to all told=true cause=%d", seq),
		fmt.Sprintf("3 a to all told=true cause=%d", seq),
		fmt.Sprintf("4 c to all told=true cause=%d", seq),
	}, "\n"))
	want(t, "clock of what was told", model(s, "c").seen[0].At, s.now)
}

func TestToldEventsAreNoEffects(t *testing.T) {
	s := newScene("a")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
	want(t, "effects", s.feed("a", events.Event{Kind: events.CommandStart, Request: 3}), "a: answer 3 ok")
	last := s.records[len(s.records)-3]
	want(t, "recorded effects", last.Effects.Strings(),
		[]string{"tell a work.returned", "tell * work.returned", "answer 3 ok"})
}

func TestUnknownMachines(t *testing.T) {
	s := newScene()
	for _, kind := range []events.Kind{events.CommandStart, events.CommandAwait, events.CommandResign,
		events.CommandRequeue, events.CommandClose} {
		want(t, "effect of "+string(kind), s.feed("nobody", events.Event{Kind: kind, Request: 9}),
			"nobody: answer 9 CLOSED")
	}
	for _, kind := range []events.Kind{events.ReplyCreate, events.WatchDeleted, events.TimerFired, events.WorkReturned,
		events.CommandCancel} {
		want(t, "effect of "+string(kind), s.feed("nobody", events.Event{Kind: kind, Request: 9}), "")
		want(t, "row of "+string(kind), s.records[len(s.records)-1].Row, events.RowUnknown)
	}
}

func TestClosedMachinesAreForgotten(t *testing.T) {
	s := newScene("a", "b")
	want(t, "effects", s.feed("a", events.Event{Kind: events.CommandClose, Request: 2}),
		"a: answer 2 ok\na: entered over")
	want(t, "machines", s.Machines(), []events.ID{events.SessionMachine, "b"})
	want(t, "state", s.State("a"), "")
	want(t, "a second close", s.feed("a", events.Event{Kind: events.CommandClose, Request: 3}), "a: answer 3 CLOSED")
	s.feed("a", events.Event{Kind: events.CommandOpen, Recipe: "worker"})
	want(t, "machines after the name is used again", s.Machines(), []events.ID{events.SessionMachine, "b", "a"})
}

func TestOpenIsRefused(t *testing.T) {
	s := newScene("a")
	for name, ev := range map[string]events.Event{
		`no recipe "lach" in this engine`: {Kind: events.CommandOpen, Recipe: "lach", Request: 5},
		"bad seed":                        {Kind: events.CommandOpen, Recipe: "worker", Seed: "bad", Request: 5},
	} {
		want(t, "effects", s.feed("x", ev), fmt.Sprintf("x: answer 5 NOTOPENED %q", name))
	}
	want(t, "effects", s.feed("a", events.Event{Kind: events.CommandOpen, Recipe: "worker", Request: 6}),
		`a: answer 6 NOTSENT "machine a exists already"`)
	want(t, "machines", s.Machines(), []events.ID{events.SessionMachine, "a"})
}

// Promise 9: nothing crosses sessions.
func TestOldSessionsChangeNothing(t *testing.T) {
	s := newScene("a")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
	s.feed(events.SessionMachine, events.Event{Kind: events.ConnectionLost})
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 3})
	for _, ev := range []events.Event{
		{Kind: events.ReplyCreate, Request: 1, Session: 1},
		{Kind: events.ReplyStat, Request: 2, Session: 1},
		{Kind: events.ReplyStat, Request: 2, Session: 3},
		{Kind: events.WatchDeleted, Path: "/n", Session: 1},
	} {
		s.feed("a", ev)
		want(t, "row of "+string(ev.Kind), s.records[len(s.records)-1].Row, events.RowLate)
		want(t, "state", s.State("a"), asking)
	}
	want(t, "seen", len(model(s, "a").seen), 1)
	want(t, "still owed, though answered", len(s.machines["a"].pending.open), 1) // the timer
}

func TestWatchesOnOtherNodesAreLate(t *testing.T) {
	s := newScene()
	s.feed("a", events.Event{Kind: events.CommandOpen, Recipe: "worker", Path: "/mine"})
	s.feed("a", events.Event{Kind: events.WatchDeleted, Path: "/other"})
	want(t, "row", s.records[len(s.records)-1].Row, events.RowLate)
	s.feed("a", events.Event{Kind: events.WatchDeleted, Path: "/mine"})
	want(t, "row", s.records[len(s.records)-1].Row, events.RowIgnored)
}

// The session machine hears of a committed write before the machine that asked
// for it, so that the reply is seen under the new deadline.
func TestConfirmationIsToldBeforeTheReply(t *testing.T) {
	s := newScene("a")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
	asked := s.records[len(s.records)-1].Seq
	mark := len(s.records)
	got := s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1, Session: 1, SentAt: 40, Zxid: 9})
	want(t, "effects", got, "session: valid until 140ns\na: stop timer #3\na: entered holding")
	r := s.records[mark:]
	want(t, "order", []any{r[0].Machine, r[0].Event.Kind, r[0].Internal, r[1].Machine, r[1].Event.Kind, r[1].Internal},
		[]any{events.SessionMachine, events.ConnectionConfirmed, true, "a", events.ReplyCreate, false})
	want(t, "causes", []uint64{r[0].Cause, r[1].Cause}, []uint64{asked, asked})
	seen := model(s, "a").seen
	want(t, "deadline under which the reply was seen", seen[len(seen)-1].ValidUntil, 140)
	want(t, "session of the confirmation", r[0].Event.Session, 1)
}

func TestEventsAreStamped(t *testing.T) {
	s := newScene("a")
	// A log's own stamps are output: they must not come back in.
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2, Attached: false, ValidUntil: 77})
	seen := model(s, "a").seen[0]
	want(t, "stamps", []any{seen.Attached, seen.ValidUntil, seen.Session}, []any{true, 0, 1})
	s.feed("nobody", events.Event{Kind: events.WorkReturned, Attached: true, ValidUntil: 77})
	seen = s.records[len(s.records)-1].Event
	want(t, "stamps that nobody made", []any{seen.Attached, seen.ValidUntil}, []any{false, 0})
}

func TestCauseNamesTheRecordThatAsked(t *testing.T) {
	s := newScene("a")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
	asked := s.records[len(s.records)-1].Seq
	s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1, Code: events.NodeExists})
	s.feed("a", events.Event{Kind: events.ReplyStat, Request: 2})
	s.feed("a", events.Event{Kind: events.TimerFired, Request: 3})
	for _, r := range s.records[len(s.records)-3:] {
		want(t, "cause of "+string(r.Event.Kind), r.Cause, asked)
	}
	want(t, "timer's name", s.records[len(s.records)-1].Event.Name, "patience")
	want(t, "cause of what came from outside", s.records[0].Cause, 0)
}

// The session machine may be over while replies are still on their way.
func TestRepliesAfterTheSessionMachineIsOver(t *testing.T) {
	s := newScene("a")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandClose, Request: 3})
	got := s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1, Session: 1})
	want(t, "effects", got, "a: stop timer #3\na: entered holding")
}

// A command that a machine's chart does not declare is answered:
// without an answer its caller would wait without an end.
func TestACommandThatTheMachineDoesNotKnowIsAnswered(t *testing.T) {
	s := newScene("a")
	want(t, "effects", s.feed("a", events.Event{Kind: events.CommandRequeue, Request: 8}),
		`a: answer 8 NOTSENT "a worker knows no command.requeue"`)
	want(t, "row", s.records[len(s.records)-1].Row, events.RowRefused)
	want(t, "state", s.State("a"), ready)
	want(t, "a kind that is no command", s.feed("a", events.Event{Kind: events.HeartbeatUnneeded}), "")
}
