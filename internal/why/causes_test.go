package why

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/effects"
)

type causeCase struct {
	name string
	want Cause
	play func(*scene)
}

// causes has a log for each cause that one log shows, and for those that it may be taken for.
var causes = []causeCase{
	{"cut off", CauseKilled, func(s *scene) { s.write(9, 150, 200) }},
	{"ended with its client", CauseClosed, func(s *scene) { s.end = &events.End{Why: events.EndClosed} }},
	{"the next segment is missing", CauseGap, func(s *scene) { s.end = &events.End{Why: events.EndRotated} }},
	{"a dump", CauseGap, func(s *scene) { s.end, s.dump = &events.End{Why: "SIGUSR1"}, "SIGUSR1" }},
	{"closed", CauseClosed, func(s *scene) { s.stop(1, 200, events.CommandClose) }},
	{"resigned", CauseResigned, func(s *scene) { s.stop(1, 200, events.CommandResign) }},
	{"returned", CauseReturned, func(s *scene) { s.stop(1, 200, events.WorkReturned) }},
	{"revoked", CauseRevoked, func(s *scene) {
		s.ends(events.Event{Kind: events.WorkReturned, At: 200}, events.ReasonRevoked)
	}},
	{"disabled", CauseDisabled, func(s *scene) {
		s.ends(events.Event{Kind: events.HealthChecked, At: 200, Code: events.JobDisabled}, events.ReasonDisabled)
	}},
	{"job without a configuration", CauseCannotDeal, func(s *scene) {
		s.ends(events.Event{Kind: events.HealthChecked, At: 200, Code: events.JobConfig}, events.ReasonCannotDeal)
	}},
	{"unhealthy", CauseUnhealthy, func(s *scene) { s.stop(1, 200, events.HealthChecked) }},
	{"changed", CauseChanged, func(s *scene) { s.stop(1, 200, events.WatchChanged) }},
	{"deleted, and the session went on", CauseDeleted, func(s *scene) {
		s.stop(1, 200, events.WatchDeleted)
		s.write(9, 300, 310)
	}},
	{"deleted with the session", CauseSessionExpired, func(s *scene) {
		s.stop(1, 200, events.WatchDeleted)
		s.lost(300, events.SessionExpired)
	}},

	{"closed by the server", CauseConnectionClosed, func(s *scene) { s.drop(800, events.ConnectionEndClosed) }},
	{"broken", CauseConnectionBroken, func(s *scene) { s.drop(800, events.ConnectionEndNetwork) }},
	{"silent", CauseSilent, func(s *scene) { s.drop(800, events.ConnectionEndSilent) }},
	{"unanswered", CauseServerCutOff, func(s *scene) { s.drop(800, events.ConnectionEndUnanswered) }},
	{"refused in the handshake", CauseRefused, func(s *scene) { s.drop(800, events.ConnectionEndRefused) }},
	{"its own end of the session", CauseSessionEnded, func(s *scene) {
		s.session(events.Event{Kind: events.CommandEndSession, At: 800}, "connected", "suspended")
		s.stop(1, 800, events.ConnectionSuspended)
		s.caused()
	}},
	{"closed, and over too early", CauseSessionExpired, func(s *scene) {
		s.write(9, 150, 200)
		s.drop(800, events.ConnectionEndClosed)
		s.lost(900, events.SessionExpired)
	}},
	{"closed, and over in time", CauseConnectionClosed, func(s *scene) {
		s.write(9, 150, 200)
		s.drop(800, events.ConnectionEndClosed)
		s.lost(6000, events.SessionExpired)
	}},
	{"over although connected", CauseSessionExpired, func(s *scene) { s.over(900, events.SessionExpired) }},
	{"refused as it reconnected", CauseSessionRefused, func(s *scene) {
		s.session(events.Event{Kind: events.ConnectionSuspended, At: 300, End: events.ConnectionEndClosed},
			"connected", "suspended")
		s.over(900, events.SessionExpired)
	}},
	{"credentials refused", CauseNoRights, func(s *scene) { s.over(900, events.AuthFailed) }},
	{"over with its client", CauseClosed, func(s *scene) { s.over(900, events.Closed) }},

	{"over too early, and the wall clock went ahead", CauseClockJump, func(s *scene) {
		s.write(9, 150, 200)
		s.note(clockNote(800, 5000, 0))
		s.drop(800, events.ConnectionEndClosed)
		s.lost(900, events.SessionExpired)
	}},
	{"over too early, and the wall clock was set back", CauseSessionExpired, func(s *scene) {
		s.write(9, 150, 200)
		s.note(clockNote(800, -5000, 0))
		s.drop(800, events.ConnectionEndClosed)
		s.lost(900, events.SessionExpired)
	}},
	{"over too early, and the wall clock had been set before", CauseSessionExpired, func(s *scene) {
		s.note(clockNote(120, 5000, 0))
		s.write(9, 150, 200)
		s.drop(800, events.ConnectionEndClosed)
		s.lost(900, events.SessionExpired)
	}},
	{"over in time, and the wall clock went ahead", CauseConnectionClosed, func(s *scene) {
		s.write(9, 150, 200)
		s.note(clockNote(800, 5000, 0))
		s.drop(800, events.ConnectionEndClosed)
		s.lost(6000, events.SessionExpired)
	}},

	{"rode an outage out up to its deadline", CauseSilent, func(s *scene) { s.out(500); s.unconfirmed(1100, 0) }},
	{"rode an outage out that was over", CauseUnconfirmed, func(s *scene) {
		s.out(500)
		s.back(600)
		s.unconfirmed(1100, 0)
	}},

	{"paused", CausePaused, func(s *scene) { s.unconfirmed(3000, 2000) }},
	{"paused and late", CausePaused, func(s *scene) { s.note(lateNote(3000, 2000)); s.unconfirmed(3000, 2000) }},
	{"slept", CauseSlept, func(s *scene) { s.note(clockNote(3000, 0, 2000)); s.unconfirmed(3000, 2000) }},
	{"slept another time", CausePaused, func(s *scene) {
		s.note(clockNote(-5000, 0, 2000))
		s.unconfirmed(3000, 2000)
	}},
	{"late", CauseSlowLoop, func(s *scene) { s.note(lateNote(3000, 2000)); s.unconfirmed(3000, 0) }},
	{"late another time", CauseUnconfirmed, func(s *scene) {
		s.note(lateNote(110, 2000))
		s.session(events.Event{Kind: events.TimerFired, At: 110}, "connected", "connected")
		s.records[len(s.records)-1].Event.At = -5000 * ms
		s.unconfirmed(3000, 0)
	}},
	{"not confirmed", CauseUnconfirmed, func(s *scene) { s.unconfirmed(3000, 0) }},
	{"a check that was refused", CauseNoRights, func(s *scene) {
		s.session(events.Event{Kind: events.ReplyMulti, At: 900, SentAt: 890, Code: events.NoAuth},
			"connected", "connected")
		s.unconfirmed(3000, 0)
	}},
	{"a check that was refused before the last one", CauseUnconfirmed, func(s *scene) {
		s.session(events.Event{Kind: events.ReplyMulti, At: 150, SentAt: 140, Code: events.NoAuth},
			"connected", "connected")
		s.add(events.SessionMachine, events.Event{Kind: events.ReplyMulti, At: 160, SentAt: 155, Session: 1, Zxid: 9},
			"connected", "connected", "valid until 1.1s")
		s.unconfirmed(3000, 0)
	}},
	{"a slow answer", CauseSlowEnsemble, func(s *scene) { s.write(9, 150, 2500); s.unconfirmed(3000, 0) }},

	{"node gone", CauseDeleted, func(s *scene) {
		s.ends(events.Event{Kind: events.ReplyStat, At: 200, Code: events.NoNode}, events.ReasonNodeGone)
	}},
	{"node forbidden", CauseNoRights, func(s *scene) {
		s.ends(events.Event{Kind: events.ReplyStat, At: 200, Code: events.NoAuth}, events.ReasonUnreadable)
	}},
	{"node too large", CauseTooLarge, func(s *scene) {
		s.ends(events.Event{Kind: events.ReplyStat, At: 200, Code: events.TooLarge}, events.ReasonUnreadable)
	}},
	{"node refused", CauseRefused, func(s *scene) {
		s.ends(events.Event{Kind: events.ReplyStat, At: 200, Code: events.ServerError}, events.ReasonUnreadable)
	}},
	{"a reason of another version", CauseUnknown, func(s *scene) {
		s.ends(events.Event{Kind: events.ReplyStat, At: 200}, "bewitched")
	}},
}

func TestCausesAreToldApart(t *testing.T) {
	for _, c := range causes {
		s := newScene()
		c.play(s)
		l := s.read(t, "a")
		var next *Term
		if l.terms[0].Open() {
			next = newCrafted(2, 4300).read(t, "b").terms[0]
		}
		logs := []*Log{l}
		if next != nil {
			logs = append(logs, next.Log)
		}
		if e := newHistory(logs, nil, defaultDrift).endingOf(l.terms[0], next); e.Cause != c.want || e.Text == "" {
			t.Errorf("%s: %s (%s), want %s", c.name, e.Cause, e.Text, c.want)
		}
	}
}

// causesElsewhere are distinguished by other tests.
var causesElsewhere = map[Cause]string{
	CauseEvicted: "test/servers/incidents, eviction", CauseLeads: "TestALogThatEndsInATerm",
	CauseGivenUp: "TestTroubles", CauseForgottenRelease: "test/servers/incidents, forgotten-release",
	CauseBlocked: "TestTroubles",
	CauseMoved:   "TestEachChangeOfAShardsOwnerHasItsCause", CauseReassigned: "TestEachChangeOfAShardsOwnerHasItsCause",
	CauseWrongClock: "test/servers/incidents, clock-ahead-and-silent-link",
}

// Every cause has a test and a line in the runbook.
func TestEveryCauseIsKnown(t *testing.T) {
	source, err := os.ReadFile("cause.go")
	if err != nil {
		t.Fatal(err)
	}
	runbook, err := os.ReadFile("../../docs/on-call.md")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`Cause = "([a-z-]+)"`).FindAllSubmatch(source, -1)
	if len(all) < 30 {
		t.Fatalf("%d causes", len(all))
	}
	for _, m := range all {
		cause := Cause(m[1])
		tested := slices.ContainsFunc(causes, func(c causeCase) bool { return c.want == cause })
		if _, elsewhere := causesElsewhere[cause]; !tested && !elsewhere {
			t.Errorf("no test has the cause %s", cause)
		}
		if !strings.Contains(string(runbook), "`"+string(cause)+"`") {
			t.Errorf("docs/on-call.md does not have the cause %s", cause)
		}
	}
}

// A log that ends in a term, whose node nothing shows to be gone: the participant leads on.
func TestALogThatEndsInATerm(t *testing.T) {
	s := newScene()
	s.write(9, 150, 200)
	l := s.read(t, "a")
	if e := newHistory([]*Log{l}, nil, defaultDrift).endingOf(l.terms[0], nil); e.Cause != CauseLeads {
		t.Errorf("%s: %s", e.Cause, e.Text)
	}
}

// What keeps participants from leading has a code, also if nobody leads at all.
func TestTroubles(t *testing.T) {
	var records []events.Record
	add := func(ev events.Event, row, effect string) {
		ev.At = int64(len(records)) * ms
		records = append(records, events.Record{Seq: uint64(len(records) + 1), Machine: "latch-1", Event: ev,
			Row: row, From: "waiting", To: "waiting", Effects: effects.Of(effect)})
	}
	add(events.Event{Kind: events.CommandOpen, Recipe: "latch", Path: "/l", Data: []byte("bob")}, "command.open",
		"entered latent")
	add(events.Event{Kind: events.ReplyChildren}, "reply.children [failed]", `notify failed NOAUTH "/l"`)
	add(events.Event{Kind: events.TimerFired}, "timer.fired > [hasNode]",
		`notify failed CONNECTIONLOSS "the place is given up: in words only"`)
	add(events.Event{Kind: events.TimerFired}, "timer.fired > [unusable]",
		`notify failed NOAUTH "the place is given up: /l"`)
	add(events.Event{Kind: events.ReplyStat}, "reply.stat [persistent]", `notify failed PERSISTENTNODE "/l/x"`)
	add(events.Event{Kind: events.ReplyChildren}, "reply.children [failed]", `notify failed TOOLARGE "/l"`)
	add(events.Event{Kind: events.HealthChecked}, "health.checked [failed]",
		`notify failed UNHEALTHY "the disk is full"`)
	l, err := Read("b", events.Header{}, &each{records})
	if err != nil {
		t.Fatal(err)
	}
	r := Explain([]*Log{l}, nil, Options{Path: "/l"})
	var got []Cause
	for _, trouble := range r.Troubles {
		got = append(got, trouble.Cause)
	}
	if want := []Cause{CauseNoRights, CauseGivenUp, CauseBlocked, CauseTooLarge, CauseUnhealthy}; !slices.Equal(got,
		want) {
		t.Errorf("%q, want %q", got, want)
	}
	text := strings.Join(r.Lines(true), "\n")
	for _, want := range []string{"b could not lead: NOAUTH /l [b:2]",
		"b gave its place up and queued again, because it could not use it: NOAUTH /l [b:4]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	facts := 0
	for _, f := range r.Facts() {
		if f.Type == "trouble" && f.Participant == "bob" && f.Code != "" {
			facts++
		}
	}
	if facts != 5 {
		t.Errorf("%d facts", facts)
	}
	if r := Explain([]*Log{l}, nil, Options{Path: "/other"}); len(r.Troubles) != 0 {
		t.Errorf("%+v", r.Troubles)
	}
}

// Notes reach the log through every reader of this module.
func TestNotesAreRead(t *testing.T) {
	var file strings.Builder
	w, err := events.NewWriter(&file, events.Header{Run: strings.Repeat("0", 32), Segment: 1})
	if err != nil {
		t.Fatal(err)
	}
	write := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	write(w.WriteNote(clockNote(5, 20, 30)))
	write(w.WriteNote(lateNote(6, 200)))
	write(w.Write(events.Record{Seq: 1, Machine: "session", Event: events.Event{Kind: events.TimerFired, At: 6 * ms},
		Row: "timer.fired"}))
	write(w.WriteEnd(events.EndClosed))
	write(w.Flush())
	r, err := events.NewReader(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	files := []io.Reader{strings.NewReader(file.String())}
	s, err := events.NewSegments(func() (string, io.Reader, error) {
		if len(files) == 0 {
			return "", nil, io.EOF
		}
		next := files[0]
		files = nil
		return "one", next, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	s.Notes = func(events.Note) { others++ }
	for name, reader := range map[string]Reader{"reader": r, "segments": s} {
		l, err := Read("a", events.Header{}, reader)
		if err != nil || len(l.jumps) != 1 || l.jumps[0].slept != 30*time.Millisecond ||
			l.jumps[0].by != 20*time.Millisecond || len(l.lateness) != 1 || l.lastLine == nil {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	if others < 2 {
		t.Errorf("the reader's own function got %d notes", others)
	}
}
