package door_test

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// standing starts an election in /plain for a user, whose nodes only this user may read.
func (w *world) standing(t *testing.T, user string, change ...func(*incumbent.Config)) (*node, *incumbent.Election) {
	t.Helper()
	n := w.open(append(change, timeouts(ableTimeout, time.Second), func(c *incumbent.Config) {
		c.Auth, c.ACL = []incumbent.Auth{incumbent.AuthOf("digest", []byte(user+":x"))}, incumbent.CreatorAll()
	})...)
	e := must(n.Election("/plain", "n_", incumbent.LatchOptions{ID: user}))
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	pass(time.Second)
	return n, e
}

// plainDirectory creates the line's directory, in which all users may do everything.
func (w *world) plainDirectory(t *testing.T) {
	t.Helper()
	if _, err := w.srv.Create("/plain", nil, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
}

// Two users stand in one election, and neither may read the other's node, which servers since 3.8.4 and 3.9.2 say to
// exists, too. A lost reply to the create costs the second neither its place nor its session: it finds its node among
// the
// others, without a pause.
func TestALostReplyAmongHiddenNodes(t *testing.T) {
	for name, lost := range map[string]zkmem.Action{"cut": zkmem.CutAfter,
		"carried out, and answered by nobody": zkmem.LoseReply} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{Release: zkmem.Release39}, func(t *testing.T, w *world) {
				w.plainDirectory(t)
				_, first := w.standing(t, "ann")
				done := false
				w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
					if r.Op == zkmem.OpCreate && !done {
						done, v.Action = true, lost
					}
					return v
				})
				n, second := w.standing(t, "bob")
				session := n.SessionID()
				if lost == zkmem.LoseReply {
					pass(2 * ableTimeout) // until the client notices that no answer comes
				}
				failed := 0
				for _, r := range n.tape.Records() {
					if r.To == "pausing" {
						failed++
					}
				}
				if second.Phase() != "waiting" || failed != 0 || second.Err() != nil {
					t.Fatalf("it is %s after %d pauses: %v\n%s", second.Phase(), failed, second.Err(), n.tape.Tail(30))
				}
				pass(5 * ableTimeout)
				if n.SessionID() != session || len(w.children("/plain")) != 2 {
					t.Errorf("session 0x%x, then 0x%x; %q", session, n.SessionID(), w.children("/plain"))
				}
				if err := first.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if pass(time.Second); !second.HasLeadership() {
					t.Errorf("it does not lead: %s", second.Phase())
				}
			})
		})
	}
}

// An operator takes the right to read the own node away. Back on a connection, the participant cannot ask whose it is.
// Its
// directory is older than the node, so no other can have the name: the node is deleted when the place is given up, or
// closed, and nothing is left behind that others wait for.
func TestAHiddenOwnNodeIsDeleted(t *testing.T) {
	for _, closes := range []bool{false, true} {
		t.Run(map[bool]string{false: "given up", true: "closed"}[closes], func(t *testing.T) {
			bubble(t, zkmem.Options{Release: zkmem.Release39}, func(t *testing.T, w *world) {
				w.plainDirectory(t)
				n, first := w.standing(t, "ann")
				session, own := n.SessionID(), w.children("/plain")[0]
				_, second := w.standing(t, "bob")
				w.hide(t, "/plain/"+own)
				n.cut()
				if closes {
					if err := first.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if pass(ableTimeout * 9 / 4); !second.HasLeadership() {
					t.Errorf("the one behind does not lead: %s, %q", second.Phase(), w.children("/plain"))
				}
				if n.SessionID() != session {
					t.Error("the session was ended for it")
				}
				for _, child := range w.children("/plain") {
					if child == own {
						t.Errorf("%s is still there", own)
					}
				}
			})
		})
	}
}

// The same, and the directory was created again meanwhile: the node of the own name is another's, and stays.
func TestAHiddenNodeOfTheSameNameIsNotDeleted(t *testing.T) {
	bubble(t, zkmem.Options{Release: zkmem.Release39}, func(t *testing.T, w *world) {
		w.plainDirectory(t)
		n, first := w.standing(t, "ann")
		own := "/plain/" + w.children("/plain")[0]
		w.refuse(n, true)
		n.cut()
		for _, path := range []string{own, "/plain"} {
			if err := w.srv.Delete(path); err != nil {
				t.Fatal(err)
			}
		}
		w.plainDirectory(t)
		_, second := w.standing(t, "bob")
		if got := w.children("/plain"); len(got) != 1 || "/plain/"+got[0] != own {
			t.Fatalf("the names are not the same: %q", got)
		}
		w.hide(t, own)
		w.refuse(n, false)
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if pass(2 * ableTimeout); len(w.children("/plain")) != 1 || !second.HasLeadership() {
			t.Errorf("another's node was deleted: %q, %s", w.children("/plain"), second.Phase())
		}
	})
}
