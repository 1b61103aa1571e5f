package engine

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// halfway is a conversation with two workers in the middle: one holds, one asks.
func halfway(t *testing.T) *scene {
	t.Helper()
	s := newScene("a", "b")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 1})
	s.feed("b", events.Event{Kind: events.CommandStart, Request: 2})
	s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1})
	return s
}

// rest plays the rest of a conversation.
func rest(s *scene) {
	s.feed("a", events.Event{Kind: events.ReplyStat, Request: 2})
	s.feed("b", events.Event{Kind: events.TimerFired, Request: 3})
	s.feed("b", events.Event{Kind: events.ReplyCreate, Request: 1, Code: events.NodeExists})
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 3})
	s.feed(events.SessionMachine, events.Event{Kind: events.ConnectionSuspended})
	s.feed("a", events.Event{Kind: events.CommandClose, Request: 4})
}

func text(t *testing.T, c Checkpoint) string {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func reread(t *testing.T, c Checkpoint) Checkpoint {
	t.Helper()
	read, err := ReadCheckpoint([][]byte{[]byte(text(t, c))}, toys...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text(t, c))
	}
	if !reflect.DeepEqual(c.machines, read.machines) || !reflect.DeepEqual(c.inOrder(), read.inOrder()) ||
		text(t, read) != text(t, c) {
		t.Errorf("the checkpoint\n%s\nis another after it was read\n%s", text(t, c), text(t, read))
	}
	return read
}

// after returns the records of a scene that follow a checkpoint.
func after(s *scene, c Checkpoint) func() (events.Record, error) {
	i := int(c.Seq())
	return func() (events.Record, error) {
		if i == len(s.records) {
			return events.Record{}, io.EOF
		}
		i++
		return s.records[i-1], nil
	}
}

func TestARestoredEngineGoesOn(t *testing.T) {
	s := halfway(t)
	c := s.Checkpoint()
	before := text(t, c)
	rest(s)
	want(t, "the checkpoint after the engine went on", text(t, c), before)
	c = reread(t, c)
	sum, err := ReplayFrom(c, after(s, c), 0, toys...)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "records", sum.Records, uint64(len(s.records))-c.Seq())
	want(t, "the state at the end", text(t, sum.Engine.Checkpoint()), text(t, s.Checkpoint()))
	again, err := c.Restore(false, toys...)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the checkpoint after a replay", text(t, again.Checkpoint()), before)
}

// A session machine that is closed still decides what is late.
func TestAClosedSessionIsInTheCheckpoint(t *testing.T) {
	s := halfway(t)
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandClose})
	c := reread(t, s.Checkpoint())
	s.feed("b", events.Event{Kind: events.ReplyStat, Request: 2, Session: 7})
	s.feed("b", events.Event{Kind: events.ReplyStat, Request: 2, Session: 1})
	want(t, "the first answer", s.records[c.Seq()].Row, events.RowLate)
	sum, err := ReplayFrom(c, after(s, c), 0, toys...)
	if err != nil || sum.Records != 2 {
		t.Errorf("%d records, %v", sum.Records, err)
	}
	want(t, "machines", sum.Engine.Machines(), []events.ID{"a", "b"})
	again := newScene() // another one takes its place
	again.feed(events.SessionMachine, events.Event{Kind: events.CommandClose})
	again.feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "link"})
	want(t, "machines of a second session", len(reread(t, again.Checkpoint()).machines), 1)
}

// A checkpoint that is copied machine by machine while the engine goes on is that of its
// beginning, whichever machines were stepped, opened or closed since.
func TestACheckpointIsOfItsBeginning(t *testing.T) {
	play := []func(*scene){
		func(s *scene) { s.feed("b", events.Event{Kind: events.ReplyStat, Request: 2, Session: 9}) }, // late
		func(s *scene) { s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1}) },
		func(s *scene) { s.feed("b", events.Event{Kind: events.TimerFired, Request: 3}) },
		func(s *scene) { s.feed("c", events.Event{Kind: events.CommandOpen, Recipe: "worker"}) },
		func(s *scene) { s.feed("a", events.Event{Kind: events.CommandClose, Request: 4}) },
		func(s *scene) { s.feed("a", events.Event{Kind: events.CommandOpen, Recipe: "worker"}) },
		func(s *scene) { s.feed(events.SessionMachine, events.Event{Kind: events.ConnectionSuspended}) },
		func(s *scene) { s.feed(events.SessionMachine, events.Event{Kind: events.CommandClose}) },
	}
	for pause := range len(play) { // before which steps a machine is copied
		s := newScene("a", "b")
		s.feed("a", events.Event{Kind: events.CommandStart, Request: 1})
		s.feed("b", events.Event{Kind: events.CommandStart, Request: 2})
		before := text(t, s.Checkpoint())
		s.copying = s.beginCopy()
		for i, step := range play {
			if i >= pause {
				s.copySome(s.copying, 1)
			}
			step(s)
		}
		for !s.copySome(s.copying, 1) {
		}
		k := s.copying
		s.copying = nil
		want(t, "the checkpoint", text(t, k.Checkpoint), before)
		if text(t, s.Checkpoint()) == before {
			t.Error("nothing has changed since")
		}
	}
}

// A long checkpoint is in several texts, each with whole machines.
func TestACheckpointInParts(t *testing.T) {
	c := halfway(t).Checkpoint()
	for length, want := range map[int]int{1: 3, len(text(t, c)) * 2 / 5: 2, 1 << 20: 1} {
		parts, err := c.Parts(length)
		if err != nil || len(parts) != want {
			t.Fatalf("%d bytes: %d parts, want %d: %v", length, len(parts), want, err)
		}
		read, err := ReadCheckpoint(parts, toys...)
		if err != nil || !reflect.DeepEqual(read.machines, c.machines) || text(t, read) != text(t, c) {
			t.Errorf("%d bytes: %v", length, err)
		}
		for i := range parts {
			rest := slices.Delete(slices.Clone(parts), i, i+1)
			if _, err := ReadCheckpoint(rest, toys...); err == nil {
				t.Errorf("%d bytes: it is read without part %d", length, i+1)
			}
			if _, err := ReadCheckpoint(append(rest, parts[i], parts[i]), toys...); err == nil {
				t.Errorf("%d bytes: it is read with part %d twice", length, i+1)
			}
		}
	}
}

func TestTheEmptyCheckpoint(t *testing.T) {
	c := reread(t, New(true, toys...).Checkpoint())
	s := halfway(t)
	sum, err := ReplayFrom(c, after(s, c), 0, toys...)
	if err != nil || sum.Records != uint64(len(s.records)) {
		t.Errorf("%d records, %v", sum.Records, err)
	}
	want(t, "the written form", text(t, c), `{"engine":{"version":1},"machines":[]}`)
}

func TestReplayFromStopsAtASeq(t *testing.T) {
	s := halfway(t)
	c := s.Checkpoint()
	rest(s)
	sum, err := ReplayFrom(c, after(s, c), c.Seq()+1, toys...)
	if err != nil || sum.Records != 1 || sum.Engine.Checkpoint().Seq() != c.Seq()+1 {
		t.Errorf("%d records, seq %d, %v", sum.Records, sum.Engine.Checkpoint().Seq(), err)
	}
}

// A checkpoint may be the last of what is known.
func TestReplayFromTheEnd(t *testing.T) {
	s := halfway(t)
	c := s.Checkpoint()
	sum, err := ReplayFrom(c, after(s, c), 0, toys...)
	if err != nil || sum.Records != 0 || sum.Engine.Seq() != c.Seq() || s.Seq() != c.Seq() || c.Seq() == 0 {
		t.Errorf("%d records, %v; the seqs are %d, %d and %d", sum.Records, err, s.Seq(), sum.Engine.Seq(), c.Seq())
	}
}

func TestReplayFromRefusesOtherRecords(t *testing.T) {
	s := halfway(t)
	c := s.Checkpoint()
	rest(s)
	late := after(s, c)
	if _, err := late(); err != nil {
		t.Fatal(err)
	}
	var bad *BadCheckpointError
	if _, err := ReplayFrom(c, late, 0, toys...); !errors.As(err, &bad) ||
		!strings.Contains(err.Error(), "after the record 8, and is followed by 10") {
		t.Errorf("a record is missing: %v", err)
	}
	model(&scene{Engine: s.Engine}, "b").did = nil
	s.records[c.Seq()].Row = "another"
	var different *Divergence
	if _, err := ReplayFrom(c, after(s, c), 0, toys...); !errors.As(err, &different) || different.Seq != c.Seq()+1 {
		t.Errorf("a record is different: %v", err)
	}
}

// A machine that panics, as it can from a state that no events lead to, ends the replay with
// an error; so do machines that tell each other events without an end.
func TestReplayFromAStateThatCannotBe(t *testing.T) {
	c := halfway(t).Checkpoint()
	for text, r := range map[string]events.Record{
		"after 0 records, a machine panics: engine: chart worker: row": {Machine: "b",
			Event: events.Event{Kind: events.CommandResign, Request: 9}},
		"machines tell each other more than 202 events in one step": {Machine: "b",
			Event: events.Event{Kind: events.CommandStart, Request: 9, Text: "endlessly"}},
	} {
		r.Seq = c.Seq() + 1
		var bad *BadCheckpointError
		_, err := ReplayFrom(c, func() (events.Record, error) { return r, nil }, 0, toys...)
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

func TestCheckpointsOfOtherVersions(t *testing.T) {
	c := halfway(t).Checkpoint()
	other := workerTable()
	other.Rows = append(other.Rows[:len(other.Rows)-2:len(other.Rows)-2], other.Rows[len(other.Rows)-1],
		other.Rows[len(other.Rows)-2])
	other.Ignores[2].On = append(other.Ignores[2].On, events.QueueNext)
	other.Kinds = append(other.Kinds, events.QueueNext)
	changed := []Recipe{toys[0], NewRecipe(MustCompile(other), func(events.Event) (*worker, error) {
		return &worker{}, nil
	})}
	var chart *ChartChangedError
	for name, recipes := range map[string][]Recipe{"another chart": changed, "no chart": toys[:1]} {
		_, err := ReadCheckpoint([][]byte{[]byte(text(t, c))}, recipes...)
		_, restored := c.Restore(true, recipes...)
		if !errors.As(err, &chart) || !errors.As(restored, &chart) || chart.Chart != "worker" {
			t.Errorf("%s: %v, %v", name, err, restored)
		}
	}
	var fields *ModelChangedError
	text := strings.Replace(text(t, c), modelTypeOf(reflect.TypeFor[worker]()).digest, "0123456789abcdef", 1)
	if _, err := ReadCheckpoint([][]byte{[]byte(text)}, toys...); !errors.As(err, &fields) ||
		!strings.Contains(err.Error(), `"worker" have other fields now: the checkpoint has 0123456789abcdef`) {
		t.Errorf("%v", err)
	}
}

// A model that is no plain data is an error, no panic.
func TestCheckpointOfAModelThatIsNoData(t *testing.T) {
	e := New(true, NewRecipe(linkChart, func(events.Event) (*link, error) { return &link{}, nil }),
		&recipe{newSteppers(workerChart.compiled, modelTypeOf(reflect.TypeFor[struct{ f func() }]())),
			func(events.Event) (any, error) { return &worker{}, nil }})
	e.Step(events.Envelope{To: "w", Event: events.Event{Kind: events.CommandOpen, Recipe: "worker"}})
	c := e.Checkpoint()
	_, writes := json.Marshal(c)
	_, restores := c.Restore(true, toys...)
	for _, err := range []error{writes, restores} {
		if err == nil ||
			!strings.Contains(err.Error(), "is not plain data, so it has no checkpoint: f: func() is a func") {
			t.Errorf("%v", err)
		}
	}
}

func TestCheckpointsThatNobodyWroteAreRefused(t *testing.T) {
	s := halfway(t)
	c := s.Checkpoint()
	c.timers = []timer{{"b", 3, 1, 5, 7}, {"a", 3, 2, 5, 9}}
	s.feed("a", events.Event{Kind: events.CommandClose})
	good := text(t, c)
	if _, err := ReadCheckpoint([][]byte{[]byte(good)}, toys...); err == nil {
		t.Fatal("worker a's timer was stopped, and runs")
	}
	c.timers = c.timers[:1]
	good = text(t, reread(t, c))
	for _, x := range []struct{ old, new, want string }{
		{`"version":1`, `"version":2`, "its version is 2, and this program knows 1"},
		{`"machines":3`, `"machines":4`, "it has 3 machines, of 4"},
		{`{"name":"link"`, `{"name":"worker"`, "worker"},
		{`"state":"holding"`, `"state":"nowhere"`, `"a": no worker stays in the state "nowhere"`},
		{`"state":"holding"`, `"state":"over"`, `"a": the machine is closed`},
		{`"id":"b"`, `"id":"a"`, `"a": the machine is there twice`},
		{`"id":"b"`, `"id":"*"`, `"*": this is no machine's id`},
		{`"recipe":"link"`, `"recipe":"other"`, `its recipe "other" is not among those of the checkpoint`},
		{`"last":3`, `"last":1`, "the request 2 is pending, and the last is 1"},
		{`{"number":3,"what"`, `{"number":2,"what"`, "the request 2 is pending twice"},
		{`"what":"reply.stat"`, `"what":"work.returned"`, `no request is answered by "work.returned"`},
		{`"what":"reply.stat"`, `"what":"timer.fired"`, `no request is answered by "timer.fired"`},
		{`reply.stat","cause":5`, `reply.stat","cause":5,"mayCreate":true`, "the request 2 creates nothing"},
		{`,"what":"patience"`, ``, "the timer 3 has no name"},
		{`"timers":[{"machine":"b"`, `"timers":[{"machine":"c"`,
			`the timer 3 of "c" runs twice, or no machine awaits it`},
		{`"timers":[`, `"timers":[{"machine":"b","number":3,"at":6},`, `the timer 3 of "b" runs twice`},
		{`"model":{`, `"model":{"nothing":1,`, "model: the field nothing is unknown"},
		{`]}`, `]}}`, "more follows its end"},
		{`{"engine"`, `{"motor"`, `want the key "engine", found motor`},
	} {
		bad := strings.Replace(good, x.old, x.new, 1)
		if x.old == "]}" {
			bad = good + "}"
		}
		var refused error
		if _, refused = ReadCheckpoint([][]byte{[]byte(bad)}, toys...); refused == nil || bad == good ||
			!strings.Contains(refused.Error(), x.want) {
			t.Errorf("%s → %s: %v, want %q", x.old, x.new, refused, x.want)
		}
	}
	for i := range good {
		if _, err := ReadCheckpoint([][]byte{[]byte(good[:i])}, toys...); err == nil {
			t.Fatalf("the first %d bytes are taken for a checkpoint", i)
		}
	}
}
