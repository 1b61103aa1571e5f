package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// jobRun is how far an instance of a job has come with a run of its items, or of those that it takes over. A run is
// what a term is elsewhere: belief holds until its deadline, and no other instance is dealt an item before that.
type jobRun struct {
	jobWrites
	term
	sublatch // in the line for the right to take an item over

	due       bool  // a trigger has come, and its run has not begun
	misfired  int   // how many of the items that run have been written to have misfired
	again     bool  // a trigger came while a run was due or went on, or a run was cut short: a misfire
	items     []int // that run, or are marked to run
	marked    []int // the items whose node running may be this session's
	lasting   bool  // those nodes outlive the session
	taken     []int // the items that were taken over and have not run to their end
	finished  []int // the items of the last run: have they misfired?
	stage     runStage
	completed bool // all items of the run have returned under belief
	late      int  // confirmations in a row that came too late to run by
}

// runStage is how far a run has come.
type runStage uint8

const (
	unmarked runStage = iota // nothing is marked
	marked                   // the items are marked, and have to be read back and confirmed
	over                     // the marks have to be deleted
)

// wants reports whether the own items have to run.
func (r *jobRun) wants() bool {
	return r.stage == unmarked && len(r.taken) == 0 && (r.due || r.again && r.config.Misfire)
}

// noteTrigger notes a trigger. One that is no misfire reads whether the items have to be dealt, so that the run is by
// what the server knows now: the events of all that it knew before that read come before the answer.
func (r *jobRun) noteTrigger() {
	if r.due || r.stage != unmarked || r.works > 0 {
		r.again = true
		return
	}
	r.due = true
	r.view.spoil(JobNecessary(r.job))
}

// ready returns the items that can run now: those that were taken over, or the own ones that are neither disabled, nor
// taken over by others, nor running.
func (r *jobRun) ready() []int {
	if len(r.taken) > 0 {
		return slices.DeleteFunc(slices.Clone(r.taken), r.runsElsewhere)
	}
	return slices.DeleteFunc(r.dealt(), func(n int) bool {
		return r.has(n, ItemDisabled) || r.has(n, ItemRunning) || r.config.Failover && r.has(n, ItemFailover)
	})
}

// hasItems reports whether there are items to run now.
func (r *jobRun) hasItems(events.Event) bool {
	return (len(r.taken) > 0 || r.wants() && r.enabled()) && len(r.ready()) > 0
}

// awaitsDealing reports whether a run waits until the items are dealt.
func (r *jobRun) awaitsDealing(events.Event) bool { return r.wants() && r.enabled() && r.dealing() }

// offered returns the lowest item that other instances may take over, false if there is none.
func (r *jobRun) offered() (item int, ok bool) {
	for _, n := range r.offers() {
		if top := r.view.at(r.item(n, ""), jobNames); top.exists && !r.has(n, ItemFailover) &&
			!r.runsElsewhere(n) {
			return n, true
		}
	}
	return 0, false
}

// takesOver reports whether the instance takes over items of others: while it has none of its own to run now.
func (r *jobRun) takesOver() bool {
	return r.config.Failover && r.stage == unmarked && len(r.taken) == 0 && r.enabled() &&
		(!r.wants() || r.dealing() || len(r.ready()) == 0)
}

// mayTakeOver reports whether an item of an instance that has died is offered, and this one may take it over.
func (r *jobRun) mayTakeOver(events.Event) bool {
	_, is := r.offered()
	return is && r.takesOver()
}

// mayTakeOverNow reports whether the latch is held, and an item is offered.
func (r *jobRun) mayTakeOverNow(ev events.Event) bool {
	return r.mayTakeOver(ev) && r.latchNode != ""
}

// stillMine reports whether the marked items are still this instance's.
func (r *jobRun) stillMine() bool {
	if len(r.taken) > 0 {
		return true
	}
	return !r.dealing() && !slices.ContainsFunc(r.items, func(n int) bool {
		return r.view.at(r.item(n, ItemInstance), jobData).data != r.instance
	})
}

// mustUnmark reports whether marks have to be deleted: the run is over, or the items are not this instance's any more.
func (r *jobRun) mustUnmark(events.Event) bool {
	return r.stage == over || r.stage == marked && !r.stillMine()
}

// cannotGoOn reports whether marks have to be deleted although the configuration cannot be used.
func (r *jobRun) cannotGoOn(events.Event) bool {
	return r.badConfig != "" && r.stage != unmarked && r.isMine()
}

// mayRun reports whether the marked items were read back as this instance's, and a confirmation counts.
func (r *jobRun) mayRun(ev events.Event) bool { return r.stage == marked && confirmed(ev) }

// confirmsLater reports whether no confirmation would count yet.
func (r *jobRun) confirmsLater(ev events.Event) bool { return r.stage == marked && ev.AskAt > ev.At }

// isUnconfirmed reports whether the marked items lack only a confirmation.
func (r *jobRun) isUnconfirmed(events.Event) bool { return r.stage == marked }

// isTooLate reports whether confirmations come too late, again and again.
func (r *jobRun) isTooLate(ev events.Event) bool {
	return r.isUnconfirmed(ev) && r.late >= maxLateConfirmations
}

// countReturned counts an item that has returned.
func (r *jobRun) countReturned(ev events.Event, out *engine.Outbox) { r.works-- }

// lastReturned reports whether the last item that ran has returned.
func (r *jobRun) lastReturned(events.Event) bool { return r.works == 1 }

// finishRun ends a run whose marks are gone.
func (r *jobRun) finishRun() {
	if r.completed {
		r.finished, r.taken = r.items, nil
	}
	if !r.config.Misfire {
		r.finished, r.again = nil, false
	}
	r.items, r.marked, r.completed, r.stage = nil, nil, false, unmarked
}

// misfireLooks returns the looks that show whether items of the last run were to run while they ran.
func (r *jobRun) misfireLooks() (looks []jobLook) {
	for _, n := range r.finished {
		looks = append(looks, jobLook{r.item(n, ""), jobNames})
	}
	return looks
}

// noteMisfires notes whether items of the last run were to run while they ran. If they have to be dealt, the mark waits
// for the next owner.
func (r *jobRun) noteMisfires() {
	if !r.view.valid(r.misfireLooks()) {
		return
	}
	for _, n := range r.finished {
		r.again = r.again || r.has(n, ItemMisfire)
	}
	r.finished = nil
}

// markNextMisfire writes that of the next item.
func (r *jobRun) markNextMisfire(ev events.Event, out *engine.Outbox) {
	if r.misfired < len(r.items) {
		out.Create(events.Op{Path: r.item(r.items[r.misfired], ItemMisfire), Mode: events.Persistent, Data: []byte{}})
		r.misfired++
	}
}
