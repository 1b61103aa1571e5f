package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// What a run writes, and what has to be read because of that.

// mark marks the items that are ready as running. The marks make the leader wait that would deal these items to another
// instance. Without monitorExecution there are no marks, and the leader does not wait.
func (r *jobRun) mark(ev events.Event, out *engine.Outbox) {
	r.items = r.ready()
	r.closeLatch(out) // others may take items over meanwhile
	r.begins(markingItems, ev, out)
	ops, mode, id := []events.Op{events.Check(r.own())}, events.Ephemeral, []byte(r.instance)
	if r.lasting = r.lastingMarks(); r.lasting {
		mode = events.Persistent
	}
	if r.config.Legacy {
		id = []byte{}
	}
	for _, n := range r.items {
		if r.has(n, ItemRunning) { // it was taken over, and the mark is of a dead instance
			mark := r.view.at(r.item(n, ItemRunning), jobData)
			ops = append(ops, events.Op{Verb: "delete", Path: r.item(n, ItemRunning), Version: mark.version})
		}
		if r.config.MonitorExecution {
			ops = append(ops, events.Op{Verb: "create", Path: r.item(n, ItemRunning), Mode: mode, Data: id})
		}
		if r.has(n, ItemMisfire) { // this run is the one that was missed
			ops = append(ops, events.Op{Verb: "delete", Path: r.item(n, ItemMisfire), Version: -1})
		}
	}
	out.Multi(ops...)
}

// takeOver takes an item over, if the latch's node still exists and nobody else has taken it.
func (r *jobRun) takeOver(ev events.Event, out *engine.Outbox) {
	n, _ := r.offered()
	r.begins(takingOver, ev, out)
	r.items = []int{n}
	id, stays := []byte(r.instance), r.item(n, ItemFailovering)
	ops := []events.Op{
		events.Check(r.latchNode),
		{Verb: "delete", Path: JobFailoverItem(r.job, n), Version: -1},
		{Verb: "create", Path: r.item(n, ItemFailover), Mode: events.Ephemeral, Data: id},
	}
	switch {
	case r.config.Legacy: // 2.1.5 does not know it
	case r.has(n, ItemFailovering):
		ops = append(ops, events.Op{Verb: "set", Path: stays, Data: id, Version: -1})
	default:
		ops = append(ops, events.Op{Verb: "create", Path: stays, Mode: events.Persistent, Data: id})
	}
	out.Multi(ops...)
}

// readBack returns, besides the own node, the looks that show whether marked items are still this instance's: it was
// marked before they are read, and a leader that deals looks for marks first.
func (r *jobRun) readBack() []jobLook {
	if len(r.taken) > 0 {
		return nil
	}
	looks := r.flags()
	for _, n := range r.items {
		looks = append(looks, jobLook{r.item(n, ItemInstance), jobData})
	}
	return looks
}

// spoilRun makes what a run depends on be read again.
func (r *jobRun) spoilRun() {
	r.view.spoil(r.own())
	for _, l := range r.readBack() {
		r.view.spoil(l.path)
	}
}

// doubtful returns the looks that show what this session has.
func (r *jobRun) doubtful() []jobLook {
	looks := []jobLook{{r.own(), jobData}}
	for _, n := range r.marked {
		looks = append(looks, jobLook{r.item(n, ItemRunning), jobData})
	}
	for _, n := range r.taken {
		looks = append(looks, jobLook{r.item(n, ItemFailover), jobStat})
	}
	return looks
}

// doubtWrite notes which nodes this session may have: those of the write that is pending, too.
func (r *jobRun) doubtWrite() {
	switch r.write {
	case markingItems:
		r.marked = r.items
	case takingOver:
		r.taken = r.items
	}
	r.doubt, r.synced, r.write = true, false, noWrite
	for _, l := range r.doubtful() {
		r.view.spoil(l.path)
	}
}

// noteOutcomeUnknown notes that whether a write was carried out has to be read.
func (r *jobRun) noteOutcomeUnknown(ev events.Event, out *engine.Outbox) {
	if !ev.Code.Unknown() && r.stage != marked {
		r.items = nil
	} else {
		r.doubtWrite()
	}
	r.outruns, r.write = 0, noWrite
}

// runLooks returns the looks that show whether items may run, behind those that have to be valid before.
func (r *jobRun) runLooks(looks []jobLook) []jobLook {
	names := func(items []int) {
		for _, n := range items {
			looks = append(looks, jobLook{r.item(n, ""), jobNames})
		}
	}
	switch {
	case len(r.taken) > 0:
		names(r.taken)
		looks = append(looks, r.marksOf(r.taken)...)
	case r.wants() && !r.enabled():
		looks = append(looks, r.flags()...) // the answers follow the news that the server is enabled
	case r.wants():
		looks = append(looks, r.flags()...)
		for n := range r.config.Total {
			looks = append(looks, jobLook{r.item(n, ItemInstance), jobData})
		}
		names(r.dealt())
	}
	if r.view.valid(looks) && r.takesOver() {
		names(r.offers())
		looks = append(looks, r.marksOf(r.offers())...)
	}
	return looks
}
