package interop

import (
	"fmt"
	"strings"
	"testing"
)

// TestPlainElectionWithPython is one line of plain names, n_0000000000 and so on,
// in which stand candidates of this library, of kazoo's Election, and of an
// election written by hand in Python. They lead in the order they came, whatever
// they are made of; one process is killed while it leads.
func TestPlainElectionWithPython(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo := s.python().launch()
	golang := []*peer{s.golang().launch(), s.golang().launch(), s.golang().launch()} // one candidate for each client
	kinds := []struct {
		peer     *peer
		kind, id string
	}{
		{kazoo, "hand", "hand-1"},
		{golang[0], "election", "go-1"},
		{kazoo, "plain", "kazoo-1"},
		{golang[1], "election", "go-2"},
		{kazoo, "hand", "hand-2"},
		{kazoo, "plain", "kazoo-2"},
		{golang[2], "election", "go-3"},
	}
	var order []string
	for i, k := range kinds {
		k.peer.join(k.kind, k.id)
		if got, want := s.enrolled(k.id), fmt.Sprintf("n_%010d", i); got != want {
			t.Fatalf("%s stands at %s, want %s", k.id, got, want)
		}
		order = append(order, k.id)
	}
	if got, want := golang[2].roll("go-3"),
		strings.Replace(strings.Join(order, " "), "hand-1", "hand-1*", 1); got != want {
		t.Errorf("Go reads the line as %q, want %q", got, want)
	}
	if got, want := kazoo.roll("kazoo-1"), strings.Join(order, " "); got != want {
		t.Errorf("kazoo reads the line as %q, want %q", got, want)
	}
	at := 0
	for i, k := range kinds {
		var said saying
		said, at = s.await(at, k.id+" to lead", func(s saying) bool { return s.words[0] == "leader" })
		if said.words[1] != k.id {
			t.Fatalf("%s leads, and it is %s's turn", said.words[1], k.id)
		}
		for _, other := range kinds[i+1:] {
			if other.kind == "election" && other.peer.has(other.id) {
				t.Fatalf("%s and %s believe at the same time", k.id, other.id)
			}
		}
		if k.id == "go-2" {
			k.peer.kill()
			continue
		}
		k.peer.say("yield %s", k.id)
	}
}
