package sim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// producerRole is the role of the producer. Its programs put items into a queue, some at once,
// take some puts back, and remove items by their ids. The producer shares its worlds with the
// consumer.
var producerRole = &role{
	recipe:   "producer",
	separate: true,
	dirs:     dirTraits{own: queuePath, sub: queueDirs},
	handles:  handleTraits{most: 2, outlivesSession: true},
	program:  producerProgram{},
	states: stateTraits{
		final: []engine.State{"idle", "full", "closed", ""},
		wakes: map[engine.State]waking{
			"marking": answered, "measuring": answered, "putting": answered, "verifying": answered, "leaving": answered,
			"full": timed, "pausing": timed,
		},
	},
	plants: plantedProducers,
}

type producerProgram struct{ handleProgram }

func (producerProgram) options(u *user, _ *rand.Rand) map[string]string {
	u.queueHandle = queueHandle{items: map[uint64]*item{}, puts: map[uint64]*pendingPut{}}
	return u.c.w.newQueue().putOptions()
}

func (producerProgram) payload(u *user, number uint64) []byte {
	if i := u.queueHandle.items[number]; i != nil {
		return []byte(i.name)
	}
	return nil
}

func (producerProgram) target(u *user) string { return u.markerPath() }

func (p producerProgram) act(u *user, n int) {
	d := u.dice()
	switch {
	case n < 8:
		for range 1 + d.IntN(4) {
			u.put(d)
		}
	case n == 8:
		p.cancel(u)
	case n == 10 && u.c.w.queue.kind == machines.ByID:
		u.removeID(string("abc"[d.IntN(3)]))
	case n == 11 && world.OneIn(d, 8) && !u.c.w.healed:
		u.c.w.queueFault(d)
	}
}

// put asks for one item, or for two at once.
func (u *user) put(d *rand.Rand) {
	w, q, b := u.c.w, u.c.w.queue, &u.queueHandle
	if w.healed || len(q.items) >= 80 {
		return
	}
	options, rank, least := u.putOptions(d)
	one := &pendingPut{generation: w.ens.Generation()}
	first := uint64(b.serial) + 1
	for range 1 + d.IntN(6)/4 {
		b.serial++
		i := &item{name: fmt.Sprintf("item %d of %d %s", b.serial, u.c.ID(), u.suffix), by: u, serial: b.serial,
			rank: rank, notBefore: least}
		q.items[i.name], b.items[uint64(b.serial)] = i, i
		one.items = append(one.items, i)
	}
	options["items"], options["bytes"] = strconv.Itoa(len(one.items)), "20"
	n := u.c.Ask(u.id, events.CommandPut, events.Event{Work: first, Options: options})
	b.puts[n], b.lastPut = one, n
}

// putOptions returns where an item is to be put, by the order of the queue.
func (u *user) putOptions(d *rand.Rand) (options map[string]string, rank, least int64) {
	w := u.c.w
	switch w.queue.kind {
	case machines.ByPriority:
		rank = int64(d.IntN(5) - 2)
		return map[string]string{"priority": fmt.Sprint(rank)}, rank, 0
	case machines.ByID:
		return map[string]string{"id": string("abc"[d.IntN(3)])}, 0, 0
	case machines.ByDue:
		most := w.Timeout / 2
		if w.queue.putsWait { // one after the other may have to wait for room
			most = min(most, 250*time.Millisecond)
		}
		delay := world.Between(d, 0, most).Truncate(time.Millisecond)
		if world.OneIn(d, 2) {
			return map[string]string{"delay": delay.String()}, 0, w.ServerTime() + delay.Milliseconds()
		}
		rank = (w.ServerTime() + delay.Milliseconds()) / 500 * 500
		return map[string]string{"due": fmt.Sprint(rank)}, rank, rank
	}
	return map[string]string{}, 0, 0
}

// cancel ends the context of the put that began last, which may have its answer already.
func (producerProgram) cancel(u *user) bool {
	if u.queueHandle.lastPut > 0 {
		u.c.Ask(u.id, events.CommandCancel, events.Event{Work: u.queueHandle.lastPut})
	}
	return u.queueHandle.lastPut > 0
}

// answered checks that an item whose put succeeded was put once, together with the
// others of its put, and that a refused or cancelled one was not put.
func (producerProgram) answered(u *user, a events.Answer) {
	one := u.queueHandle.puts[a.Command]
	if one == nil {
		return
	}
	delete(u.queueHandle.puts, a.Command)
	k := u.c.w.checks
	for _, i := range one.items {
		delete(u.queueHandle.items, uint64(i.serial))
		i.code = &a.Code
		u.queueHandle.outcomeUnknown = u.queueHandle.outcomeUnknown || a.Code == events.OutcomeUnknown
		switch {
		case u.c.w.ens.Generation() != one.generation || a.Code == events.OutcomeUnknown:
		case a.Code == events.OK && i.puts != 1:
			k.fail("an acknowledged item was put once", "%s was put %d times", i.name, i.puts)
		case a.Code != events.OK && i.puts > 0:
			k.fail("a refused item was not put", "%s is answered %s, and was put", i.name, a.Code)
		case a.Code == events.OK && i.zxid != one.items[0].zxid:
			k.fail("a put is one transaction", "%s and %s were not put as one", one.items[0].name, i.name)
		}
	}
}

// markerPath returns the producer's own node, "" for none.
func (u *user) markerPath() (path string) {
	for _, name := range u.c.w.ens.Children(queueMarkers) {
		if u.c.w.queue.markers[queueMarkers+"/"+name] == u {
			path = queueMarkers + "/" + name
		}
	}
	return path
}

// unsettled returns how many puts have no answer.
func (producerProgram) unsettled(u *user) string {
	w := u.c.w
	if len(u.queueHandle.puts) == 0 || w.queue.putsWait && len(w.activeConsumers()) == 0 {
		return ""
	}
	return fmt.Sprintf("has %d puts without an answer", len(u.queueHandle.puts))
}

// removeID does what IDQueue.Remove does: it lists the queue, and then deletes each
// item with this id in one transaction that takes the item's lock.
func (u *user) removeID(id string) {
	session := u.c.Session()
	u.c.Send(&world.Packet{ID: u.id, Request: events.Children{Call: events.Call{Session: session}, Path: queuePath},
		Done: func(a *world.Packet) {
			items, _ := machines.ByID.Backlog(a.Children)
			for _, i := range items {
				if i.ID != id {
					continue
				}
				lock, path := queueLocks+"/"+i.Name, queuePath+"/"+i.Name
				u.c.Send(&world.Packet{ID: u.id, Done: u.c.noteConfirmed,
					Request: events.Multi{Call: events.Call{Session: session}, Ops: []events.Op{
						{Verb: "create", Path: lock, Mode: events.Ephemeral},
						{Verb: "delete", Path: path, Version: -1},
						{Verb: "delete", Path: lock, Version: -1},
					}}})
			}
		}})
}
