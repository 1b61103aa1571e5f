package interop

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// python makes a peer on kazoo.
func (s *stage) python() *peer {
	s.t.Helper()
	interpreter := peers.FindKazoo(s.t)
	p := s.peer("python")
	p.command = func() *exec.Cmd {
		return exec.Command(interpreter, append([]string{filepath.Join("python", "peer.py")}, p.arguments()...)...)
	}
	return p
}

// kazoo's names are <uuid>__lock__NNNNNNNNNN. It and this library do not see
// each other: in a directory that they share by mistake each has a leader of its
// own, and neither is disturbed by the other's coming and going.
func TestKazooAndGoInOneDirectoryDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo, golang := s.python().launch(), s.golang().launch()
	kazoo.join("lock", "python-1")
	s.leads(0, "python-1")
	golang.join("latch", "go-1")
	s.leads(0, "go-1")
	kazoo.join("lock", "python-2")
	golang.join("latch", "go-2")
	golang.join("selector", "go-3")
	s.leads(0, "go-3")
	if got := kazoo.roll("python-2"); got != "python-1 python-2" {
		t.Errorf("kazoo reads its line as %q", got)
	}
	if got := golang.roll("go-2"); got != "go-1* go-2" {
		t.Errorf("Go reads its line as %q", got)
	}
	kazoo.say("yield python-1")
	s.leads(0, "python-2")
	golang.say("yield go-1")
	s.leads(0, "go-2")
	if !golang.has("go-2") || !golang.has("go-3") {
		t.Error("a hand-over of kazoo's, or of the other recipe's, has cost somebody the leadership")
	}
}

func TestKazooReadsOurLineFromOutside(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kazoo, golang := s.python().launch(), s.golang().launch()
	want := []string{"go-1", "go-2", "go-3"}
	for _, id := range want {
		golang.join("latch", id)
	}
	from := s.now()
	kazoo.say("outsider %s", s.line())
	said, _ := s.await(from, "the line", func(s saying) bool { return s.peer == kazoo && s.words[0] == "line" })
	if got := strings.Join(said.words[2:], " "); got != strings.Join(want, " ") {
		t.Errorf("kazoo reads our line as %q", got)
	}
}
