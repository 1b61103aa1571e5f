package play

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
)

// The limits that a page gets are those at which a link is refused.
func TestTheLimitsOfTheCatalogue(t *testing.T) {
	limits := NewCatalogue().Limits
	const head = "1;latch;usual;3;7;"
	for _, over := range []int{0, 1} {
		_, err := ParseLink(head + strings.Repeat("x", limits.LinkBytes-len(head)+over))
		if refused := err != nil && strings.Contains(err.Error(), "bytes: want at most"); refused != (over > 0) {
			t.Errorf("%d bytes more than %d: %v", over, limits.LinkBytes, err)
		}
	}
	if limits.Until != micros(MaxUntil) || limits.Seed != MaxSeed || limits.Deeds != MaxDeeds ||
		limits.Participants != len(names) ||
		limits.Records != MaxRecords {
		t.Errorf("%+v", limits)
	}
}

// What is done to the ensemble is done to nobody in particular.
func TestADeedWithATargetThatItHasNot(t *testing.T) {
	s, err := ParseLink("1;latch;usual;3;7")
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"": "", "alice": `depose has no target, and not "alice"`} {
		err := s.checkDeed(Deed{Mark: Done, Verb: "depose", Target: target, For: time.Second},
			scenarioNamed(s.Scenario))
		if text := errorText(err); text != want {
			t.Errorf("the target %q: %q, want %q", target, text, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A node's name is shown without the GUID in it, and whole if it has none.
func TestShort(t *testing.T) {
	for path, want := range map[string]string{
		"/line/n-0000000001": "n-0000000001", "n": "n",
		"/line/_c_00000000-0000-4000-8000-000000000001-latch-0000000001": "…latch-0000000001",
	} {
		if got := short(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// Two worlds differ from the first record on that one of them has otherwise, or does not have.
func TestWhereTwoWorldsDiffer(t *testing.T) {
	record := func(seq uint64, after time.Duration) events.Record {
		return events.Record{Seq: seq, Machine: "m", Event: events.Event{At: int64(world.Epoch) + int64(after)}}
	}
	one, two, late := record(1, time.Second), record(2, 2*time.Second), record(2, 3*time.Second)
	at := func(after time.Duration) int64 { return sinceEpoch(int64(after)) }
	for name, c := range map[string]struct {
		now, before []events.Record
		want        Part
	}{
		"the same":         {[]events.Record{one, two}, []events.Record{one, two}, Part{"a", 0, 0}},
		"another":          {[]events.Record{one, two}, []events.Record{one, late}, Part{"a", at(2 * time.Second), 2}},
		"another before":   {[]events.Record{one, late}, []events.Record{one, two}, Part{"a", at(2 * time.Second), 2}},
		"one more":         {[]events.Record{one, two}, []events.Record{one}, Part{"a", at(2 * time.Second), 2}},
		"one fewer":        {[]events.Record{one}, []events.Record{one, two}, Part{"a", at(2 * time.Second), 0}},
		"none, and before": {nil, []events.Record{one}, Part{"a", at(time.Second), 0}},
		"none at all":      {nil, nil, Part{"a", 0, 0}},
	} {
		if got := parts("a", c.now, c.before); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Every participant has a session of its own. Only the leader has a token, and may believe; its session has created
// its node.
func TestHowParticipantsStand(t *testing.T) {
	l := Lesson{Link: "1;latch;usual;3;7@7"}
	a := ask(t, new(Host), Request{Link: l.Link})
	p := &played{t, l, a}
	sessions, leaders := map[string]bool{}, 0
	for _, one := range a.Participants {
		sessions[one.Session] = true
		if p.creates(one.Session) == 0 {
			t.Errorf("the session %q of %s has created nothing", one.Session, one.Name)
		}
		if one.Holds {
			leaders++
		}
		if (one.Token != "") != one.Holds || (one.May > a.Now) != one.Holds {
			t.Errorf("%s leads: %t, with the token %q until %d", one.Name, one.Holds, one.Token, one.May)
		}
	}
	if len(sessions) != len(a.Participants) || leaders != 1 {
		t.Errorf("%d participants have %d sessions, and %d lead", len(a.Participants), len(sessions), leaders)
	}
}

// A new deadline is checked, too: with it, a member may believe again in a shard that another has by now.
func TestANewDeadlineIsCheckedAgainstOwners(t *testing.T) {
	s, err := ParseLink("1;shards;usual;2;7@20")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRun(s, s.Until)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.until(s, s.Until); err != nil {
		t.Fatal(err)
	}
	p := r.promises
	own, other := p.owns[0], p.owns[len(p.owns)-1]
	if own.c == other.c || !own.believes() || !other.believes() || len(p.broken) > 0 {
		t.Fatalf("%s and %s own shards, and %v", r.name(own.c), r.name(other.c), p.broken)
	}
	if p.published(own.c); len(p.broken) > 0 {
		t.Errorf("each has its own: %v", p.broken)
	}
	p.owns = append(p.owns, &belief{c: other.c, path: other.path, token: other.token, session: other.session,
		shard: own.shard})
	if p.published(own.c); len(p.broken) != 1 || p.broken[0].promise != oneOwner {
		t.Errorf("two own shard %d: %v", own.shard, p.broken)
	}
}
