package machines

import (
	"maps"

	"github.com/incumbent-go/incumbent/events"
)

// What a dealer offers to others, because an instance has died.

// orphaned reports whether an item runs by its node only: the instance that ran it is dead, and none has taken it over.
// With failover such nodes outlive their session.
func (d *jobDealer) orphaned(item int) bool {
	running, there := d.nodes[itemNode(item, ItemRunning)]
	return there && !running.owned && !d.alive(running.data) && !d.has(itemNode(item, ItemFailover))
}

// flagOps returns what says that items have to be dealt, and offers what dead instances ran to others.
func (d *jobDealer) flagOps() []events.Op {
	return d.offerOrphans(d.create(nil, jobNecessary, ""))
}

// offerOrphans adds what offers the items that dead instances ran or had taken over, and ends their nodes that say that
// they run. A job of 2.1.5 has no such nodes: all items of an instance that has died are offered, once.
func (d *jobDealer) offerOrphans(ops []events.Op) []events.Op {
	for item := range d.config.Total {
		if _, owed := d.owed[JobItemName(item)]; owed {
			ops = d.offer(ops, item)
		}
		taken, wasTaken := d.nodes[itemNode(item, ItemFailovering)]
		wasTaken = wasTaken && !d.alive(taken.data)
		if !wasTaken && !d.orphaned(item) {
			continue
		}
		ops = d.offer(ops, item)
		if wasTaken {
			ops = append(ops, d.deleteAsRead(itemNode(item, ItemFailovering)))
		}
		if d.orphaned(item) {
			ops = append(ops, d.deleteAsRead(itemNode(item, ItemRunning)))
		}
	}
	return ops
}

// offer adds what offers an item to the other instances, if there is failover and none has it.
func (d *jobDealer) offer(ops []events.Op, item int) []events.Op {
	name := offerNode(item)
	if !d.config.Failover || d.has(name) || d.has(itemNode(item, ItemFailover)) {
		return ops
	}
	return d.create(ops, name, "")
}

// instanceItems is what an instance of a job of 2.1.5 had when everything was read last.
type instanceItems struct {
	instance string
	items    []int // those that it had taken over, or else those that it was dealt
}

// holdings returns what each instance that lives has.
func (d *jobDealer) holdings() (all []instanceItems) {
	items := d.items()
	of := func(id, leaf string) (has []int) {
		for _, item := range items {
			if owner, there := d.nodes[itemNode(item, leaf)]; there && owner.data == id {
				has = append(has, item)
			}
		}
		return has
	}
	for _, id := range d.children(jobInstances) {
		had := of(id, ItemFailover)
		if len(had) == 0 {
			had = of(id, ItemInstance)
		}
		all = append(all, instanceItems{id, had})
	}
	return all
}

// noteDeaths notes which items have to be offered because an instance has died, in a job of 2.1.5: nothing but the
// news of its death shows them. Each dealer notes that, also while another instance leads, until it sees that the
// item is offered, taken over or dealt again.
func (d *jobDealer) noteDeaths() {
	if !d.config.Legacy || !d.config.Failover {
		d.held, d.owed = nil, map[string]string{}
		return
	}
	owner := func(item string) string { return d.nodes[jobSharding+"/"+item+"/"+ItemInstance].data }
	maps.DeleteFunc(d.owed, func(item, of string) bool { return owner(item) != of })
	for _, h := range d.held {
		if d.alive(h.instance) {
			continue
		}
		for _, item := range h.items {
			if !d.has(offerNode(item)) && !d.has(itemNode(item, ItemFailover)) {
				d.owed[JobItemName(item)] = owner(JobItemName(item))
			}
		}
	}
	d.held = d.holdings()
}

// noteOffered notes that an item is offered to others, or taken over.
func (d *jobDealer) noteOffered(name string) {
	maps.DeleteFunc(d.owed, func(item, _ string) bool {
		return name == jobFailoverItems+"/"+item || name == jobSharding+"/"+item+"/"+ItemFailover
	})
}
