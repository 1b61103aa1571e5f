package machines

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// instanceView is who an instance of a job is, and what it has read of the job: the configuration, its own node and
// server, and the items' nodes. It sends nothing.
type instanceView struct {
	job      string // the path of its node
	instance string // the own id
	ip       string
	session  int64 // ZooKeeper's id of the session
	token    int64 // the czxid of the own node; 0: there is none that is known of

	view       jobView
	config     JobConfig
	badConfig  string // what is wrong with it; "": nothing
	configRead string // the configuration that the handle was notified of
}

// own returns the path of the own node.
func (i *instanceView) own() string { return JobInstance(i.job, i.instance) }

// server returns the path of the node by which an operator disables the instance.
func (i *instanceView) server() string { return JobServer(i.job, i.config.server(i.ip, i.instance)) }

// item returns the path of an item's leaf.
func (i *instanceView) item(n int, leaf string) string { return JobItem(i.job, n, leaf) }

// isOwn reports whether an event is about the own node.
func (i *instanceView) isOwn(ev events.Event) bool { return ev.Path == i.own() }

// isMine reports whether the own node was read as this session's.
func (i *instanceView) isMine() bool {
	own := i.view.at(i.own(), jobData)
	return own.valid && own.exists && own.owner == i.session
}

// isOccupied reports whether another session's node has the own id.
func (i *instanceView) isOccupied(events.Event) bool {
	return i.view.at(i.own(), jobData).exists && !i.isMine()
}

// wasRemoved reports whether somebody has deleted the own node, as ElasticJob's console does to end an instance.
func (i *instanceView) wasRemoved(events.Event) bool {
	return i.token != 0 && !i.view.at(i.own(), jobData).exists
}

// unregistered reports whether the instance has no node in this session yet.
func (i *instanceView) unregistered(events.Event) bool { return i.token == 0 }

// mustUnregister reports whether the instance is registered, and cannot read the configuration: what it is dealt would
// not run. A job whose configuration is missing is being removed, or made.
func (i *instanceView) mustUnregister(events.Event) bool {
	return i.badConfig != "" && i.view.at(JobConfigNode(i.job), jobData).exists && i.token != 0 && i.isMine()
}

// enabled reports whether no operator has disabled the server.
func (i *instanceView) enabled() bool {
	return i.view.at(i.server(), jobData).data != ServerDisabled
}

// record returns the data of the own node, as Java reads them.
func (i *instanceView) record() []byte {
	if i.config.Legacy {
		return []byte{}
	}
	return []byte("jobInstanceId: " + yamlScalar(i.instance) + "\nserverIp: " + yamlScalar(i.ip) + "\n")
}

// yamlScalar returns a string in YAML, as ElasticJob writes it where no quotes are needed.
func yamlScalar(s string) string {
	address, _, _ := strings.Cut(s, "@-@")
	odd := strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-@")
	// What is not quoted has an address in front, so it is no number.
	if odd == "" && strings.Count(address, ".") == 3 && !strings.HasPrefix(s, "@") && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// legacyTrigger reports whether the own node's data are what 2.1.5's console writes there.
func (i *instanceView) legacyTrigger() bool {
	return i.view.at(i.own(), jobData).data == LegacyTrigger
}

// isAskedToRun reports whether a console asks this instance to run its items once.
func (i *instanceView) isAskedToRun(events.Event) bool {
	return i.view.at(JobTrigger(i.job, i.instance), jobStat).exists || i.legacyTrigger()
}

// attach notes the session of the new connection.
func (i *instanceView) attach(ev events.Event, out *engine.Outbox) {
	i.session, i.view.readAt = ev.SessionID, ev.At
}

// noteWatch makes what a watch is about be read again.
func (i *instanceView) noteWatch(ev events.Event, out *engine.Outbox) { i.view.spoil(ev.Path) }

// readAgain makes the nodes be read again whose watches may have missed something: a server sends no event of a node
// that this client may not read, or could not for a while.
func (i *instanceView) readAgain(ev events.Event, out *engine.Outbox) {
	if ev.Name == confirmTimer {
		return
	}
	i.view.readAt = ev.At
	for _, path := range []string{
		JobConfigNode(i.job), i.own(), i.server(), JobTrigger(i.job, i.instance), JobOffers(i.job),
		JobNecessary(i.job), JobProcessing(i.job),
	} {
		i.view.spoil(path)
	}
}

// noteConfig notes the configuration that was read.
func (i *instanceView) noteConfig() (changed bool) {
	node := i.view.at(JobConfigNode(i.job), jobData)
	switch {
	case !node.valid:
		return false
	case !node.exists:
		changed = i.configRead != ""
		i.config, i.configRead, i.badConfig = JobConfig{}, "", noJobConfig
	case node.data != i.configRead || i.badConfig != "":
		changed = node.data != i.configRead
		c, err := parseJobConfigFor(i.instance, []byte(node.data))
		i.config, i.configRead, i.badConfig = c, node.data, ""
		if err != nil {
			i.badConfig = err.Error()
		}
	}
	return changed
}

// configUnusable reports whether there is no configuration that can be read.
func (i *instanceView) configUnusable(events.Event) bool { return i.badConfig != "" }

// lastingMarks reports whether marks outlive the session, as those of 3.0 do while failover is on: by what a dead
// instance has left, the others know which items to take over.
func (i *instanceView) lastingMarks() bool {
	return i.config.Failover && i.config.MonitorExecution && !i.config.Legacy
}

// has reports whether an item has a leaf.
func (i *instanceView) has(n int, leaf string) bool {
	return slices.Contains(i.view.at(i.item(n, ""), jobNames).names, leaf)
}

// dealt returns the own items, as they were dealt.
func (i *instanceView) dealt() (items []int) {
	for n := range i.config.Total {
		if i.view.at(i.item(n, ItemInstance), jobData).data == i.instance {
			items = append(items, n)
		}
	}
	return items
}

// offers returns the items of instances that have died.
func (i *instanceView) offers() []int {
	return slices.DeleteFunc(itemNumbers(i.view.at(JobOffers(i.job), jobNames).names), func(n int) bool {
		return n >= i.config.Total
	})
}

// itemsThere returns the items that had a node when the instance looked for its marks.
func (i *instanceView) itemsThere() []int {
	return itemNumbers(i.view.at(JobItems(i.job), jobNames).names)
}

// flags returns the looks that show whether the items are being dealt.
func (i *instanceView) flags() []jobLook {
	return []jobLook{{JobNecessary(i.job), jobStat}, {JobProcessing(i.job), jobStat}}
}

// dealing reports whether the items have to be dealt first.
func (i *instanceView) dealing() bool {
	return slices.ContainsFunc(i.flags(), func(l jobLook) bool { return i.view.at(l.path, l.of).exists })
}

// runsElsewhere reports whether a live instance has marked an item. The mark of a dead one may have stayed.
func (i *instanceView) runsElsewhere(n int) bool {
	mark := i.view.at(i.item(n, ItemRunning), jobData)
	return i.has(n, ItemRunning) && mark.exists &&
		(mark.owner != 0 || slices.Contains(i.view.at(JobInstances(i.job), jobNames).names, mark.data))
}

// hasMarked reports whether an item was read as marked by this instance. A mark that lasts has no owner.
func (i *instanceView) hasMarked(n int) bool {
	mark := i.view.at(i.item(n, ItemRunning), jobData)
	return mark.exists && (mark.owner == i.session || mark.data == i.instance)
}

// marksOf returns the looks that show who has marked items.
func (i *instanceView) marksOf(items []int) (looks []jobLook) {
	for _, n := range items {
		if i.has(n, ItemRunning) {
			looks = append(looks, jobLook{i.item(n, ItemRunning), jobData}, jobLook{JobInstances(i.job), jobNames})
		}
	}
	return looks
}

// Watches reports which nodes matter.
func (i *instanceView) Watches(path string) bool { return strings.HasPrefix(path, i.job+"/") }
