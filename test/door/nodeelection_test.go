package door_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const activeNode = "/ha/active"

// stands opens a participant of an election on one node, and starts it.
func stands(t *testing.T, n *node, options incumbent.NodeElectionOptions) *incumbent.NodeElection {
	e := must(n.NodeElection(activeNode, options))
	fine(t, e.Start())
	pass(bound)
	return e
}

// One leads, the others stand by. A deletion by others ends the term at once, and a graceful end waits for the work.
// Each time exactly one of those who wait leads, under a higher token.
func TestOneNodeHasOneLeader(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var all []*incumbent.NodeElection
		var clients []*node
		for i := range 4 {
			clients = append(clients, w.open())
			all = append(all, stands(t, clients[i], incumbent.NodeElectionOptions{ID: fmt.Sprint(i)}))
		}
		leader, last := all[0], int64(0)
		for round := range 3 {
			held := must(leader.Await(t.Context()))
			holder, there, err := all[3].Holder(t.Context())
			if err != nil || !there || holder.ID != leader.ID() || holder.Token != held.Token() ||
				held.Token() <= last {
				t.Fatalf("round %d: %+v %t %v, token %d after %d", round, holder, there, err, held.Token(), last)
			}
			last = held.Token()
			if round == 1 {
				fine(t, clients[3].Evict(t.Context(), holder))
				<-held.Context().Done()
				held.Release()
			} else {
				closed := make(chan error, 1)
				go func() { closed <- leader.Close(t.Context()) }()
				pass(bound)
				if now, _, err := all[3].Holder(t.Context()); err != nil || now.Token != held.Token() {
					t.Errorf("the node is gone while work runs: %+v %v", now, err)
				}
				held.Release()
				fine(t, <-closed)
			}
			pass(bound)
			if leader = theLeader(t, all); leader == nil {
				return
			}
		}
	})
}

// theLeader returns the one that leads.
func theLeader(t *testing.T, all []*incumbent.NodeElection) (leader *incumbent.NodeElection) {
	for _, e := range all {
		switch {
		case !e.HasLeadership():
		case leader != nil:
			t.Errorf("%s and %s lead", leader.ID(), e.ID())
		default:
			leader = e
		}
	}
	if leader == nil {
		t.Error("nobody leads")
	}
	return leader
}

// A participant stands by while another program has the node, and says so while no session has it. The node has the
// caller's data, and a resigned participant lets others create it.
func TestANodeOfAnotherProgram(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		for _, op := range []zkmem.Op{{Code: zkmem.OpCreate, Path: "/ha", ACL: zkmem.OpenACL()},
			{Code: zkmem.OpCreate, Path: activeNode, ACL: zkmem.OpenACL()}} {
			must(w.srv.Do(op))
		}
		n := w.open(timeouts(8*time.Second, 2*time.Second))
		e := stands(t, n, incumbent.NodeElectionOptions{Data: []byte{0, 1, 2}})
		if err := e.Err(); !errors.Is(err, incumbent.ErrPersistentNode) || e.HasLeadership() {
			t.Errorf("a node of no session: %v", err)
		}
		must(w.srv.Do(zkmem.Op{Code: zkmem.OpDelete, Path: activeNode, Version: zkmem.AnyVersion}))
		pass(bound)
		held := must(e.Await(t.Context()))
		if now, _, err := e.Holder(t.Context()); err != nil || now.ID != "\x00\x01\x02" || e.Err() != nil {
			t.Errorf("data %q, %v, %v", now.ID, err, e.Err())
		}
		if _, err := held.Write(t.Context(), incumbent.CreateNode("/x", nil)); !errors.Is(err, incumbent.ErrPlainName) {
			t.Errorf("Write: %v", err)
		}
		_, err := n.NodeElection(activeNode, incumbent.NodeElectionOptions{})
		if !errors.Is(err, incumbent.ErrNodeTaken) {
			t.Errorf("a second participant of the client: %v", err)
		}
		held.Release()
		other := stands(t, w.open(timeouts(8*time.Second, 2*time.Second)), incumbent.NodeElectionOptions{})
		fine(t, e.Resign(t.Context()))
		next := must(other.Await(t.Context()))
		if e.HasLeadership() {
			t.Error("who has resigned leads again, and not the other")
		}
		next.Release()
		fine(t, e.Close(t.Context()))
		must(n.NodeElection(activeNode, incumbent.NodeElectionOptions{}))
	})
}

// WatchLeader at the node of such an election says what is there.
func TestTheNodeOfAnElectionHasNoLine(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		stands(t, w.open(), incumbent.NodeElectionOptions{})
		log := logLeaders(t, w.open(), activeNode)
		pass(bound)
		if err := log.lastError(); err == nil || !strings.Contains(err.Error(), "/ha/active is an ephemeral node") {
			t.Errorf("at the node: %v", err)
		}
	})
}
