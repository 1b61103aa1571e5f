package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// rust makes a peer of the crate zookeeper-client. make peers builds it.
func (s *stage) rust() *peer {
	s.t.Helper()
	program := filepath.Join("..", "..", "..", ".cache", "rust", "debug", "peer")
	if _, err := os.Stat(program); err != nil {
		s.t.Fatalf("%v: make peers builds it", err)
	}
	p := s.peer("rust")
	p.command = func() *exec.Cmd { return exec.Command(program, p.arguments()...) }
	return p
}

// Locks of Rust's zookeeper-client that have Curator's names lead and hold by turns with Go and Java. One is killed
// while it leads. Only make peers has this peer.
func TestRustSharesALine(t *testing.T) {
	if os.Getenv(peers.Variable) == "" {
		return
	}
	for kind, recipe := range map[string]string{"lock": "mutex", "latch": "latch"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newStageOf(t, brief)
			rust, golang, java := s.rust().launch(), s.golang().launch(), s.java().launch()
			order := []string{"rust-1", "go-1", "java-1", "rust-2", "go-2"}
			sides := []*peer{rust, golang, java, rust, golang}
			for i, id := range order {
				recipe := recipe
				if sides[i] == rust {
					recipe = kind
				}
				sides[i].join(recipe, id)
			}
			at := 0
			for i, id := range order {
				var said saying
				said, at = s.await(at, id+" to lead", func(s saying) bool { return s.words[0] == "leader" })
				if said.words[1] != id {
					t.Fatalf("%s leads, and it is the turn of %s. The last words:\n%s", said.words[1], id, s.last(20))
				}
				for j, other := range order[i+1:] {
					if side := sides[i+1+j]; side != rust && side.has(other) {
						t.Fatalf("%s and %s lead at the same time", id, other)
					}
				}
				if id == "rust-2" {
					rust.kill() // its session ends
					continue
				}
				said.peer.say("yield %s", id)
			}
		})
	}
}
