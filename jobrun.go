package incumbent

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/jobs"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/usercode"
	"github.com/incumbent-go/incumbent/machines"
)

// jobRun is one Run of a Job, from its call to its return.
type jobRun struct {
	job    *Job
	ctx    context.Context // ends with Run's, or with why Run ends
	cancel context.CancelCauseFunc
	worker *jobWorker
	done   chan struct{}
	ended  chan struct{} // closed when the machines have ended, too

	mu       sync.Mutex
	config   JobConfig
	unusable error         // why there is no configuration
	changed  chan struct{} // closed at the next change of the configuration
	schedule error         // what the user's schedule failed with
	election *JobElection  // nil: it is not open yet
}

// newJobRun begins a Run.
func newJobRun(ctx context.Context, j *Job, f func(context.Context, *Item) error) (*jobRun, error) {
	r := &jobRun{job: j, done: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{}),
		unusable: errors.New("not read yet")}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	var err error
	if r.worker, err = newJobWorker(r, f); err != nil {
		r.cancel(err)
		return nil, err
	}
	if err = r.worker.base.Start(r.ctx, "run"); err != nil && ctx.Err() == nil { // else wait hands over at once
		r.cancel(err)
		return nil, err
	}
	return r, nil
}

// wait waits until the Run ends, hands over, and returns why it ended: nil if ctx has.
func (r *jobRun) wait(ctx context.Context) error {
	defer close(r.done)
	defer r.job.ended()
	defer r.end()
	var all sync.WaitGroup
	dealing, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	all.Go(func() { r.keepSchedule() })
	all.Go(func() { r.stand(dealing) })
	select {
	case <-r.ctx.Done():
	case <-r.job.client.core.Closed:
		r.cancel(ErrClosed)
	}
	closing := r.closeWorker(ctx)
	stop(context.Cause(r.ctx)) // the leadership is given up last: it deals the items to others
	all.Wait()
	if ctx.Err() != nil {
		return closing
	}
	return fault.Together(r.ending(), closing)
}

// end closes ended: now, or when the machines have ended that Run has not waited for.
func (r *jobRun) end() {
	closed := []<-chan struct{}{r.worker.base.Commands.Ended()}
	if e := r.electionNow(); e != nil {
		closed = append(closed, e.latch.participant.base.Commands.Ended())
	}
	wait := func() {
		for _, ended := range closed {
			select {
			case <-ended:
			case <-r.job.client.core.Closed:
			}
		}
		close(r.ended)
	}
	for _, ended := range closed {
		select {
		case <-ended:
		default:
			go wait()
			return
		}
	}
	wait()
}

// ending returns why Run ends before its context.
func (r *jobRun) ending() error {
	why := context.Cause(r.ctx)
	if failureCode(why) != "" {
		return why
	}
	return calls.AsError("run", r.job.path, why)
}

// closeWorker ends the items, and deletes the instance's nodes when they have returned.
func (r *jobRun) closeWorker(ctx context.Context) error {
	r.worker.askClose()
	select {
	case <-r.worker.base.Works.Idle():
	case <-r.job.client.core.Closed:
	}
	late, cancel := calls.Outlive(ctx)
	defer cancel()
	return r.worker.Close(late)
}

// setConfig takes the configuration that the machine has read; on the loop's goroutine.
func (r *jobRun) setConfig(text string) {
	config, err := parseJobConfig(r.job.path, []byte(text))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unusable = err
	if err == nil {
		r.config = config
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// configNow returns the configuration that was read last.
func (r *jobRun) configNow() JobConfig {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config
}

// nextConfig returns the configuration, a channel that is closed when it changes, and why there is none.
func (r *jobRun) nextConfig() (config JobConfig, changed <-chan struct{}, unusable error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.config, r.changed, r.unusable
}

// keepSchedule triggers the items by the user's schedule, until Run ends.
func (r *jobRun) keepSchedule() {
	if r.job.options.Schedule == nil || r.job.options.Mode != JobWorks {
		return
	}
	for r.ctx.Err() == nil {
		config, changed, unusable := r.nextConfig()
		var schedule JobSchedule
		if unusable == nil {
			schedule = r.scheduleOf(config)
		}
		tick := func() time.Time { return r.nextTick(schedule) }
		for jobs.Await(r.job.wall, tick, changed, r.ctx.Done()) && r.worker.trigger(r.ctx) == nil {
		}
	}
}

// scheduleOf returns the user's schedule for a configuration, nil if there is none.
func (r *jobRun) scheduleOf(config JobConfig) (schedule JobSchedule) {
	var err error
	r.job.client.core.Log.Guard("JobOptions.Schedule", r.job.path, func() (err error) {
		schedule, err = r.job.options.Schedule(config)
		return err
	}, func(failed error) { err = failed })
	if err != nil {
		err, schedule = fmt.Errorf("incumbent: the schedule of %s: %w", fault.Path(r.job.path), err), nil
		r.job.client.core.Log.Log(zerolog.WarnLevel, "the job has no schedule", func(e *zerolog.Event) {
			journal.AddErr(e.Str("path", fault.Path(r.job.path)), err)
		})
	}
	r.setSchedule(err)
	return schedule
}

func (r *jobRun) setSchedule(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.schedule = err
}

// nextTick returns the next tick, the zero time if there is none.
func (r *jobRun) nextTick(schedule JobSchedule) (next time.Time) {
	if schedule != nil {
		r.job.client.core.Log.Guard("JobSchedule.Next", r.job.path, func() error {
			next = schedule.Next(r.job.wall())
			return nil
		}, func(err error) { r.setSchedule(err) })
	}
	return next
}

// failure returns what keeps the Run from its duty at this moment, nil if nothing does.
func (r *jobRun) failure() error {
	r.mu.Lock()
	schedule, election := r.schedule, r.election
	r.mu.Unlock()
	all := []error{r.worker.Err(), schedule}
	if election != nil {
		failed := election.latch.participant.base.Failure()
		if !errors.Is(failed, ErrJobConfig) || !errors.Is(all[0], ErrJobConfig) { // else it is the same
			all = append(all, failed)
		}
	}
	return fault.Together(all...)
}

// parseJobConfig reads what a job's config node has.
func parseJobConfig(path string, data []byte) (JobConfig, error) {
	c, err := machines.ParseJobConfig(data)
	if err != nil {
		return JobConfig{}, asError(events.JobConfig, fault.Path(machines.JobConfigNode(path))+": "+err.Error())
	}
	return JobConfig{
		Name: c.Name, Cron: c.Cron, TimeZone: c.TimeZone, Total: c.Total,
		ItemParameters: jobs.ItemParameters(c.ItemParameters), Parameter: c.Parameter,
		MonitorExecution: c.MonitorExecution, Failover: c.Failover, Misfire: c.Misfire, Strategy: c.Strategy,
		Disabled: c.Disabled,
	}, nil
}

// jobWorker is the handle of the machine that registers an instance and runs its items. A run of the items is what a
// term is elsewhere, and each item is a piece of work under it.
type jobWorker struct {
	node string // the instance's
	participant
	turn *jobRun                            // the Run that it is for
	f    func(context.Context, *Item) error // nil: no items run

	delivering bool // under mu: an item gets the present term at this moment
}

// instanceDiagnostics are the diagnostics of a job's instance, whose node has a name from the beginning.
type instanceDiagnostics struct {
	p    *participant
	node string
}

func (d instanceDiagnostics) LogTrouble(err error) { d.p.logLineTrouble(err) }
func (d instanceDiagnostics) Remains() string      { return fault.Path(d.node) }
func (d instanceDiagnostics) Overdue() error       { return d.p.overdueWork() }
func (d instanceDiagnostics) WaitsFor() error      { return d.p.placeError() }

// newJobWorker opens the machine.
func newJobWorker(r *jobRun, f func(context.Context, *Item) error) (*jobWorker, error) {
	j := r.job
	w := &jobWorker{turn: r, f: f}
	options := LatchOptions{ID: j.options.ID, Retry: j.options.Retry, WorkGrace: j.options.ItemGrace}
	w.prepare(j.client, j.path, options)
	w.what = whatItems
	open := options.open(j.path, j.client.config)
	open.Data = nil
	delete(open.Options, machines.OptionTokenFloor)
	open.Options[machines.OptionInstance], open.Options[machines.OptionIP] = j.options.ID, j.options.Server
	open.Options[machines.OptionConfig] = strconv.FormatBool(j.options.Mode == JobDeals)
	_, err := j.client.register(machines.JobWorkerRecipe, func(id events.ID) receiver {
		w.base.Machine = id
		w.node = machines.JobInstance(j.path, j.options.ID)
		w.base.Diagnostics = instanceDiagnostics{&w.participant, w.node}
		return w
	}, open)
	return w, err
}

// trigger runs the items now.
func (w *jobWorker) trigger(ctx context.Context) error {
	return w.base.Ask(ctx, "trigger", events.Event{Kind: events.CommandTrigger})
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
		w.base.NoteTrouble(n)
		if n.What == events.Failed && n.Code.Refusal() {
			w.turn.cancel(asError(n.Code, n.Text))
		}
	}
}

func (w *jobWorker) answer(a events.Answer) { w.base.Deliver(a) }

func (w *jobWorker) entered(now events.Entered) {
	w.base.Enter(now)
	if now.Class == events.ClassClosed {
		w.turn.cancel(ErrClosed)
	}
}

// deliverItem calls the function with an item, on a goroutine of its own.
func (w *jobWorker) deliverItem(n events.Notify) {
	number := int(n.Work) - 1
	t := w.presentTerm(n)
	if !w.base.Works.Begin() {
		w.setDelivering(false)
		w.base.Post(events.Event{Kind: events.WorkReturned, Work: n.Work})
		return
	}
	held := t.hold(w.turn.ctx, w.client, func(_ *Leadership, late error) { w.itemReturned(n.Work, late) })
	w.setDelivering(false)
	held.worksFor(func(l *Leadership) error {
		config := w.turn.configNow()
		return w.f(l.Context(), &Item{Number: number, Parameter: config.ItemParameters[number], Config: config,
			held: l})
	}, w.f)
	go func() {
		defer held.done(nil)
		labels := pprof.Labels("incumbent", "jobworker", "path", w.Path(), "item", strconv.Itoa(number))
		pprof.Do(held.ctx, labels, func(context.Context) {
			w.client.core.Log.Guard("the item's function", n.Path, func() error { return held.work(held) },
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
			began: w.client.core.Clock.Now(), zkSession: w.client.core.Attachment(n.Session).ID,
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
	w.client.core.Log.Log(w.client.outages.Level(&w.participant, level), "the job's items have to end",
		func(e *zerolog.Event) {
			journal.AddSession(w.identity(e).Str("why", lost.why()), t.Session, t.zkSession)
		})
}

// logItem logs an item that failed. That its context has ended is no failure, and a panic was logged.
func (w *jobWorker) logItem(ctx context.Context, n events.Notify, err error) {
	if saysTheEnd(ctx, err) || usercode.Ended(err) {
		return
	}
	w.client.core.Log.Log(zerolog.WarnLevel, "the item failed", func(e *zerolog.Event) {
		journal.AddErr(e.Str("path", fault.Path(w.Path())).Int("item", int(n.Work)-1), err)
	})
}
