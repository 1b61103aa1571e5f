package zkio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// TestBrokenInvariants breaks each invariant of a session once, and checks that the panic
// says which and where.
func TestBrokenInvariants(t *testing.T) {
	w := &wire{}
	for broken, breakIt := range map[string]func(*session){
		"":                              func(s *session) { s.wire = w },
		"2 requests of lane 2 are":      func(s *session) { s.lanes.inFlight[normal] = 2 },
		"-1 requests of lane 1 are":     func(s *session) { s.lanes.inFlight[deletes] = -1 },
		"the lanes count 1 pending":     func(s *session) { s.lanes.inFlight[urgent] = 1 },
		"are pending without a connect": func(s *session) { s.lanes.inFlight[urgent], s.pending[1] = 1, s.last },
		"wait without a connection":     func(s *session) { s.lanes.push(s.last) },
		"1 machines have requests":      func(s *session) { s.callers.add(s.last) },
		"9 pings have no answer": func(s *session) {
			s.wire = &wire{contacts: contacts{pings: make([]int64, 9)}}
		},
		"1 servers are probed next": func(s *session) { s.rejections.probeNext = map[string]bool{"a:1": true} },
		"refusals of 1 servers":     func(s *session) { s.refused["a:1"] = lastReport{} },
		"waits twice for one kind": func(s *session) {
			s.watches.subscribe(s.last)
			again := *s.watches.waiters["/a"]
			s.watches.waiters["/a"].nextOfPath = &again
		},
		"that no request sets": func(s *session) { s.watches.waiter(s.last) },
		"5 requests of machine \"latch-1\" set one": func(s *session) {
			for range 5 {
				one := *s.last
				s.watches.subscribe(&one)
			}
		},
		"is not in the machine's list": func(s *session) {
			s.watches.subscribe(s.last)
			s.watches.machines["latch-1"] = nil
		},
	} {
		s := &session{a: &Adapter{}, lanes: lanes{window: 1}, pending: map[int32]*call{}, callers: callers{},
			refused: refusals{}}
		s.last = &call{id: "latch-1", number: 5, lane: normal, path: "/a", watch: dataWatch, kind: "reply.stat"}
		s.mu.broken, s.mu.name = s.brokenInvariant, "session 1 of b"
		s.mu.Lock()
		breakIt(s)
		switch said := unlock(s); {
		case said == "" && broken == "":
		case !strings.HasPrefix(said, "zkio: session 1 of b: broken invariant: ") || !strings.Contains(said, broken):
			t.Errorf("%q, want %q", said, broken)
		}
	}
}

// unlock unlocks a session, and returns what that panics with.
func unlock(s *session) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	s.mu.Unlock()
	return ""
}

// A waiter is in its machine's list only if both neighbours say so.
func TestAListWhoseNeighboursDisagree(t *testing.T) {
	chain := func() (w *watches, first, second *waiter) {
		first, second = &waiter{id: "a"}, &waiter{id: "a"}
		first.nextOfID, second.before = second, first
		return &watches{machines: map[events.ID]*waiter{"a": first}}, first, second
	}
	w, first, second := chain()
	if !w.listed(first) || !w.listed(second) {
		t.Error("a list that is right is refused")
	}
	for name, breakIt := range map[string]func() (refused *waiter){
		"the next one has another before it": func() *waiter { second.before = &waiter{}; return first },
		"it begins with another":             func() *waiter { w.machines["a"] = &waiter{}; return first },
		"the one before has another next":    func() *waiter { first.nextOfID = nil; return second },
	} {
		w, first, second = chain()
		if refused := breakIt(); w.listed(refused) {
			t.Errorf("nothing is wrong where %s", name)
		}
	}
}
