package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
)

// noSpinning checks that no machine asks again and again without a pause.
func (k *checks) noSpinning(c *client, a *world.Packet, code events.Code) {
	if k.w.queue == nil || code == events.OK || a.ID == events.SessionMachine {
		return
	}
	key := fmt.Sprint(c.ID(), a.ID, k.w.Now()/int64(time.Second))
	if k.w.queue.refusals[key]++; k.w.queue.refusals[key] > 60 {
		k.fail("no machine spins", "client %d: %s was refused %d times within a second, now with %s", c.ID(), a.ID,
			k.w.queue.refusals[key], code)
	}
}

// noQueueLeftovers checks that a machine that has ended has left no lock, and no
// marker unless others have changed it, if its session goes on.
func (k *checks) noQueueLeftovers(u *user) {
	q := k.w.queue
	if q == nil || q.rolledBack || u.c.sessionEnds || u.c.Ending() {
		return
	}
	if path := u.markerPath(); path != "" && !q.markersChanged && !u.queueHandle.outcomeUnknown {
		k.fail("nothing is left", "%s is over, and its marker %s is there", u.name(), path)
	}
	for _, name := range k.w.ens.Children(queueLocks) {
		path := queueLocks + "/" + name
		if _, stat, _ := k.w.ens.Committed().Get(path); q.lockOwners[path] == u &&
			stat.EphemeralOwner == u.c.SessionID() {
			k.fail("nothing is left", "%s is over, and its lock %s is there", u.name(), name)
		}
	}
}

// noItemLost checks at the end that each acknowledged item is in the queue or among
// the dead letters, was dealt with, or was deleted by somebody who may.
func (k *checks) noItemLost() {
	q := k.w.queue
	if q == nil || q.rolledBack || q.namesReused {
		return
	}
	there := map[string]bool{}
	for _, dir := range []string{queuePath, queueDeadLetters} {
		for _, name := range k.w.ens.Children(dir) {
			there[string(k.w.data(dir+"/"+name))] = true
		}
	}
	var lost []string
	for name, i := range q.items {
		if i.code == nil || *i.code != events.OK || there[name] {
			continue
		}
		switch {
		case i.endedBy == "":
			lost = append(lost, name)
		case i.endedBy == "taken" && i.deliveries == 0 && !i.lossReported && !i.deletedBy.c.Dead() &&
			!i.deletedBy.c.leaving:
			lost = append(lost, name+" (taken by "+i.deletedBy.name()+" and not handed over, and nobody was told)")
		}
	}
	if slices.Sort(lost); len(lost) > 0 {
		k.fail("no acknowledged item is lost", "%s", strings.Join(lost, ", "))
	}
}
