package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
)

// In some worlds the clients are in an election on one node, too, with a crumb and an epoch next to it.
const (
	electionDir = "/election"
	activeNode  = electionDir + "/active"
)

// openElector opens the client's participant of the election.
func (c *client) openElector() (err error) {
	c.elector, err = c.NodeElection(activeNode, incumbent.NodeElectionOptions{Data: []byte(c.name), Crumb: "crumb",
		Epoch: "epoch", Fence: c.fences, FenceTimeout: c.w.plan.timeout})
	return errors.Join(err, c.elector.Start())
}

// fences takes a while, and fails sometimes. Who fences does not lead.
func (c *client) fences(ctx context.Context, last []byte) error {
	c.mu.Lock()
	c.fencings++
	d := c.dice.named("fence").about(c.fencings)
	c.mu.Unlock()
	c.w.tell("%s fences %q", c.name, last)
	if string(last) == c.name {
		c.w.fail("only another is fenced", "%s fences itself", c.name)
	}
	for until := time.Now().Add(d.between(0, c.w.plan.timeout/2)); time.Now().Before(until); {
		if c.elector.HasLeadership() {
			c.w.fail("who fences does not lead", "%s fences %q, and leads", c.name, last)
		}
		if !pause(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
	if c.w.busy() && d.named("fails").chance(200) {
		return errors.New("it could not be fenced")
	}
	return nil
}

// elects leads by the node, writes under that, and goes on so.
func (c *client) elects(ctx context.Context, d dice) {
	for n := uint64(0); ctx.Err() == nil; n++ {
		d := d.named("elects").about(n)
		var l *incumbent.Leadership
		err := c.calls(ctx, 2*c.w.plan.timeout, "Await", func(ctx context.Context) (err error) {
			l, err = c.elector.Await(ctx)
			return err
		})
		if errors.Is(err, incumbent.ErrClosed) {
			return
		}
		if err == nil {
			c.w.tell("%s leads by the node with token %d", c.name, l.Token())
			c.setElected(l)
			c.w.look()
			c.guarded(ctx, l, fmt.Sprintf("%s/%s-elected-%d", onceDir, c.name[7:], n))
			pause(l.Context(), d.named("work").between(0, 2*time.Second))
			c.setElected(nil)
			l.Release()
		}
		if err == nil && d.named("resign").chance(300) {
			_ = c.calls(ctx, c.w.plan.timeout, "Resign", c.elector.Resign)
		}
		if !pause(ctx, d.named("rest").between(100*time.Millisecond, 2*time.Second)) {
			return
		}
	}
}

func (c *client) setElected(l *incumbent.Leadership) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byNode = l
}
