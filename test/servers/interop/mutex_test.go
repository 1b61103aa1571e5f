package interop

import (
	"fmt"
	"strings"
	"testing"
)

// Curator's InterProcessMutex and ours are one lock: killed and expired holders
// included, no two hold it at the same time, and each comes in its turn.
func TestJavaAndGoMutexesShareALock(t *testing.T) { share(t, "mutex", "lock-", 60) }

func TestAMutexStandsInLineWithASelectorOfTheOtherLanguage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java, golang := s.java().launch(), s.golang().launch()
	java.join("selector", "java-1")
	s.leads(0, "java-1")
	golang.join("mutex", "go-1")
	java.join("mutex", "java-2")
	golang.join("selector", "go-2")
	if !java.has("java-1") || java.has("java-2") || golang.has("go-1") || golang.has("go-2") {
		t.Error("one of them holds or leads, and that is java-1")
	}
	java.say("yield java-1")
	s.leads(0, "go-1")
	golang.say("yield go-1")
	s.leads(0, "java-2")
	java.say("yield java-2")
	s.leads(0, "go-2")
}

// Curator's Revoker and ours write the same: each side sees the other's request.
func TestRevocationsAreHeardAcross(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	java, golang := s.java().launch(), s.golang().launch()
	golang.join("mutex", "go-1")
	s.leads(0, "go-1")
	java.say("join revocable java-1 %s", s.line())
	s.filled(2)
	hears := func(id string) {
		t.Helper()
		s.await(0, "the news of "+id, func(s saying) bool { return s.words[0] == "revoked" && s.words[1] == id })
	}
	java.say("revoke java-1 %s/%s", s.line(), s.enrolled("go-1"))
	hears("go-1")
	golang.say("yield go-1")
	said, _ := s.await(0, "java-1 to hold", func(s saying) bool {
		return s.words[0] == "leader" && s.words[1] == "java-1"
	})
	golang.say("revoke go-1 %s/%s", s.line(), said.words[2])
	hears("java-1")
}

// On kazoo's names Go and Python share a lock, each in its turn.
func TestKazooAndGoMutexesShareALock(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	sides := []*peer{s.python().launch(), s.golang().launch()}
	var order []string
	for i := range 4 {
		side := sides[i%2]
		id := fmt.Sprintf("%s-%d", side.name, i/2+1)
		side.join("kazoo", id)
		order = append(order, id)
	}
	if got, want := sides[0].roll("python-1"), strings.Join(order, " "); got != want {
		t.Errorf("kazoo reads the line as %q, want %q", got, want)
	}
	if got, want := sides[1].roll("go-1"), strings.Join(order, " "); strings.ReplaceAll(got, "*", "") != want ||
		!strings.HasPrefix(got, order[0]+"*") {
		t.Errorf("Go reads the line as %q, want %q", got, want)
	}
	from := s.now()
	sides[1].say("try go-1")
	s.await(from, "the try", func(s saying) bool { return strings.Join(s.words, " ") == "tried go-1 false" })
	at := 0
	for n := range 20 {
		var said saying
		said, at = s.await(at, fmt.Sprintf("hold %d", n), func(s saying) bool { return s.words[0] == "leader" })
		id := said.words[1]
		if id != order[n%4] {
			t.Fatalf("%s holds, and it is the turn of %s. The last words:\n%s", id, order[n%4], s.last(20))
		}
		s.filled(4) // the holder before is in line again
		said.peer.say("yield %s", id)
	}
}

// A kazoo holder that is killed gives the lock back when its session ends, and a
// Go holder likewise.
func TestKazooAndGoMutexesOutliveEachOther(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo, golang := s.python().launch(), s.golang().launch()
	kazoo.join("kazoo", "python-1")
	s.leads(0, "python-1")
	golang.join("kazoo", "go-1")
	kazoo.kill()
	s.leads(0, "go-1")
	kazoo.launch()
	kazoo.join("kazoo", "python-2")
	golang.kill()
	s.leads(0, "python-2")
}
