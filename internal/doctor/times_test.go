package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Each condition of times is planted alone, and found alone.
func TestConditionsOfTimes(t *testing.T) {
	for _, c := range []struct {
		name    string
		options zkmem.Options
		set     func(*Settings)
		want    []string
	}{
		{"a tick of 4s that nobody names", zkmem.Options{Tick: 4 * time.Second}, nil,
			[]string{"unfit tick-too-long zk:2181"}},
		{"a tick of 4s that is named", zkmem.Options{Tick: 4 * time.Second},
			func(s *Settings) { s.Tick = 4 * time.Second }, nil},
		{"too small a tick is named", zkmem.Options{Tick: 3 * time.Second},
			func(s *Settings) { s.Tick = 2 * time.Second },
			[]string{"unfit tick-too-long zk:2181"}},
		{"a longer tick that the grant shows", zkmem.Options{Tick: 10 * time.Second}, nil,
			[]string{"warning timeout-raised zk:2181"}},
		{"maxSessionTimeout below T", zkmem.Options{MaxSessionTimeout: 10 * time.Second}, nil,
			[]string{"warning timeout-lowered zk:2181"}},
		{"a timeout that is too short", zkmem.Options{Tick: time.Second},
			func(s *Settings) { s.Timeout = 2 * time.Second },
			[]string{"unfit timeout-too-short ensemble"}},
		{"a timeout that leaves a millisecond", zkmem.Options{Tick: 200 * time.Millisecond},
			func(s *Settings) { s.Timeout = 2340 * time.Millisecond },
			[]string{"warning belief-short ensemble"}},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			w, _ := alone(t, c.options)
			s := w.settings()
			if c.set != nil {
				c.set(&s)
			}
			found(t, Examine(t.Context(), s), c.want...)
		})
	}
	inBubble(t, "a tick that nothing shows", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{Tick: 2 * time.Second, MaxSessionTimeout: time.Minute})
		w.words["zk:2181"] = true
		found(t, Examine(t.Context(), w.settings()), "warning tick-unknown zk:2181", "note words-closed zk:2181")
	})
	inBubble(t, "a tick of 4s that only the limits show", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{Tick: 4 * time.Second})
		w.words["zk:2181"] = true
		found(t, Examine(t.Context(), w.settings()), "warning tick-too-long zk:2181", "note words-closed zk:2181")
	})
	inBubble(t, "limits that differ", func(t *testing.T) {
		w, e := three(t, zkmem.Options{})
		odd := e.Servers()[2]
		odd.SetSessionTimeouts(4*time.Second, 30*time.Second)
		found(t, Examine(t.Context(), w.settings()), "warning grants-differ "+w.address(odd))
	})
	inBubble(t, "a syncLimit of 10", func(t *testing.T) {
		w, _ := three(t, zkmem.Options{SyncLimit: 10})
		s := w.settings()
		found(t, Examine(t.Context(), s), "note sync-limit ensemble")
		s.Timeout, s.Tick = 40*time.Second, 2*time.Second
		found(t, Examine(t.Context(), s), "unfit sync-limit ensemble")
	})
	inBubble(t, "syncs take 4s", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpSync {
				return zkmem.Verdict{Delay: 2500 * time.Millisecond}
			}
			return zkmem.Verdict{}
		})
		found(t, Examine(t.Context(), w.settings()), "warning slow-sync zk:2181")
	})
}

// A setting that would only have a client ask more often is no advice.
func TestNoAdviceWithoutAGain(t *testing.T) {
	inBubble(t, "30s", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{})
		s := w.settings()
		s.Timeout = 30 * time.Second
		if set := Examine(t.Context(), s).Meaning.Set; len(set) > 0 {
			t.Errorf("%+v", set)
		}
	})
}

// What is advised against too short a timeout is enough.
func TestTheAdvisedTimeoutIsEnough(t *testing.T) {
	inBubble(t, "2s", func(t *testing.T) {
		w, _ := alone(t, zkmem.Options{Tick: time.Second})
		s := w.settings()
		s.Timeout = 2 * time.Second
		_, advice, _ := strings.Cut(Examine(t.Context(), s).Findings[0].Do, "Have ")
		advice, _, _ = strings.Cut(advice, " ")
		var err error
		if s.Timeout, err = time.ParseDuration(advice); err != nil {
			t.Fatal(err)
		}
		r := Examine(t.Context(), s)
		if found(t, r); time.Duration(r.Meaning.First) < s.Timeout/4 {
			t.Errorf("with %s belief lasts for %v", advice, time.Duration(r.Meaning.First))
		}
	})
}

// A server that opens the first sessions only, as one with a maxClientCnxns does, is not taken for one that was asked.
func TestAServerThatOpensNoFurtherSession(t *testing.T) {
	inBubble(t, "the third", func(t *testing.T) {
		w, s := alone(t, zkmem.Options{})
		opened := 0
		s.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op != zkmem.OpCreateSession {
				return zkmem.Verdict{}
			}
			if opened++; opened > 2 {
				return zkmem.Verdict{Action: zkmem.CutBefore}
			}
			return zkmem.Verdict{}
		})
		r := Examine(t.Context(), w.settings())
		if found(t, r); r.Verdict != Incomplete || !strings.Contains(r.NotAsked[0].Why, "maxClientCnxns") {
			t.Errorf("%s, not asked %v", r.Verdict, r.NotAsked)
		}
	})
}
