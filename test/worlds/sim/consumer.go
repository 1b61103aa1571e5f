package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// consumerRole is the role of the consumer. Its programs take items out of a queue and deal
// with them, well or not. The consumer shares its worlds with the producer.
var consumerRole = &role{
	recipe:   "consumer",
	separate: true,
	dirs:     dirTraits{own: queuePath, sub: queueDirs},
	handles:  handleTraits{most: 2, outlivesSession: true, shortWork: true},
	program:  consumerProgram{},
	states: stateTraits{
		final: []engine.State{"waiting", "latent", "closed", ""},
		wakes: map[engine.State]waking{
			"listing": answered, "settling": answered, "verifying": answered, "reading": answered, "taking": answered,
			"waiting": needs(1), "working": working, "pausing": timed,
		},
	},
	plants: plantedConsumers,
}

type consumerProgram struct{ handleProgram }

func (consumerProgram) options(u *user, _ *rand.Rand) map[string]string {
	u.queueHandle = queueHandle{locks: map[string]string{}, lastDeliveries: map[*item]*delivery{},
		lists: map[uint64][]string{}, current: &delivery{}}
	q := u.c.w.newQueue()
	q.consumers++
	return q.takeOptions()
}

// payload returns the data of the item that was read last: the machine writes them back.
func (consumerProgram) payload(u *user, number uint64) []byte {
	if number != u.queueHandle.readBy {
		return nil
	}
	return u.queueHandle.readData
}

func (consumerProgram) keepReply(u *user, ev events.Event) {
	u.queueHandle.readBy, u.queueHandle.readData = ev.Request, ev.Data
}

func (consumerProgram) noticed(u *user, n events.Notify) {
	k, b := u.c.w.checks, &u.queueHandle
	switch n.What {
	case events.Delivered:
		k.delivered(u, n)
		u.beginWork()
	case events.Withdrawn:
		b.current.withdrawn = true
		u.stopWork()
	case events.Failed:
		if i := u.c.w.queue.nodes[n.Path]; n.Code == events.ItemLost && i != nil {
			i.lossReported = true
		}
		if n.Code == events.NoAuth && !u.c.w.healed && world.OneIn(u.dice(), 6) {
			u.close()
		}
	}
}

// workReturned does what the handle does when a handler returns.
func (consumerProgram) workReturned(u *user, _ uint64, ev *events.Event) {
	one := u.queueHandle.current
	if one.withdrawn || u.closing && world.OneIn(u.dice(), 2) {
		ev.Code = events.Cancelled
	}
	one.returned, one.succeeded = true, ev.Text == ""
}

// target returns a node that the consumer depends on: one of its locks, or an item.
func (consumerProgram) target(u *user) string {
	w := u.c.w
	var all []string
	for _, name := range w.ens.Children(queueLocks) {
		if w.queue.lockOwners[queueLocks+"/"+name] == u {
			all = append(all, queueLocks+"/"+name, queuePath+"/"+name)
		}
	}
	for _, name := range w.queue.itemNames(w) {
		if len(all) < 4 {
			all = append(all, queuePath+"/"+name)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[w.Dice("shelf").IntN(len(all))]
}

// operate deletes children of items, and locks that came back with a backup under
// sessions that go on and do not know them.
func (consumerProgram) operate(w *harness) {
	if w.queue == nil {
		return
	}
	w.removeItemChildren()
	w.giveAccess("/app")
	for _, name := range w.ens.Children(queueLocks) {
		if path := queueLocks + "/" + name; w.queue.rolledBack && w.queue.lockOwners[path] == nil {
			w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
		}
	}
}

// unsettled returns what a consumer still has to do.
func (consumerProgram) unsettled(u *user) string {
	w := u.c.w
	if !slices.Contains(w.activeConsumers(), u) {
		return ""
	}
	if items := w.queue.itemNames(w); len(items) > 0 {
		return fmt.Sprintf("has items to deal with: %s", strings.Join(items, " "))
	}
	for path, locker := range w.queue.lockOwners {
		if locker == u {
			return "keeps the lock " + path
		}
	}
	return ""
}
