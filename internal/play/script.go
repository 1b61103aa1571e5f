package play

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Script is all that a played world depends on. A link holds it: see Link and ParseLink.
type Script struct {
	Recipe   string
	Scenario string
	Starting int // participants that begin by themselves
	Waiting  int // participants that wait for a start
	Seed     int64
	RideOut  bool          // belief outlasts a short disconnect
	Forgets  string        // a participant whose program does not release what it has lost; "" for none
	Works    time.Duration // after which a program releases what it holds; 0: it does not
	Bug      string        // a bug that is planted; "" for none
	Deeds    []Deed        // in their order
	Until    time.Duration // up to when the world is played
}

// Deed is one thing that a person does to a world.
type Deed struct {
	Mark   Mark
	At     time.Duration // since the world's beginning, whole microseconds
	Verb   string
	Target string // a participant or a server; "" for the ensemble
	For    time.Duration
}

// Mark says what a deed is in a what-if.
type Mark string

// Marks.
const (
	Done     Mark = ""  // it is done in both worlds
	TakenOut Mark = "-" // it was done before, and is not now
	Added    Mark = "+" // it was not done before, and is now
)

// Bounds of a script.
const (
	MaxLink    = 4000 // bytes
	MaxDeeds   = 50
	MaxSeed    = 999_999_999
	MaxUntil   = 10 * time.Minute
	MaxRecords = 20_000 // of a world; it stops there
)

// Participants returns their names.
func (s Script) Participants() []string { return names[:s.Starting+s.Waiting] }

// WhatIf reports whether a deed was taken out or added.
func (s Script) WhatIf() bool {
	return slices.ContainsFunc(s.Deeds, func(d Deed) bool { return d.Mark != Done })
}

// Before returns the script before deeds were taken out or added.
func (s Script) Before() Script { return s.without(Added) }

// Now returns the script after it.
func (s Script) Now() Script { return s.without(TakenOut) }

// without returns the script without the deeds of a mark, and the others without marks.
func (s Script) without(mark Mark) Script {
	deeds := make([]Deed, 0, len(s.Deeds))
	for _, d := range s.Deeds {
		if d.Mark != mark {
			d.Mark = Done
			deeds = append(deeds, d)
		}
	}
	s.Deeds = deeds
	return s
}

// Check returns why a script cannot be played.
func (s Script) Check() error {
	scenario := scenarioNamed(s.Scenario)
	switch {
	case !slices.Contains(Recipes(), s.Recipe):
		return fmt.Errorf("play: no recipe %.40q: want one of %s", s.Recipe, strings.Join(Recipes(), ", "))
	case scenario == nil:
		return fmt.Errorf("play: no scenario %.40q: want one of %s", s.Scenario,
			listed(scenarios, func(s Scenario) string { return s.Name }))
	case s.Starting < 1 || s.Waiting < 0 || s.Starting > len(names) || s.Waiting > len(names)-s.Starting:
		return fmt.Errorf("play: %d participants and %d that wait: want at least 1, and at most %d in all", s.Starting,
			s.Waiting, len(names))
	case s.Seed < 0 || s.Seed > MaxSeed:
		return fmt.Errorf("play: a seed of %d: want 0 to %d", s.Seed, int64(MaxSeed))
	case s.Forgets != "" && !slices.Contains(s.Participants(), s.Forgets):
		return fmt.Errorf("play: forgets=%.40q: want one of %s", s.Forgets, strings.Join(s.Participants(), ", "))
	case s.Works < 0 || s.Works > MaxUntil || s.Works%time.Microsecond != 0:
		return fmt.Errorf("play: work of %s: want whole microseconds, at most %s", s.Works, MaxUntil)
	case s.Bug != "" && bugNamed(s.Bug) == nil:
		return fmt.Errorf("play: no bug %.40q: want one of %s", s.Bug,
			listed(bugs, func(b Bug) string { return b.Name }))
	case len(s.Deeds) > MaxDeeds:
		return fmt.Errorf("play: %d deeds: want at most %d", len(s.Deeds), MaxDeeds)
	case s.Until < 0 || s.Until > MaxUntil || s.Until%time.Microsecond != 0:
		return fmt.Errorf("play: a world until %s: want whole microseconds, at most %s", s.Until, MaxUntil)
	}
	for i, d := range s.Deeds {
		if err := s.checkDeed(d, scenario); err != nil {
			return fmt.Errorf("play: deed %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Script) checkDeed(d Deed, scenario *Scenario) error {
	v := verbNamed(d.Verb)
	if v == nil {
		return fmt.Errorf("no verb %.40q: want one of %s", d.Verb, listed(verbs, func(v Verb) string { return v.Verb }))
	}
	targets := map[string][]string{toParticipant: s.Participants(), toServer: scenario.Servers, toEnsemble: {""}}[v.To]
	switch {
	case d.Mark != Done && d.Mark != TakenOut && d.Mark != Added:
		return fmt.Errorf("%s with the mark %.40q", v.Verb, string(d.Mark))
	case d.At < 0 || d.At > MaxUntil || d.At%time.Microsecond != 0:
		return fmt.Errorf("%s at %s: want whole microseconds, at most %s", v.Verb, d.At, MaxUntil)
	case !slices.Contains(targets, d.Target) && v.To == toEnsemble:
		return fmt.Errorf("%s has no target, and not %.40q", v.Verb, d.Target)
	case !slices.Contains(targets, d.Target):
		return fmt.Errorf("%s of %.40q: want one of %s", v.Verb, d.Target, strings.Join(targets, ", "))
	case v.Lasts && (d.For <= 0 || d.For > MaxUntil || d.For%time.Microsecond != 0):
		return fmt.Errorf("%s for %s: want whole microseconds, more than 0 and at most %s", v.Verb, d.For, MaxUntil)
	case d.Verb == "depose" && d.For > scenario.deposed():
		return fmt.Errorf("depose for %s: a server notices after %s that it does not lead any more", d.For,
			scenario.deposed())
	case !v.Lasts && d.For != 0:
		return fmt.Errorf("%s takes no time, and not %s", v.Verb, d.For)
	}
	return nil
}

// listed returns names with commas between them.
func listed[T any](all []T, name func(T) string) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = name(one)
	}
	return strings.Join(texts, ", ")
}
