package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// In some worlds the clients are instances of a job, too: one of them deals its items, and all run those that they are
// dealt.
const (
	jobPath  = "/job"
	jobItems = 4
)

// createJob creates the job's configuration, as somebody in Java does.
func (w *world) createJob() {
	config := fmt.Sprintf("jobName: job\nshardingTotalCount: %d\nmonitorExecution: true\nfailover: true\n"+
		"misfire: true\n", jobItems)
	_, _ = w.srv.Create(jobPath, nil, zkmem.Persistent)
	_, _ = w.srv.Create(machines.JobConfigNode(jobPath), []byte(config), zkmem.Persistent)
}

// openJob opens the client's instance of the job.
func (c *client) openJob() (err error) {
	id := fmt.Sprintf("10.0.0.%d@-@7", c.number)
	c.job, err = c.Job(jobPath, incumbent.JobOptions{ID: id})
	return err
}

// worksJob deals and runs items. A Run that ends by a refusal is followed by the next.
func (c *client) worksJob(ctx context.Context, d dice) {
	for n := uint64(0); ctx.Err() == nil; n++ {
		err := c.job.Run(ctx, c.runsItem)
		if errors.Is(err, incumbent.ErrClosed) || !pause(ctx, d.named("job").about(n).between(0, time.Second)) {
			return
		}
	}
}

// triggersJob has the items run, from time to time.
func (c *client) triggersJob(ctx context.Context, d dice) {
	for n := uint64(0); pause(ctx, d.named("trigger").about(n).between(100*time.Millisecond, 3*time.Second)) &&
		c.w.busy(); n++ {
		_ = c.calls(ctx, c.w.plan.timeout, "Trigger", c.job.Trigger)
	}
}

// runsItem runs an item for a while.
func (c *client) runsItem(ctx context.Context, item *incumbent.Item) error {
	c.mu.Lock()
	_, runs := c.items[item.Number]
	c.items[item.Number] = item
	c.itemRuns++
	d := c.dice.named("item").about(c.itemRuns)
	c.mu.Unlock()
	if runs {
		c.w.fail("one believer", "%s begins item %d, which it runs", c.name, item.Number)
	}
	c.w.tell("%s runs item %d with token %d", c.name, item.Number, item.Token())
	c.w.ran(item.Number)
	c.w.look()
	pause(ctx, d.between(0, c.w.plan.timeout/2))
	c.mu.Lock()
	delete(c.items, item.Number)
	c.mu.Unlock()
	return nil
}

// ran notes that an item has begun to run.
func (w *world) ran(item int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.itemsRan[item] = true
}

// workers returns who believes that it has an item.
func (w *world) workers(item int) (all []believer) {
	for _, c := range w.clients {
		c.mu.Lock()
		held := c.items[item]
		c.mu.Unlock()
		if held != nil && held.Check() == nil {
			all = append(all, believer{c.name, fmt.Sprintf("runs item %d", item), held.Token()})
		}
	}
	return all
}

// dealer returns what is wrong with a transaction that deals items: its session has to own the leader's marker. The
// caller holds the lock.
func (k *truth) dealer(txn zkmem.Txn) string {
	for _, op := range txn.Ops {
		item := strings.HasPrefix(op.Path, machines.JobItems(jobPath)+"/") && op.Code != zkmem.OpDelete
		if !item || !strings.HasSuffix(op.Path, "/"+machines.ItemInstance) {
			continue
		}
		if marker := k.nodes[machines.JobMarker(jobPath)]; marker == nil || marker.owner != txn.Session {
			return fmt.Sprintf("session %x writes %s, and has no marker", txn.Session, op.Path)
		}
	}
	return ""
}

// worked checks in the calm that every item runs, and that nothing is left then that says that items run, or have to be
// dealt.
func (w *world) worked() {
	if !w.plan.job {
		return
	}
	w.mu.Lock()
	clear(w.itemsRan)
	w.mu.Unlock()
	w.within("every item runs in the calm", func() string {
		for _, c := range w.clients {
			_ = c.calls(context.Background(), w.plan.timeout, "Trigger", c.job.Trigger)
		}
		return w.unrun()
	})
	w.within("no mark and no flag stays", w.leftOfRuns)
}

// within waits until a function returns "": as long as a leader is awaited.
func (w *world) within(check string, lacks func() string) {
	bound := time.Now().Add(endsWithin*w.plan.timeout + pausesWithin)
	for why := lacks(); why != ""; why = lacks() {
		if time.Now().After(bound) {
			w.fail(check, "%s", why)
			return
		}
		virtual.Sleep(500 * time.Millisecond)
	}
}

// unrun returns which item has not run, "" if all have.
func (w *world) unrun() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for item := range jobItems {
		if !w.itemsRan[item] {
			return fmt.Sprintf("item %d has not run", item)
		}
	}
	return ""
}

// leftOfRuns returns which mark or flag is there, "" for none.
func (w *world) leftOfRuns() string {
	paths := []string{machines.JobNecessary(jobPath), machines.JobProcessing(jobPath)}
	for item := range jobItems {
		for _, leaf := range []string{machines.ItemRunning, machines.ItemFailover, machines.ItemFailovering} {
			paths = append(paths, machines.JobItem(jobPath, item, leaf))
		}
	}
	for _, path := range paths {
		if _, there := w.truth.nodeAt(path); there {
			return path + " stays"
		}
	}
	return ""
}
