package world

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// scribe is an Observer that keeps what each client records, and when.
type scribe struct {
	Idle
	w    *World
	logs [][]line
}

type line struct {
	at    int64
	text  []byte
	kind  events.Kind
	inner bool
}

func (s *scribe) Recorded(c *Client, r events.Record) {
	for len(s.logs) <= c.ID() {
		s.logs = append(s.logs, nil)
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	s.logs[c.ID()] = append(s.logs[c.ID()], line{s.w.Now(), b, r.Event.Kind, r.Internal})
}

// play runs a script for a while.
func play(t *testing.T, s Script, until time.Duration) *scribe {
	t.Helper()
	o := &scribe{}
	w, err := New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	o.w = w
	w.Until(int64(until))
	return o
}

func (s *scribe) text() string {
	var b bytes.Buffer
	for c, log := range s.logs {
		for _, l := range log {
			fmt.Fprintf(&b, "%d %d %s\n", c, l.at, l.text)
		}
	}
	return b.String()
}

func three(recipe string, actions ...Action) Script {
	s := Script{Seed: 7, Tick: 2 * time.Second, SyncLimit: 5, Timeout: 6 * time.Second, Actions: actions}
	for range 3 {
		s.Clients = append(s.Clients, Program{Recipe: recipe, Path: "/jobs"})
	}
	return s
}

func at(d time.Duration) int64 { return int64(d) }

// worlds returns how many of n random scripts are played.
func worlds(t *testing.T, n int64) int64 {
	return selection.Of(t, "random scripts", n/10, n/4, n)
}

// random returns a script with some actions, by dice.
func random(seed int64) Script {
	d := NewDice(seed, "script")
	s := three(Playable()[d.IntN(len(playable))])
	s.Seed, s.RideOut = seed, OneIn(d, 3)
	kinds := slices.Sorted(func(yield func(string) bool) {
		for k := range actions {
			if !yield(k) {
				return
			}
		}
	})
	for range 1 + d.IntN(5) {
		s.Actions = append(s.Actions,
			Action{At: 1 + d.Int64N(at(40*time.Second)), Do: kinds[d.IntN(len(kinds))], Who: d.IntN(3),
				For: time.Duration(1 + d.Int64N(at(12*time.Second)))})
	}
	return s
}

func TestTheSameScriptGivesTheSameRecords(t *testing.T) {
	for seed := range worlds(t, 40) {
		s := random(seed)
		one, two := play(t, s, time.Minute), play(t, s, time.Minute)
		if one.text() != two.text() || one.w.Moments() != two.w.Moments() {
			t.Errorf("seed %d: two runs of %+v differ", seed, s)
		}
		if len(one.w.Outcomes()) != len(s.Actions) {
			t.Errorf("seed %d: %d actions, and %d outcomes", seed, len(s.Actions), len(one.w.Outcomes()))
		}
		if one.w.Records() == 0 {
			t.Errorf("seed %d: nothing was recorded", seed)
		}
	}
}

// TestByHandIsByScript checks that an action that is added later gives what it gives in the
// script from the beginning.
func TestByHandIsByScript(t *testing.T) {
	for seed := range worlds(t, 200) {
		s := random(seed)
		slices.SortStableFunc(s.Actions, func(a, b Action) int { return cmp.Compare(a.At, b.At) })
		d, hand := rand.New(rand.NewPCG(uint64(seed), 5)), &scribe{}
		bare := s
		bare.Actions = nil
		w, err := New(bare, hand)
		if err != nil {
			t.Fatal(err)
		}
		hand.w = w
		for _, action := range s.Actions {
			if ahead := action.At - w.Now(); ahead > 1 {
				w.Until(w.Now() + d.Int64N(ahead))
			}
			if err := w.Add(action); err != nil {
				t.Fatal(err)
			}
		}
		w.Until(at(time.Minute))
		if scripted := play(t, w.Script(), time.Minute); scripted.text() != hand.text() {
			t.Errorf("seed %d: by hand and by script differ: %+v", seed, s.Actions)
		}
	}
}

// TestAnActionIsFirstAtItsNanosecond checks that an action comes first at its nanosecond,
// in the script or by hand: a client that is killed then records no more.
func TestAnActionIsFirstAtItsNanosecond(t *testing.T) {
	s := three("latch")
	log := play(t, s, 30*time.Second).logs[1]
	for _, l := range log[len(log)/2:] {
		kill := Action{At: l.at, Do: Kill, Who: 1}
		hand := play(t, s, time.Duration(l.at-1))
		if err := hand.w.Add(kill); err != nil {
			t.Fatal(err)
		}
		hand.w.Until(at(30 * time.Second))
		script := s
		script.Actions = []Action{kill}
		for _, o := range []*scribe{hand, play(t, script, 30*time.Second)} {
			if last := o.logs[1][len(o.logs[1])-1]; last.at >= l.at {
				t.Errorf("killed at %d, client 1 records at %d", l.at, last.at)
			}
		}
	}
}

// parts returns the moment from which a client's records differ, -1 for never.
func parts(a, b *scribe, client int) int64 {
	one, two := a.logs[client], b.logs[client]
	for i := range min(len(one), len(two)) {
		if one[i].at != two[i].at || !bytes.Equal(one[i].text, two[i].text) {
			return min(one[i].at, two[i].at)
		}
	}
	switch n := min(len(one), len(two)); {
	case len(one) > n:
		return one[n].at
	case len(two) > n:
		return two[n].at
	}
	return -1
}

// TestNothingDiffersBeforeAnAction checks that without an action nothing differs before it.
func TestNothingDiffersBeforeAnAction(t *testing.T) {
	moment := at(17 * time.Second)
	for do := range actions {
		for who := range 3 {
			s := three("latch")
			without := play(t, s, time.Minute)
			s.Actions = []Action{{At: moment, Do: do, Who: who, For: 5 * time.Second}}
			with := play(t, s, time.Minute)
			done := with.w.Outcomes()[0].Why == nil
			for c := range 3 {
				if from := parts(with, without, c); from >= 0 && (!done || from < moment) {
					t.Errorf("%s: client %d parts at %d", with.w.Outcomes()[0], c, from)
				}
			}
		}
	}
}

// TestOnlyWhatIsCausedDiffers: a client changes others only by what it writes. Here one with a
// session and no handle is cut, stalls, connects again and is paused, with many throws of the
// dice. All others record the same, byte for byte and nanosecond for nanosecond.
func TestOnlyWhatIsCausedDiffers(t *testing.T) {
	for seed := range worlds(t, 20) {
		for _, do := range []string{Cut, Mute, Freeze} {
			s := three("latch")
			s.Seed, s.Clients[2].Waits = seed, true
			idle := func(actions ...Action) *scribe {
				s.Actions = actions
				o := &scribe{}
				w, err := New(s, o)
				if err != nil {
					t.Fatal(err)
				}
				o.w = w
				w.Clients()[2].Ask(events.SessionMachine, events.CommandStart, events.Event{})
				w.Until(at(time.Minute))
				return o
			}
			without, with := idle(), idle(Action{At: at(17 * time.Second), Do: do, Who: 2, For: 5 * time.Second})
			if parts(with, without, 2) < at(17*time.Second) {
				t.Errorf("seed %d: %s changed nothing", seed, with.w.Outcomes()[0])
			}
			for c := range 2 {
				if from := parts(with, without, c); from >= 0 {
					t.Errorf("seed %d: %s: client %d parts at %d", seed, with.w.Outcomes()[0], c, from)
				}
			}
		}
	}
}

func TestAnActionThatDoesNothingChangesNothing(t *testing.T) {
	s := three("latch")
	without := play(t, s, time.Minute)
	s.Actions = []Action{{At: at(9 * time.Second), Do: Start, Who: 1}}
	if with := play(t, s, time.Minute); with.text() != without.text() || with.w.Outcomes()[0].Why == nil {
		t.Errorf("starting what runs: %v", with.w.Outcomes())
	}
}

func TestScriptsThatCannotBePlayed(t *testing.T) {
	for _, c := range []struct {
		change func(*Script)
		want   string
	}{
		{func(s *Script) { s.Tick = 0 }, "tick of 0s"},
		{func(s *Script) { s.SyncLimit = 1e9 }, "syncLimit of 1000000000"},
		{func(s *Script) { s.Timeout = time.Hour }, "2 to 20 ticks"},
		{func(s *Script) { s.Clients = make([]Program, 1e6) }, "1000000 clients"},
		{func(s *Script) { s.Actions = make([]Action, 1e6) }, "1000000 actions"},
		{func(s *Script) {
			s.Clients[1].Recipe = strings.Repeat("x", 1e6)
		}, "has no program: want one of doublebarrier, latch, mutex"},
		{func(s *Script) { s.Clients[1].Path = "jobs" }, "want one like /jobs"},
		{func(s *Script) { s.Clients[1].Options = map[string]string{"retry": "x"} }, "cannot be set"},
		{func(s *Script) { s.Clients[1].Name = strings.Repeat("x", 201) }, "want at most 200 bytes"},
		{func(s *Script) { s.Clients[1].Works = -1 }, "want at most a day"},
		{func(s *Script) { s.Actions[0].Do = "sing" }, `no action "sing"`},
		{func(s *Script) { s.Actions[0].At = -1 }, "want 0 to"},
		{func(s *Script) { s.Actions[0].At = 1 << 62 }, "want 0 to"},
		{func(s *Script) { s.Actions[0].Who = 3 }, "there are 3, from 0 on"},
		{func(s *Script) { s.Actions[0] = Action{Do: Isolate, Who: -1, For: 1} }, "of server -1"},
		{func(s *Script) { s.Actions[0].For = 0 }, "want a duration"},
	} {
		s := three("latch", Action{At: 1, Do: Freeze, For: 1})
		c.change(&s)
		if _, err := New(s, nil); err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	w, err := New(three("latch"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Until(at(time.Second))
	if err := w.Add(Action{At: at(time.Second), Do: Cut}); err == nil ||
		!strings.Contains(err.Error(), "make one from the script") {
		t.Errorf("an action in the past: %v", err)
	}
}

// TestEveryRecipeIsPlayed: every playable recipe gets what it wants and releases it, and
// another client gets it.
func TestEveryRecipeIsPlayed(t *testing.T) {
	for _, recipe := range Playable() {
		holders := map[int]bool{}
		w, err := New(three(recipe), nil)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 12 {
			w.Until(at(time.Duration(round+1) * 5 * time.Second))
			for _, c := range w.Clients() {
				if c.Holds() {
					holders[c.ID()] = true
					if err := w.Add(Action{At: w.Now() + 1, Do: Resign, Who: c.ID()}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if len(holders) < 2 {
			t.Errorf("%s: %v have held it; outcomes %v", recipe, holders, w.Outcomes())
		}
	}
}

// TestStepsAreBoundedInTime: steps end, although nobody records anything any more.
func TestStepsAreBoundedInTime(t *testing.T) {
	w, err := New(three("latch"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := w.Step(10, time.Minute); n < 10 || w.Now() >= at(time.Minute) {
		t.Errorf("%d records by %d", n, w.Now())
	}
	for who := range 3 {
		if err := w.Add(Action{At: w.Now() + 1, Do: Kill, Who: who}); err != nil {
			t.Fatal(err)
		}
	}
	begun := w.Now()
	if n := w.Step(10_000, time.Minute); n > 10 || w.Now() != begun+at(time.Minute) {
		t.Errorf("a dead world: %d records from %d to %d", n, begun, w.Now())
	}
}

func BenchmarkTenThousandRecords(b *testing.B) {
	for b.Loop() {
		w, err := New(three("latch"), nil)
		if err != nil {
			b.Fatal(err)
		}
		if n := w.Step(10_000, MaxTime); n < 10_000 {
			b.Fatal(n)
		}
	}
}
