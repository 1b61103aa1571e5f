package world

import (
	"testing"
	"time"
)

func TestALayoutThatCannotBeIsRefused(t *testing.T) {
	good := Script{Tick: time.Second, SyncLimit: 5, Timeout: 4 * time.Second}
	for name, change := range map[string]func(*Script){
		"too many observers":        func(s *Script) { s.Layout.Observers = maxObservers + 1 },
		"fewer than none":           func(s *Script) { s.Layout.Observers = -1 },
		"a tick below 0":            func(s *Script) { s.Layout.Tick = -1 },
		"clients that ask for less": func(s *Script) { s.Layout.Asked = -time.Second },
		"limits without an order":   func(s *Script) { s.Layout.Limits = []Limits{{2 * time.Second, time.Second}} },
		"limits of nothing":         func(s *Script) { s.Layout.Limits = []Limits{{}} },
	} {
		bad := good
		change(&bad)
		if _, err := New(bad, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(good, nil); err != nil {
		t.Error(err)
	}
}

// A server reports a session within half a tick, and an observer behind an observer master within a
// tick: sometimes it takes longer than half a tick.
func TestAReportTakesUpToAsLongAsIsSaid(t *testing.T) {
	const network = 20 * time.Millisecond
	for name, layout := range map[string]Layout{
		"observers":        {Observers: 1, Phases: true},
		"observer masters": {Observers: 1, Phases: true, Masters: true},
	} {
		longest := time.Duration(0)
		for seed := range int64(30) {
			w, err := New(Script{Seed: seed, Tick: time.Second, SyncLimit: 5, Timeout: 4 * time.Second, Layout: layout,
				Clients: []Program{{Recipe: "latch", Path: "/jobs"}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.Until(int64(2*time.Second + time.Duration(seed)*34*time.Millisecond))
			session, observer := w.clients[0].x.id, w.ens.servers[Servers]
			if !observer.Observer() || observer.Behind() != layout.Masters || !observer.Serving() {
				t.Fatalf("%s: the last server is an observer %t, behind another %t", name, observer.Observer(),
					observer.Behind())
			}
			_ = w.clients[0].Kill()                       // it runs, and touches its session no more
			w.Until(w.now + int64(1200*time.Millisecond)) // longer than any report takes
			const long = time.Hour                        // shows in the tracker
			begun := w.now
			observer.touchedSessions[session] = long
			for w.ens.Leader().tracker[session] < int64(long) && w.now < begun+int64(5*time.Second) {
				w.Until(w.now + int64(time.Millisecond))
			}
			longest = max(longest, time.Duration(w.now-begun))
		}
		if most := longestReport(layout); longest > most+network || longest < most*8/10 {
			t.Errorf("%s: a report takes up to %s, want about %s", name, longest, most)
		}
	}
}

// longestReport returns what LongestReport says of a layout with a tick of a second.
func longestReport(l Layout) time.Duration {
	return (&World{script: Script{Tick: time.Second, Layout: l}}).LongestReport()
}

// Each server clamps the timeout that a client asks for, and a session that moves gets another one: the
// ensemble's leader ends it by the one of its last touch, also if that makes it end earlier.
func TestASessionEndsByTheTimeoutOfItsLastTouch(t *testing.T) {
	limits := []Limits{{2 * time.Second, 4 * time.Second}, {8 * time.Second, 8 * time.Second},
		{2 * time.Second, 20 * time.Second}}
	w, err := New(Script{Seed: 1, Tick: time.Second, SyncLimit: 5, Timeout: 8 * time.Second,
		Layout: Layout{Limits: limits}, Clients: []Program{{Recipe: "latch", Path: "/jobs"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{4 * time.Second, 8 * time.Second, 6 * time.Second} {
		if got := w.ens.servers[i].negotiate(6 * time.Second); got != want {
			t.Errorf("server %d grants %s, want %s", i, got, want)
		}
	}
	w.Until(int64(3 * time.Second))
	leader, session := w.ens.Leader(), w.clients[0].x.id
	for _, timeout := range []time.Duration{8 * time.Second, 4 * time.Second} {
		leader.validate(session, leader, timeout)
		if ends := time.Duration(leader.tracker[session] - w.now); ends <= timeout || ends > timeout+time.Second {
			t.Errorf("touched with %s, the session ends after %s", timeout, ends)
		}
	}
	if got := w.ens.ShortestTimeout(session); got != 4*time.Second {
		t.Errorf("the shortest timeout of the session is %s", got)
	}
	leader.trackAll() // as a new leader does
	ms, _ := leader.proposed.SessionTimeout(session)
	if ends := time.Duration(leader.tracker[session] - w.now); ends <= time.Duration(ms)*time.Millisecond {
		t.Errorf("a new leader ends it after %s, want the %d ms of its creation", ends, ms)
	}
}
