package suite

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
)

// elector is a participant of an election on one node, with a client of its own.
type elector struct {
	*incumbent.NodeElection
	handle
	fenced chan string
}

// elector starts a participant whose crumb and epoch are next to the node.
func (c *client) elector(dir, id, state string) elector {
	c.t.Helper()
	fenced := make(chan string, 9)
	e, err := c.NodeElection(dir+"/active", incumbent.NodeElectionOptions{
		ID: id, Retry: incumbent.RetryForever(1),
		Crumb: "crumb", Epoch: "epoch",
		Fence: func(_ context.Context, data []byte) error { fenced <- string(data); return nil },
	})
	ok(c.t, err)
	c.made["nodeelection"]++
	one := elector{e, handle{c, events.ID(fmt.Sprintf("nodeelection-%d", c.made["nodeelection"]))}, fenced}
	ok(c.t, e.Start())
	one.settled(state)
	return one
}

func (e elector) lead() *incumbent.Leadership {
	e.c.t.Helper()
	held, err := e.Await(e.c.ctx)
	if err != nil {
		e.c.t.Fatalf("Await: %v\n%s", err, e.c.tape.Tail(30))
	}
	return held
}

// The node is given up in order: nobody is fenced, and nothing but the epoch is left.
func TestANodeElectionIsGivenUpInOrder(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		a := connected(t, e).elector(e.dir(), "a", "leading")
		b := connected(t, e).elector(e.dir(), "b", "standby")
		held := a.lead()
		if got, err := b.c.Get(e.dir() + "/crumb").Do(b.c.ctx); err != nil || string(got.Data) != "a" {
			t.Errorf("a leads: crumb %q, %v", got.Data, err)
		}
		held.Release()
		ok(t, a.Close(a.c.ctx))
		next := b.lead()
		if next.Token() <= held.Token() || len(b.fenced) != 0 {
			t.Errorf("token %d after %d, and b has fenced %d", next.Token(), held.Token(), len(b.fenced))
		}
		next.Release()
		ok(t, b.Close(b.c.ctx))
		names, err := b.c.Children(e.dir()).Do(b.c.ctx)
		if err != nil || fmt.Sprint(names) != "[epoch]" {
			t.Errorf("left: %q, %v", names, err)
		}
	})
}

// Somebody deletes the leader's node: the next one fences it, and what the last one writes from then on is refused.
func TestANodeElectionFencesTheLastLeader(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		a := connected(t, e).elector(e.dir(), "a", "leading")
		b := connected(t, e).elector(e.dir(), "b", "standby")
		held := a.lead()
		target := e.dir() + "/work"
		if _, err := held.Write(a.c.ctx, incumbent.CreateNode(target, []byte("a"))); err != nil {
			t.Fatal(err)
		}
		holder, _, err := b.Holder(b.c.ctx)
		ok(t, err)
		ok(t, b.c.Evict(b.c.ctx, holder))
		next := b.lead()
		if got := recv(t, b.fenced, "b to fence"); got != "a" {
			t.Errorf("b has fenced %q", got)
		}
		_, err = held.Write(a.c.ctx, incumbent.SetData(target, []byte("late"), incumbent.AnyVersion))
		if !errors.Is(err, incumbent.ErrLeadershipLost) {
			t.Errorf("a writes under b: %v", err)
		}
		if _, err := next.Write(b.c.ctx, incumbent.SetData(target, []byte("b"), incumbent.AnyVersion)); err != nil {
			t.Error(err)
		}
		held.Release()
		next.Release()
	})
}
