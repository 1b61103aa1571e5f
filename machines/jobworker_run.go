package machines

import (
	"slices"
	"strings"
)

// jobRun is how far an instance has come with a run of its items.
type jobRun struct {
	doubtedWrite // of marked, taken and the own node

	due       bool  // a trigger has come, and its run has not begun
	misfired  int   // how many of the items that run have been written to have misfired
	again     bool  // a trigger came while a run was due or went on, or a run was cut short: a misfire
	items     []int // that run, or are marked to run
	marked    []int // the items whose node running may be this session's
	lasting   bool  // those nodes outlive the session
	taken     []int // the items that were taken over and have not run to their end
	finished  []int // the items of the last run: have they misfired?
	stage     runStage
	completed bool  // all items of the run have returned under belief
	scanned   bool  // the marks of earlier sessions are known
	sought    bool  // and what was taken over in one
	orphans   []int // the items that were, and have to be offered again
	write     jobWrite
	deletes   int // that are pending
	unsent    int // marks that are deleted after those that are pending
	outruns   int // writes in a row that came too late
	late      int // confirmations in a row that came too late to run by
}

// runStage is how far a run has come.
type runStage uint8

const (
	unmarked runStage = iota // nothing is marked
	marked                   // the items are marked, and have to be read back and confirmed
	over                     // the marks have to be deleted
)

// jobWrite is the write that is pending.
type jobWrite uint8

const (
	noWrite jobWrite = iota
	registering
	unregistering
	markingItems
	confirmingRun
	unmarking
	takingOver
	offering        // of an item that this instance had taken over in an earlier session
	clearingFlag    // deletes the node trigger/<id>
	clearingTrigger // sets the own node's data back
)

// item returns the path of an item's leaf.
func (w *jobWorker) item(n int, leaf string) string { return JobItem(w.job, n, leaf) }

// own returns the path of the own node.
func (w *jobWorker) own() string { return JobInstance(w.job, w.instance) }

// enabled reports whether no operator has disabled the server.
func (w *jobWorker) enabled() bool {
	return w.view.at(w.server(), jobData).data != ServerDisabled
}

// server returns the path of the node by which an operator disables the instance.
func (w *jobWorker) server() string { return JobServer(w.job, w.config.server(w.ip, w.instance)) }

// wants reports whether the own items have to run.
func (w *jobWorker) wants() bool {
	return w.stage == unmarked && len(w.taken) == 0 && (w.due || w.again && w.config.Misfire)
}

// dealt returns the own items, as they were dealt.
func (w *jobWorker) dealt() (items []int) {
	for n := range w.config.Total {
		if w.view.at(w.item(n, ItemInstance), jobData).data == w.instance {
			items = append(items, n)
		}
	}
	return items
}

// ready returns the items that can run now: those that were taken over, or the own ones that are neither disabled, nor
// taken over by others, nor running.
func (w *jobWorker) ready() []int {
	if len(w.taken) > 0 {
		return slices.DeleteFunc(slices.Clone(w.taken), w.runsElsewhere)
	}
	return slices.DeleteFunc(w.dealt(), func(n int) bool {
		return w.has(n, ItemDisabled) || w.has(n, ItemRunning) || w.config.Failover && w.has(n, ItemFailover)
	})
}

// has reports whether an item has a leaf.
func (w *jobWorker) has(n int, leaf string) bool {
	return slices.Contains(w.view.at(w.item(n, ""), jobNames).names, leaf)
}

// offered returns the lowest item that other instances may take over, false if there is none.
func (w *jobWorker) offered() (item int, ok bool) {
	for _, n := range w.offers() {
		if top := w.view.at(w.item(n, ""), jobNames); top.exists && !w.has(n, ItemFailover) &&
			!w.runsElsewhere(n) {
			return n, true
		}
	}
	return 0, false
}

// offers returns the items of instances that have died.
func (w *jobWorker) offers() []int {
	return slices.DeleteFunc(itemNumbers(w.view.at(JobOffers(w.job), jobNames).names), func(n int) bool {
		return n >= w.config.Total
	})
}

// takesOver reports whether the instance takes over items of others: while it has none of its own to run now.
func (w *jobWorker) takesOver() bool {
	return w.config.Failover && w.stage == unmarked && len(w.taken) == 0 && w.enabled() &&
		(!w.wants() || w.dealing() || len(w.ready()) == 0)
}

// doubtful returns the looks that show what this session has.
func (w *jobWorker) doubtful() []jobLook {
	looks := []jobLook{{w.own(), jobData}}
	for _, n := range w.marked {
		looks = append(looks, jobLook{w.item(n, ItemRunning), jobData})
	}
	for _, n := range w.taken {
		looks = append(looks, jobLook{w.item(n, ItemFailover), jobStat})
	}
	return looks
}

// readBack returns, besides the own node, the looks that show whether marked items are still this instance's: it was
// marked before they are read, and a leader that deals looks for marks first.
func (w *jobWorker) readBack() []jobLook {
	if len(w.taken) > 0 {
		return nil
	}
	looks := w.flags()
	for _, n := range w.items {
		looks = append(looks, jobLook{w.item(n, ItemInstance), jobData})
	}
	return looks
}

// flags returns the looks that show whether the items are being dealt.
func (w *jobWorker) flags() []jobLook {
	return []jobLook{{JobNecessary(w.job), jobStat}, {JobProcessing(w.job), jobStat}}
}

// dealing reports whether the items have to be dealt first.
func (w *jobWorker) dealing() bool {
	return slices.ContainsFunc(w.flags(), func(l jobLook) bool { return w.view.at(l.path, l.of).exists })
}

// stillMine reports whether the marked items are still this instance's.
func (w *jobWorker) stillMine() bool {
	if len(w.taken) > 0 {
		return true
	}
	return !w.dealing() && !slices.ContainsFunc(w.items, func(n int) bool {
		return w.view.at(w.item(n, ItemInstance), jobData).data != w.instance
	})
}

// needs returns what has to be known before the next decision. What is needed may depend on what is known.
func (w *jobWorker) needs() (looks []jobLook) {
	if w.doubt {
		looks = w.doubtful()
	}
	if w.ending {
		return looks
	}
	looks = append(looks, jobLook{JobConfigNode(w.job), jobData})
	if w.watcher || !w.view.valid(looks) {
		return looks
	}
	looks = append(looks, jobLook{w.own(), jobData})
	if w.badConfig != "" {
		return looks
	}
	looks = append(looks, jobLook{w.server(), jobData}, jobLook{JobTrigger(w.job, w.instance), jobStat})
	if w.config.Failover {
		looks = append(looks, jobLook{JobOffers(w.job), jobNames})
	}
	if w.stage == marked {
		return append(looks, w.readBack()...)
	}
	if w.token == 0 || !w.view.valid(looks) {
		return looks
	}
	return append(looks, w.runNeeds()...)
}

// runNeeds returns what has to be known for a run.
func (w *jobWorker) runNeeds() (looks []jobLook) {
	names := func(items []int) {
		for _, n := range items {
			looks = append(looks, jobLook{w.item(n, ""), jobNames})
		}
	}
	if !w.scanned {
		return w.scan()
	}
	if w.seeks() {
		return w.seek()
	}
	names(w.finished)
	looks = append(looks, w.orphanLooks()...)
	switch {
	case len(w.taken) > 0:
		names(w.taken)
		looks = append(looks, w.marksOf(w.taken)...)
	case w.wants() && !w.enabled():
		looks = append(looks, w.flags()...) // the answers follow the news that the server is enabled
	case w.wants():
		looks = append(looks, w.flags()...)
		for n := range w.config.Total {
			looks = append(looks, jobLook{w.item(n, ItemInstance), jobData})
		}
		names(w.dealt())
	}
	if w.view.valid(looks) && w.takesOver() {
		names(w.offers())
		looks = append(looks, w.marksOf(w.offers())...)
	}
	return looks
}

// noteConfig notes the configuration that was read.
func (w *jobWorker) noteConfig() (changed bool) {
	node := w.view.at(JobConfigNode(w.job), jobData)
	switch {
	case !node.valid:
		return false
	case !node.exists:
		changed = w.configRead != ""
		w.config, w.configRead, w.badConfig = JobConfig{}, "", noJobConfig
	case node.data != w.configRead || w.badConfig != "":
		changed = node.data != w.configRead
		c, err := parseJobConfigFor(w.instance, []byte(node.data))
		w.config, w.configRead, w.badConfig = c, node.data, ""
		if err != nil {
			w.badConfig = err.Error()
		}
	}
	return changed
}

// noteMisfires notes whether items of the last run were to run while they ran. If they have to be dealt, the mark waits
// for the next owner.
func (w *jobWorker) noteMisfires() {
	for _, n := range w.finished {
		if !w.view.at(w.item(n, ""), jobNames).valid {
			return
		}
	}
	for _, n := range w.finished {
		w.again = w.again || w.has(n, ItemMisfire)
	}
	w.finished = nil
}

// settleDoubt notes what this session has, once that was read. Marks that it has are deleted: what became of their run
// is not known.
func (w *jobWorker) settleDoubt() {
	if !w.doubt || !w.view.valid(w.doubtful()) {
		return
	}
	w.marked = slices.DeleteFunc(slices.Clone(w.marked), func(n int) bool { return !w.hasMarked(n) })
	w.taken = slices.DeleteFunc(slices.Clone(w.taken), func(n int) bool {
		return w.view.at(w.item(n, ItemFailover), jobStat).owner != w.session
	})
	if w.ending && !w.isMine() {
		w.token = 0
	}
	w.doubt, w.synced = false, false
	if w.stage = unmarked; len(w.marked) > 0 || w.completed && len(w.taken) > 0 {
		w.stage = over
	} else {
		w.finishRun()
	}
}

// finishRun ends a run whose marks are gone.
func (w *jobWorker) finishRun() {
	if w.completed {
		w.finished, w.taken = w.items, nil
	}
	if !w.config.Misfire {
		w.finished, w.again = nil, false
	}
	w.items, w.marked, w.completed, w.stage = nil, nil, false, unmarked
}

// deletions returns the nodes that have to be deleted: of a run that was completed, and of a machine that ends, all
// that this session has.
func (w *jobWorker) deletions() (paths []string) {
	for _, n := range w.taken {
		if w.completed {
			paths = append(paths, w.item(n, ItemFailovering))
		}
		if w.completed || w.ending {
			paths = append(paths, w.item(n, ItemFailover))
		}
	}
	for _, n := range w.marked {
		paths = append(paths, w.item(n, ItemRunning))
	}
	if w.ending && w.token != 0 {
		paths = append(paths, w.own())
	}
	return paths
}

// isMine reports whether the own node was read as this session's.
func (w *jobWorker) isMine() bool {
	own := w.view.at(w.own(), jobData)
	return own.valid && own.exists && own.owner == w.session
}

// Watches reports which nodes matter.
func (w *jobWorker) Watches(path string) bool { return strings.HasPrefix(path, w.job+"/") }
