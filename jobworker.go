package incumbent

import (
	"context"
	"errors"
	"runtime/pprof"
	"strconv"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/usercode"
	"github.com/incumbent-go/incumbent/machines"
)

// jobWorker is the handle of the machine that registers an instance and runs its items. A run of the items is what a
// term is elsewhere, and each item is a piece of work under it.
type jobWorker struct {
	participant
	turn *jobRun                            // the Run that it is for
	f    func(context.Context, *Item) error // nil: no items run

	delivering bool // under mu: an item gets the present term at this moment
}

// newJobWorker opens the machine.
func newJobWorker(r *jobRun, f func(context.Context, *Item) error) (*jobWorker, error) {
	j := r.job
	w := &jobWorker{turn: r, f: f}
	options := LatchOptions{ID: j.options.ID, Retry: j.options.Retry, WorkGrace: j.options.ItemGrace}
	w.prepare(j.client, j.path, options)
	w.what, w.troubleText = whatItems, "cannot run the job's items for now"
	open := options.open(j.path, j.client.config)
	open.Data = nil
	delete(open.Options, "tokenFloor")
	open.Options["instance"], open.Options["ip"] = j.options.ID, j.options.Server
	open.Options["config"] = strconv.FormatBool(j.options.Mode == JobDeals)
	_, err := j.client.register(machines.JobWorkerRecipe.Name(), func(id events.ID) receiver {
		w.id = id
		w.node = machines.JobInstance(j.path, j.options.ID)
		return w
	}, open)
	return w, err
}

// trigger runs the items now.
func (w *jobWorker) trigger(ctx context.Context) error {
	return w.ask(ctx, "trigger", events.Event{Kind: events.CommandTrigger})
}

// notice takes the machine's notices; on the loop's goroutine.
func (w *jobWorker) notice(n events.Notify) {
	switch n.What {
	case events.Delivered:
		w.deliverItem(n)
	case events.Withdrawn:
		w.withdraw(n)
	case events.Value:
		w.turn.setConfig(n.Text)
	case events.Ended:
		w.turn.cancel(asError(n.Code, n.Text))
	default:
		w.noteTrouble(n)
		if n.What == events.Failed && n.Code.Refusal() {
			w.turn.cancel(asError(n.Code, n.Text))
		}
	}
}

func (w *jobWorker) answer(a events.Answer) { w.deliver(a) }

func (w *jobWorker) entered(state string) {
	w.enter(state)
	if state == "closed" {
		w.turn.cancel(ErrClosed)
	}
}

// deliverItem calls the function with an item, on a goroutine of its own.
func (w *jobWorker) deliverItem(n events.Notify) {
	number := int(n.Work) - 1
	t := w.presentTerm(n)
	if !w.works.Begin() {
		w.setDelivering(false)
		w.client.post(w.id, events.Event{Kind: events.WorkReturned, Work: n.Work})
		return
	}
	held := t.hold(w.turn.ctx, w.client, func(late error) { w.itemReturned(n.Work, late) })
	w.setDelivering(false)
	held.worksFor(func(l *Leadership) error {
		config := w.turn.configNow()
		return w.f(l.Context(), &Item{Number: number, Parameter: config.ItemParameters[number], Config: config,
			held: l})
	})
	go func() {
		defer held.done(nil)
		labels := pprof.Labels("incumbent", "jobworker", "path", w.path, "item", strconv.Itoa(number))
		pprof.Do(held.ctx, labels, func(context.Context) {
			w.client.log.Guard("the item's function", n.Path, func() error { return held.work(held) },
				func(err error) { w.logItem(held.ctx, n, err) })
		})
	}()
}

// presentTerm returns the term of the present run, which begins with its first item. It does not end before
// setDelivering(false).
func (w *jobWorker) presentTerm(n events.Notify) *heldTerm {
	w.mu.Lock()
	t := w.term
	w.delivering = true
	w.mu.Unlock()
	if t == nil {
		t = &heldTerm{
			Term: Term{w.node, n.Token, n.Session}, holder: &w.participant,
			began: w.client.clock.Now(), zkSession: w.client.attachment(n.Session).id,
		}
		w.setTerm(t)
	}
	return t
}

func (w *jobWorker) setDelivering(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delivering = is
}

// itemReturned notes that an item's function has returned, or that its grace is over.
func (w *jobWorker) itemReturned(work uint64, late error) {
	w.mu.Lock()
	if t := w.term; t != nil && t.working() == 0 && !w.delivering {
		w.term = nil
	}
	w.mu.Unlock()
	w.returned(events.Event{Work: work}, late)
}

// withdraw ends the contexts of the items that run.
func (w *jobWorker) withdraw(n events.Notify) {
	w.mu.Lock()
	t := w.term
	w.mu.Unlock()
	if t == nil { // all have returned in the same moment
		return
	}
	lost := w.client.lost(t, Reason(n.Reason), n.Paused)
	t.end(lost)
	level := zerolog.WarnLevel
	if lost.Reason.Planned() {
		level = zerolog.InfoLevel
	}
	w.client.log.Log(w.client.outages.level(&w.participant, level), "the job's items have to end",
		func(e *zerolog.Event) {
			addSession(w.identity(e).Str("why", lost.why()), t.Session, t.zkSession)
		})
}

// logItem logs an item that failed. That its context has ended is no failure, and a panic was logged.
func (w *jobWorker) logItem(ctx context.Context, n events.Notify, err error) {
	var panicked *usercode.Error
	if saysTheEnd(ctx, err) || errors.As(err, &panicked) {
		return
	}
	w.client.log.Log(zerolog.WarnLevel, "the item failed", func(e *zerolog.Event) {
		journal.AddErr(e.Str("path", fault.Path(w.path)).Int("item", int(n.Work)-1), err)
	})
}
