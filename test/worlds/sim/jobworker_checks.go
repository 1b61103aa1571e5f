package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// These checks are about the items of a job that instances run.

// workedJobState is what the checks know of the runs of the job's items.
type workedJobState struct {
	runs  []*itemRun
	round int          // how often a healed world has had the items run, and one more; 0: it is not healed
	since int64        // when the round began
	begun map[int]bool // the items that have begun to run in this round
	died  bool         // an instance that ran items was killed in a healed world
}

// workRounds is how often a healed world has the items run.
const workRounds = 3

// itemRun is one item that runs at one instance, from the notice that begins it to the one that ends belief.
type itemRun struct {
	u       *user
	item    int
	session int64
	work    uint64
	excused bool // others deleted what it runs by, or replaced all data
}

// runs reports whether the instance may believe that the item is its own, and its function has not returned.
func (r *itemRun) runs() bool {
	d := r.u.c.Deadline()
	return r.u.works[r.work] && d.Session == r.session && r.u.c.Clock() < d.Until
}

// itemBegins checks the beginning of an item's run.
func (k *checks) itemBegins(u *user, n events.Notify) {
	r := &itemRun{u: u, item: int(n.Work) - 1, session: n.Session, work: n.Work}
	r.excused = u.c.dataReplacedAt != 0 && u.c.confirmed < u.c.dataReplacedAt
	k.w.Log("%s RUNS item %d", u.name(), r.item)
	if u.works[n.Work] {
		k.fail("an item runs once at a time", "%s begins item %d, which it runs", u.name(), r.item)
	}
	if d := u.c.Deadline(); !u.c.Interrupted() && (d.Session != n.Session || u.c.Clock() >= d.Until) {
		k.fail("a term begins under a confirmation", "%s begins item %d %s after its deadline", u.name(), r.item,
			time.Duration(u.c.Clock()-d.Until))
	}
	j := k.workedJob
	if j.begun == nil {
		j.begun = map[int]bool{}
	}
	j.begun[r.item] = true
	u.works[n.Work] = true
	j.runs = append(slices.DeleteFunc(j.runs, func(o *itemRun) bool { return !o.u.works[o.work] }), r)
	k.oneRuns(r)
}

// oneRuns checks that no other instance runs an item.
func (k *checks) oneRuns(r *itemRun) {
	for _, o := range k.workedJob.runs {
		if o.u != r.u && o.item == r.item && !o.excused && !r.excused && o.runs() && r.runs() {
			k.fail("an item runs once at a time", "%s and %s run item %d", o.u.name(), r.u.name(), r.item)
		}
	}
}

// itemsWithdrawn notes that an instance does not believe any more.
func (k *checks) itemsWithdrawn(u *user) {
	k.workedJob.runs = slices.DeleteFunc(k.workedJob.runs, func(r *itemRun) bool { return r.u == u })
}

// workDeleted checks that what an instance runs items by is not deleted while it believes, except by others.
func (k *checks) workDeleted(p *world.Proposal) {
	for _, path := range deletions(p.Txn) {
		for _, r := range k.workedJob.runs {
			instance := machines.JobInstance(workedJob, instanceID(r.u.c.ID()))
			mark := machines.JobItem(workedJob, r.item, machines.ItemRunning)
			switch {
			case path != instance && path != mark || r.excused || slices.Contains(creations(p.Txn), path):
			case p.Operator, p.Txn.Code == zkmem.OpCloseSession && r.u.c.shortenedUnheard():
				r.excused = true
			case r.runs():
				k.fail("belief within the life of the own node", "%s runs item %d, and %s is gone: %s",
					r.u.name(), r.item, path, brief(p.Txn))
			}
		}
	}
}

// workReplaced excuses what runs by data that were replaced.
func (k *checks) workReplaced() {
	for _, r := range k.workedJob.runs {
		r.excused = true
	}
}

// killOwner ends the process of an instance that has just begun to run items in a healed world, once, if others are
// left. What it ran has to run again elsewhere: with failover now, or in the next round.
func (j *workedJobState) killOwner(u *user) {
	w := u.c.w
	if !w.healed || j.round != 2 || j.died || len(w.ableWorkers()) < 2 {
		return
	}
	j.died = true
	w.After(time.Millisecond, func() {
		for _, r := range j.runs {
			if r.u == u && r.runs() && w.failsOver() {
				delete(j.begun, r.item)
			}
		}
		_ = u.c.Kill() // it lives
	})
}

// failsOver reports whether the job's items are taken over from instances that die.
func (w *harness) failsOver() bool {
	return strings.Contains(string(w.data(machines.JobConfigNode(workedJob))), "failover: true")
}

// jobLed reports whether somebody leads a job.
func (w *harness) jobLed() bool {
	return slices.ContainsFunc(w.usersOf("jobelection"), func(o *user) bool {
		return !o.c.Dead() && o.c.Engine().Class(o.id) == events.ClassLeading
	})
}

// itemsInEnd returns how many items the job of a healed world has. With three there is failover (makeJob).
func (w *harness) itemsInEnd() int { return 2 + w.Plan.Clients%2 }

// workLacks returns what the job lacks for every item to have run and every instance to be idle, "" for nothing.
func (w *harness) workLacks() string {
	if why := w.jobLacks(workedJob); why != "" {
		return why
	}
	var able []string
	for _, u := range w.ableWorkers() {
		able = append(able, instanceID(u.c.ID()))
		if state := u.c.Engine().State(u.id); state != "idle" {
			return fmt.Sprintf("%s is %s", u.name(), state)
		}
	}
	for item := range w.itemsInEnd() {
		owner := string(w.data(machines.JobItem(workedJob, item, machines.ItemInstance)))
		switch {
		case !slices.Contains(able, owner):
			return fmt.Sprintf("item %d belongs to %s, which has ended", item, owner)
		case w.checks.workedJob.round > 1 && !w.checks.workedJob.begun[item]:
			return fmt.Sprintf("item %d has not run", item)
		}
		for _, leaf := range []string{machines.ItemRunning, machines.ItemFailover, machines.ItemFailovering} {
			if path := machines.JobItem(workedJob, item, leaf); w.stateOf(path).stat != nil {
				return path + " stays"
			}
		}
	}
	return ""
}
