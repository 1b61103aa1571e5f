package machines

import (
	"maps"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// What a dealer writes, made of nothing but the job's nodes.

// has reports whether a node exists, by its path from the job's node on.
func (d *jobDealer) has(name string) bool {
	_, there := d.nodes[name]
	return there
}

// children returns the names of a node's children, sorted.
func (d *jobDealer) children(name string) (names []string) {
	all := slices.Sorted(maps.Keys(d.nodes))
	first, _ := slices.BinarySearch(all, name+"/")
	for _, child := range all[first:] {
		rest, below := strings.CutPrefix(child, name+"/")
		if !below {
			break
		}
		if !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	return names
}

// alive reports whether an instance lives.
func (d *jobDealer) alive(id string) bool { return id != "" && d.has(jobInstances+"/"+id) }

// available returns the instances whose servers are not disabled, sorted. Since ElasticJob 3.0 a server's
// node has to say that it is enabled.
func (d *jobDealer) available() []string {
	return slices.DeleteFunc(d.children(jobInstances), func(id string) bool {
		server := d.nodes[jobServers+"/"+d.addressOf(id)].data
		return server == ServerDisabled || !d.config.Legacy && server != ServerEnabled
	})
}

// addressOf returns the address of an instance's server: what its node says, since ElasticJob 3.0, or its id.
func (d *jobDealer) addressOf(id string) string {
	fields, err := yamlFields(d.nodes[jobInstances+"/"+id].data)
	for _, f := range fields {
		if ip, wrong := f.scalar(); err == nil && wrong == nil && f.key == "serverIp" && ip != "" {
			return ip
		}
	}
	return instanceIP(id)
}

// items returns the numbers of the items that have a node, sorted.
func (d *jobDealer) items() []int { return itemNumbers(d.children(jobSharding)) }

// offers returns the numbers of the items that are offered to be taken over, sorted.
func (d *jobDealer) offers() []int { return itemNumbers(d.children(jobFailoverItems)) }

// isStale reports whether an item has another owner than it should have, or a leader in Java has left behind that it
// deals. Items of a job with static sharding keep their owners.
func (d *jobDealer) isStale() bool {
	if left, there := d.nodes[jobProcessing]; there && !left.owned {
		return true
	}
	available := d.available()
	want := DealItems(d.config, base(d.path), available)
	for item := range d.config.Total {
		owner, there := d.nodes[itemNode(item, ItemInstance)]
		switch {
		case !there:
			return true
		case d.config.StaticSharding:
		case !slices.Contains(available, owner.data), want != nil && want[item] != owner.data:
			return true
		}
	}
	return slices.ContainsFunc(append(d.items(), d.offers()...), func(item int) bool { return item >= d.config.Total })
}

// dealOps returns what gives each item its owner. It fails if an item runs: the node that would say so is created and
// deleted.
func (d *jobDealer) dealOps() []events.Op {
	asRead := events.Op{Verb: "check", Path: JobConfigNode(d.path), Version: d.nodes[jobConfig].version}
	ops := []events.Op{asRead, d.delete(jobNecessary)}
	if d.has(jobProcessing) {
		ops = append(ops, d.delete(jobProcessing))
	}
	ops = d.offerOrphans(ops)
	for item, owner := range DealItems(d.config, base(d.path), d.available()) {
		ops = d.create(ops, itemNode(item, ""), "")
		if d.config.MonitorExecution {
			ops = d.proveIdle(ops, item)
		}
		if d.has(itemNode(item, ItemInstance)) {
			ops = append(ops, d.delete(itemNode(item, ItemInstance)))
		}
		ops = append(ops, d.creation(itemNode(item, ItemInstance), owner))
	}
	for _, item := range d.items() {
		if item >= d.config.Total {
			ops = d.deleteItem(ops, item)
		}
	}
	for _, item := range d.offers() {
		if item >= d.config.Total {
			ops = append(ops, d.delete(offerNode(item)))
		}
	}
	return ops
}

// proveIdle adds what fails if an item runs by the time of the transaction.
func (d *jobDealer) proveIdle(ops []events.Op, item int) []events.Op {
	running := itemNode(item, ItemRunning)
	gone := d.delete(running)
	if slices.ContainsFunc(ops, func(op events.Op) bool { return op.Verb == gone.Verb && op.Path == gone.Path }) {
		return ops // it is an orphan's
	}
	return append(ops, d.creation(running, ""), gone)
}

// deleteItem adds the deletion of an item that the job does not have any more, with all below it. An item that has
// begun to run since it was read makes it fail.
func (d *jobDealer) deleteItem(ops []events.Op, item int) []events.Op {
	top := itemNode(item, "")
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(d.nodes)), func(name string) bool {
		return name != top && !strings.HasPrefix(name, top+"/")
	})
	for _, name := range slices.Backward(names) {
		ops = append(ops, d.delete(name))
	}
	return ops
}

// create adds the creation of a node, and of the missing ones above it, unless it exists or they do already.
func (d *jobDealer) create(ops []events.Op, name, data string) []events.Op {
	comes := func(op events.Op) bool { return op.Verb == "create" && op.Path == join(d.path, name) }
	if d.has(name) || slices.ContainsFunc(ops, comes) {
		return ops
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		ops = d.create(ops, name[:i], "")
	}
	return append(ops, d.creation(name, data))
}

func (d *jobDealer) creation(name, data string) events.Op {
	return events.Op{Verb: "create", Path: join(d.path, name), Mode: events.Persistent, Data: []byte(data)}
}

// deleteAsRead is delete for a node that another instance may write to meanwhile.
func (d *jobDealer) deleteAsRead(name string) events.Op {
	op := d.delete(name)
	op.Version = d.nodes[name].version
	return op
}

func (d *jobDealer) delete(name string) events.Op {
	return events.Op{Verb: "delete", Path: join(d.path, name), Version: -1}
}
