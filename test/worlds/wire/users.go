package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
)

// grace is how long after the end of its context a call may return: see LastMoment of internal/calls.
const grace = 1500 * time.Millisecond

// call is a call that has not returned.
type call struct {
	what  string
	until time.Time
}

// calls calls f with a context that ends after limit. If f returns later than that and the grace, the check fails.
func (c *client) calls(parent context.Context, limit time.Duration, what string, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(parent, limit)
	defer cancel()
	one := &call{what, time.Now().Add(limit)}
	c.mu.Lock()
	c.waiting[one] = true
	c.mu.Unlock()
	err := f(ctx)
	c.mu.Lock()
	delete(c.waiting, one)
	c.mu.Unlock()
	if late := time.Since(one.until); late > grace {
		c.w.fail("every call returns", "%s of %s returned %s after the end of its context", what, c.name, late)
	}
	return err
}

// leads waits for leadership, works under it, and goes on so.
func (c *client) leads(ctx context.Context, d dice) {
	for n := uint64(0); ctx.Err() == nil; n++ {
		d := d.named("leads").about(n)
		var l *incumbent.Leadership
		err := c.calls(ctx, d.named("wait").between(time.Second, 2*c.w.plan.timeout), "Await",
			func(ctx context.Context) (err error) {
				l, err = c.latch.Await(ctx)
				return err
			})
		if errors.Is(err, incumbent.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		c.mu.Lock()
		c.lead = l
		c.mu.Unlock()
		for i := range uint64(1 + d.named("writes").below(4)) {
			c.guarded(ctx, l, fmt.Sprintf("%s/%s-guarded-%d-%d", onceDir, c.name[7:], n, i))
			if !pause(l.Context(), d.named("work").about(i).between(0, 2*time.Second)) {
				break
			}
		}
		l.Release()
		if d.named("resign").chance(200) {
			_ = c.calls(ctx, c.w.plan.timeout, "Resign", c.latch.Resign)
		}
		if !pause(ctx, d.named("rest").between(0, time.Second)) {
			return
		}
	}
}

// guarded writes under a leadership. What it asks for is carried out at most once, and only by the session that has
// the leader's node.
func (c *client) guarded(ctx context.Context, l *incumbent.Leadership, path string) {
	err := c.calls(ctx, 2*c.w.plan.timeout, "Write", func(ctx context.Context) error {
		_, err := l.Write(ctx, incumbent.CreateNode(path, nil))
		return err
	})
	c.w.once(c, path, err)
	owner, known := c.w.truth.lifeOf(l.Token())
	for _, session := range c.w.seen.sentIn(path) {
		if known && session != owner.owner {
			c.w.fail("nothing crosses sessions", "%s wrote %s in session %x, under a node of session %x", c.name, path,
				session, owner.owner)
		}
	}
}

// locks locks the mutex, and unlocks it.
func (c *client) locks(ctx context.Context, d dice) {
	for n := uint64(0); ctx.Err() == nil && c.w.busy(); n++ {
		d := d.named("locks").about(n)
		var h *incumbent.Hold
		err := c.calls(ctx, d.named("wait").between(100*time.Millisecond, 2*c.w.plan.timeout), "Lock",
			func(ctx context.Context) (err error) {
				h, err = c.mutex.Lock(ctx)
				return err
			})
		if err == nil {
			c.setHold(h)
			c.w.look()
			pause(h.Context(), d.named("work").between(0, time.Second))
			c.setHold(nil)
			_ = c.calls(ctx, c.w.plan.timeout, "Unlock", h.Unlock)
		}
		if !pause(ctx, d.named("rest").between(time.Second, 5*time.Second)) {
			return
		}
	}
}

func (c *client) setHold(h *incumbent.Hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = h
}

// asks sends single requests.
func (c *client) asks(ctx context.Context, d dice) {
	for n := uint64(0); pause(ctx, d.named("rest").about(n).between(100*time.Millisecond, 3*time.Second)) &&
		c.w.busy(); n++ {
		d := d.named("asks").about(n)
		limit := d.named("limit").between(50*time.Millisecond, 2*c.w.plan.timeout)
		switch d.named("what").below(5) {
		case 0, 1:
			path := fmt.Sprintf("%s/%s-plain-%d", onceDir, c.name[7:], n)
			err := c.calls(ctx, limit, "Create", func(ctx context.Context) error {
				_, err := c.Create(path, nil).Do(ctx)
				return err
			})
			c.w.once(c, path, err)
		case 2:
			_ = c.calls(ctx, limit, "Participants", func(ctx context.Context) error {
				_, err := c.latch.Participants(ctx)
				return err
			})
		case 3:
			_ = c.calls(ctx, limit, "Get", func(ctx context.Context) error {
				_, err := c.Get(watchedOne).Do(ctx)
				return err
			})
		case 4:
			_ = c.calls(ctx, limit, "Sync", c.Sync("/").Do)
		}
	}
}

// adds adds to the number.
func (c *client) adds(ctx context.Context, d dice) {
	for n := uint64(0); pause(ctx, d.named("adds").about(n).between(time.Second, 6*time.Second)) && c.w.busy(); n++ {
		err := c.calls(ctx, 2*c.w.plan.timeout, "Add", func(ctx context.Context) error {
			_, err := c.sum.Add(ctx, 1)
			return err
		})
		c.mu.Lock()
		switch {
		case err == nil:
			c.added++
		case errors.Is(err, incumbent.ErrOutcomeUnknown):
			c.maybe++
		}
		c.mu.Unlock()
	}
}

// puts puts items into the queue. Each is put at most once.
func (c *client) puts(ctx context.Context, d dice) {
	for n := uint64(0); pause(ctx, d.named("puts").about(n).between(time.Second, 6*time.Second)) && c.w.busy(); n++ {
		item := fmt.Sprintf("%s-%d", c.name[7:], n)
		err := c.calls(ctx, 2*c.w.plan.timeout, "Put", func(ctx context.Context) error {
			return c.queue.Put(ctx, item)
		})
		c.w.put(c, item, err)
	}
}

// asksInBulk sends more reads at once than may be pending: the heartbeat must not wait for them.
func (c *client) asksInBulk(ctx context.Context, d dice) {
	const many = 80 // zkio.Config.Window is 64
	for n := uint64(0); pause(ctx, d.named("bulk").about(n).between(4*time.Second, 20*time.Second)) && c.w.busy(); n++ {
		limited, cancel := context.WithTimeout(ctx, c.w.plan.timeout)
		answered := make(chan bool, 2*many)
		for range many {
			c.Get(watchedOne).Background(limited, func(incumbent.Result) { answered <- true })
		}
		for range many {
			<-answered
		}
		cancel()
		if len(answered) > 0 {
			c.w.fail("every call returns", "%s got more answers than it asked for", c.name)
		}
	}
}
