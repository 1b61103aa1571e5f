package machines

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/incumbent-go/incumbent/events"
)

// ElasticJob's nodes below a job's node. Those of its election are in znode.go.
const (
	jobConfig        = "config"
	jobServers       = "servers"
	jobInstances     = "instances"
	jobSharding      = "sharding"
	jobNecessary     = "leader/sharding/necessary"
	jobProcessing    = "leader/sharding/processing"
	jobFailoverItems = "leader/failover/items"
	jobFailoverLatch = "leader/failover/latch"
	jobTrigger       = "trigger"
)

// The nodes of one item, below sharding/N: the leaf of JobItem.
const (
	ItemInstance    = "instance"    // the id of the instance that the item is dealt to
	ItemRunning     = "running"     // the item runs
	ItemMisfire     = "misfire"     // it was to run while it ran
	ItemDisabled    = "disabled"    // an operator has disabled it
	ItemFailover    = "failover"    // the id of the instance that has taken it over
	ItemFailovering = "failovering" // the same, and it stays when that instance dies
)

// The data of a server's node, and the trigger that 2.1.5's console writes into an instance's node.
const (
	ServerEnabled  = "ENABLED"
	ServerDisabled = "DISABLED"
	LegacyTrigger  = "TRIGGER"
)

// JobConfigNode returns the path of a job's configuration.
func JobConfigNode(job string) string { return join(job, jobConfig) }

// IsJob reports whether a node with these children is a job's.
func IsJob(children []string) bool {
	has := func(name string) bool { return slices.Contains(children, name) }
	return has(jobConfig) && (has(jobServers) || has(jobInstances) || has(jobSharding))
}

// JobServer returns the path of a server's node: its data say whether an operator has disabled it.
func JobServer(job, ip string) string { return join(job, jobServers+"/"+ip) }

// JobServers returns the directory of a job's servers.
func JobServers(job string) string { return join(job, jobServers) }

// JobInstance returns the path of an instance's node, which exists while the instance lives.
func JobInstance(job, id string) string { return join(job, jobInstances+"/"+id) }

// JobInstances returns the directory of a job's instances.
func JobInstances(job string) string { return join(job, jobInstances) }

// JobItems returns the directory of a job's items.
func JobItems(job string) string { return join(job, jobSharding) }

// JobItemName returns an item's name in ZooKeeper.
func JobItemName(item int) string { return strconv.Itoa(item) }

// itemNumbers returns the numbers of items that are among names, sorted.
func itemNumbers(names []string) (items []int) {
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil && n >= 0 && JobItemName(n) == name {
			items = append(items, n)
		}
	}
	slices.Sort(items)
	return items
}

// JobItem returns the path of an item's node, or of a leaf of it: ItemInstance, ItemRunning, …
func JobItem(job string, item int, leaf string) string { return join(job, itemNode(item, leaf)) }

// itemNode returns the same path from the job's node on.
func itemNode(item int, leaf string) string {
	name := jobSharding + "/" + JobItemName(item)
	if leaf == "" {
		return name
	}
	return name + "/" + leaf
}

// JobNecessary returns the path of the node that says that the items have to be dealt again.
func JobNecessary(job string) string { return join(job, jobNecessary) }

// JobProcessing returns the path of the node that exists while a leader in Java deals.
func JobProcessing(job string) string { return join(job, jobProcessing) }

// JobOffers returns the directory of the items that instances may take over.
func JobOffers(job string) string { return join(job, jobFailoverItems) }

// JobFailoverItem returns the path of the node that offers an item of an instance that has died to the others.
func JobFailoverItem(job string, item int) string { return join(job, offerNode(item)) }

// offerNode returns the same path from the job's node on.
func offerNode(item int) string { return jobFailoverItems + "/" + JobItemName(item) }

// JobTrigger returns the path of the node by which a console asks an instance to run its items once.
func JobTrigger(job, id string) string { return join(job, jobTrigger+"/"+id) }

// nodesChanged reports whether a transaction was refused because a node that it names is not as it was read.
func nodesChanged(code events.Code) bool {
	return slices.Contains([]events.Code{events.NodeExists, events.NoNode, events.BadVersion, events.NotEmpty}, code)
}

// server returns the address under which an operator enables and disables an instance: in a job of 2.1.5, whose
// instances say nothing but their id, the part of that before "@-@".
func (c JobConfig) server(server, id string) string {
	if c.Legacy {
		return instanceIP(id)
	}
	return server
}

// instanceIP returns the address of the server that an instance runs on: the part of its id before "@-@".
func instanceIP(id string) string {
	ip, _, _ := strings.Cut(id, "@-@")
	return ip
}

// strategy says how a job's items are dealt.
type strategy uint8

const (
	average    strategy = iota // in the order of the instances
	odevity                    // in that order or its reverse, as the hash of the job's name is odd or even
	roundRobin                 // in that order, from the instance on that the hash of the job's name names
)

const legacyStrategies = "com.dangdang.ddframe.job.lite.api.strategy.impl."

// strategies are the ones that both ElasticJob and this library know: 3.0's types, and 2.1.5's classes.
var strategies = map[string]strategy{
	"":               average,
	"AVG_ALLOCATION": average,
	"ODEVITY":        odevity,
	"ROUND_ROBIN":    roundRobin,
	legacyStrategies + "AverageAllocationJobShardingStrategy":  average,
	legacyStrategies + "OdevitySortByNameJobShardingStrategy":  odevity,
	legacyStrategies + "RotateServerByNameJobShardingStrategy": roundRobin,
}

// KnownStrategy reports whether DealItems knows a job's strategy. An unknown one exists in Java only.
func KnownStrategy(name string) bool {
	_, ok := strategies[name]
	return ok
}

// DealItems returns the owner of each item of a job, by the job's strategy, as ElasticJob's leader does. Job is
// the name of the job's node, the instances are in any order. It returns nil if there is no
// instance, or if the strategy is not known. Where Java fails, because the smallest int is the name's hash,
// the round robin goes on by its absolute value.
func DealItems(c JobConfig, job string, instances []string) []string {
	how, known := strategies[c.Strategy]
	n := len(instances)
	if !known || n == 0 {
		return nil
	}
	order := slices.SortedFunc(slices.Values(instances), func(a, b string) int { return compareUTF16(b, a) })
	hash := javaHash(job)
	switch {
	case how == odevity && hash%2 == 0:
		slices.Reverse(order)
	case how == roundRobin:
		first := int(max(hash, -hash) % int64(n))
		order = append(order[first:], order[:first]...)
	}
	owners := make([]string, c.Total)
	share := c.Total / n
	for item := range owners {
		switch {
		case item < share*n:
			owners[item] = order[item/share]
		default:
			owners[item] = order[item-share*n]
		}
	}
	return owners
}

// javaHash returns Java's String.hashCode.
func javaHash(s string) int64 {
	var hash int32
	for _, unit := range utf16.Encode([]rune(s)) {
		hash = 31*hash + int32(unit)
	}
	return int64(hash)
}

// compareUTF16 compares two strings as Java does.
func compareUTF16(a, b string) int {
	if c := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}
