package interop

import (
	"fmt"
	"strings"
	"testing"
)

// A Lock of kazoo's that is given Curator's names is in one line with the mutexes of Java and Go, and all hold by
// turns.
func TestKazooOnCuratorsNamesSharesALock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	sides := []*peer{s.python().launch(), s.golang().launch(), s.java().launch()}
	recipes := []string{"curator-lock", "mutex", "mutex"}
	var order []string
	for i := range 2 * len(sides) {
		side := sides[i%len(sides)]
		id := fmt.Sprintf("%s-%d", side.name, i/len(sides)+1)
		side.join(recipes[i%len(sides)], id)
		order = append(order, id)
	}
	s.reads(sides, order)
	at := 0
	for n := range 4 * len(order) {
		var said saying
		said, at = s.await(at, fmt.Sprintf("hold %d", n), func(s saying) bool { return s.words[0] == "leader" })
		if id := order[n%len(order)]; said.words[1] != id {
			t.Fatalf("%s holds, and it is the turn of %s. The last words:\n%s", said.words[1], id, s.last(20))
		}
		s.filled(len(order)) // the holder before is in line again
		said.peer.say("yield %s", said.words[1])
	}
}

// An Election of kazoo's that is given Curator's names leads by turns with the latches of Java and Go. One is killed
// while it leads.
func TestKazooOnCuratorsNamesElects(t *testing.T) {
	t.Parallel()
	s := newStageOf(t, brief)
	python, golang, java := s.python().launch(), s.golang().launch(), s.java().launch()
	sides := []*peer{python, golang, java}
	order := []string{"python-1", "go-1", "java-1", "python-2", "go-2"}
	for i, id := range order {
		side := sides[i%len(sides)]
		recipe := "latch"
		if side == python {
			recipe = "curator-latch"
		}
		side.join(recipe, id)
	}
	s.reads(sides, order)
	at := 0
	for i, id := range order {
		var said saying
		said, at = s.await(at, id+" to lead", func(s saying) bool { return s.words[0] == "leader" })
		if said.words[1] != id {
			t.Fatalf("%s leads, and it is the turn of %s. The last words:\n%s", said.words[1], id, s.last(20))
		}
		for j, other := range order[i+1:] {
			if side := sides[(i+1+j)%len(sides)]; side != python && side.has(other) {
				t.Fatalf("%s and %s lead at the same time", id, other)
			}
		}
		if id == "python-2" {
			python.kill() // its session ends
			continue
		}
		said.peer.say("yield %s", id)
	}
}

// reads checks that the first participant of each side reads the whole line, in order.
func (s *stage) reads(sides []*peer, order []string) {
	s.t.Helper()
	want := strings.Join(order, " ")
	for i, side := range sides {
		if got := strings.ReplaceAll(side.roll(order[i]), "*", ""); got != want {
			s.t.Errorf("%s reads the line as %q, want %q", side.name, got, want)
		}
	}
}
