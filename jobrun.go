package incumbent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
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
	if err = r.worker.start(r.ctx, "run"); err != nil && ctx.Err() == nil { // else wait hands over at once
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
	case <-r.job.client.closed:
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
	machines := []<-chan struct{}{r.worker.commands.Ended}
	if e := r.electionNow(); e != nil {
		machines = append(machines, e.latch.participant.commands.Ended)
	}
	wait := func() {
		for _, ended := range machines {
			select {
			case <-ended:
			case <-r.job.client.closed:
			}
		}
		close(r.ended)
	}
	for _, ended := range machines {
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
	return asCallError("run", r.job.path, why)
}

// closeWorker ends the items, and deletes the instance's nodes when they have returned.
func (r *jobRun) closeWorker(ctx context.Context) error {
	r.worker.askClose()
	select {
	case <-r.worker.works.Idle():
	case <-r.job.client.closed:
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
		for r.tick(schedule, changed) {
		}
	}
}

// scheduleOf returns the user's schedule for a configuration, nil if there is none.
func (r *jobRun) scheduleOf(config JobConfig) (schedule JobSchedule) {
	var err error
	r.job.client.log.Guard("JobOptions.Schedule", r.job.path, func() (err error) {
		schedule, err = r.job.options.Schedule(config)
		return err
	}, func(failed error) { err = failed })
	if err != nil {
		err, schedule = fmt.Errorf("incumbent: the schedule of %s: %w", fault.Path(r.job.path), err), nil
		r.job.client.log.Log(zerolog.WarnLevel, "the job has no schedule", func(e *zerolog.Event) {
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

// tick waits for the next tick and triggers the items. It returns false when the configuration has changed, or Run
// ends.
func (r *jobRun) tick(schedule JobSchedule, changed <-chan struct{}) bool {
	next := r.nextTick(schedule)
	timer := time.NewTimer(clockLooks)
	defer timer.Stop()
	for {
		now := r.job.wall()
		if !next.IsZero() && !now.Before(next) {
			return r.worker.trigger(r.ctx) == nil
		}
		var look <-chan time.Time // nil: there is no tick
		if !next.IsZero() {
			timer.Reset(min(next.Sub(now), clockLooks))
			look = timer.C
		}
		select {
		case <-look:
		case <-changed:
			return false
		case <-r.ctx.Done():
			return false
		}
		if again := r.nextTick(schedule); again.Before(next) { // the clock was set back
			next = again
		}
	}
}

// clockLooks is how often a clock is read while a tick is awaited: it may be set, and the machine may be suspended.
const clockLooks = 10 * time.Second

// nextTick returns the next tick, the zero time if there is none.
func (r *jobRun) nextTick(schedule JobSchedule) (next time.Time) {
	if schedule != nil {
		r.job.client.log.Guard("JobSchedule.Next", r.job.path, func() error {
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
		failed := election.latch.participant.failure()
		if !errors.Is(failed, ErrJobConfig) || !errors.Is(all[0], ErrJobConfig) { // else it is the same
			all = append(all, failed)
		}
	}
	return fault.Together(all...)
}
