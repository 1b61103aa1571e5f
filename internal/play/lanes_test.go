package play

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// moments plays a random script of a recipe, and looks at it at a few moments.
func moments(t *testing.T, recipe string, look func(what string, a *Answer)) {
	t.Helper()
	for seed := range int64(selection.Of(t, "random scripts of "+recipe, 5, 12, 25)) {
		s := Random(seed)
		s.Recipe, s.Bug = recipe, ""
		host := new(Host)
		for until := 5 * time.Second; until <= s.Until; until += 7 * time.Second {
			now := s
			now.Until = until
			a, err := host.Ask(Request{Link: now.Link()})
			if err != nil {
				t.Fatal(err)
			}
			look(now.Link(), a)
		}
	}
}

// lanesOf returns the lanes of a participant in a line.
func lanesOf(a *Answer, name, line string) (all []why.PictureMachine) {
	for _, m := range a.Document.Picture.Machines {
		if a.Document.Picture.Logs[m.Log].Name == name && m.Line == line {
			all = append(all, m)
		}
	}
	return all
}

// TestLanesHaveThePermits: a permit stands in its lane as long as the ensemble has its node, and each right has its
// permit.
func TestLanesHaveThePermits(t *testing.T) {
	standing, ended := 0, 0
	moments(t, "semaphore", func(what string, a *Answer) {
		nodes := map[string]bool{}
		for _, n := range a.Nodes {
			// the transaction of the first permit creates their directory, too
			nodes[n.Token] = nodes[n.Token] || n.Owner != ""
		}
		for _, p := range a.Participants {
			held := p.Token == ""
			for _, m := range lanesOf(a, p.Name, path+"/leases") {
				for _, s := range m.Nodes {
					var token int64
					if _, err := fmt.Sscanf(s.Text[strings.Index(s.Text, "(czxid ")+1:], "czxid 0x%x)", &token); err !=
						nil {
						t.Fatalf("%s: %q: %v", what, s.Text, err)
					}
					if (s.To == 0) != nodes[fmt.Sprint(token)] {
						t.Errorf("%s: %s: %q until %d, and the ensemble has it: %t", what, p.Name, s.Text, s.To,
							nodes[fmt.Sprint(token)])
					}
					if s.To == 0 {
						standing++
					} else {
						ended++
					}
					held = held || fmt.Sprint(token) == p.Token
				}
			}
			if !held {
				t.Errorf("%s: %s may believe with token %s, and its lane has no such permit", what, p.Name, p.Token)
			}
		}
	})
	if standing == 0 || ended == 0 {
		t.Errorf("%d permits that stand, %d that have ended", standing, ended)
	}
}

// TestLanesHaveWhoIsInside: a lane says that its participant is inside a double barrier as long as its program is.
func TestLanesHaveWhoIsInside(t *testing.T) {
	inside, left := 0, 0
	moments(t, "doublebarrier", func(what string, a *Answer) {
		for _, p := range a.Participants {
			in := false
			for _, m := range lanesOf(a, p.Name, path) {
				for _, s := range m.Inside {
					if s.To == 0 {
						in = true
						inside++
					} else {
						left++
					}
				}
			}
			if !p.Dead && !p.Frozen && in != p.Holds {
				t.Errorf("%s: %s is inside: %t, and its lane says %t", what, p.Name, p.Holds, in)
			}
		}
	})
	if inside == 0 || left == 0 {
		t.Errorf("%d inside, %d have left", inside, left)
	}
}
