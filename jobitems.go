package incumbent

import (
	"context"
	"errors"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/usercode"
	"github.com/incumbent-go/incumbent/machines"
)

// JobItem is what is known of one item of a job.
type JobItem struct {
	Number    int
	Instance  string // the id of the instance that it is dealt to; empty: it is not dealt
	Alive     bool   // that instance's node exists
	Running   bool   // a node says that it runs
	Disabled  bool   // an operator has disabled it
	Misfire   bool   // it was to run while it ran, and will run once more
	TakenOver string // the id of the instance that runs it once, because its own has died; empty: none does
	TakeOver  bool   // it is offered to be taken over
	Parameter string // from JobConfig.ItemParameters
}

// Items reads who has which item of the job, as the server that the client is connected to knows, one node after the
// other: items that are dealt meanwhile may be seen before or after that. Errors: those of Config.
func (j *Job) Items(ctx context.Context) ([]JobItem, error) {
	config, err := j.Config(ctx)
	if err != nil {
		return nil, err
	}
	instances, err := j.names(ctx, machines.JobInstances(j.path))
	if err != nil {
		return nil, err
	}
	offers, err := j.names(ctx, machines.JobOffers(j.path))
	if err != nil {
		return nil, err
	}
	items := make([]JobItem, config.Total)
	for n := range items {
		if items[n], err = j.item(ctx, n); err != nil {
			return nil, err
		}
		items[n].Parameter = config.ItemParameters[n]
		items[n].Alive = slices.Contains(instances, items[n].Instance)
		items[n].TakeOver = slices.Contains(offers, machines.JobItemName(n))
	}
	return items, nil
}

// item reads one item.
func (j *Job) item(ctx context.Context, n int) (JobItem, error) {
	item := JobItem{Number: n}
	leaves, err := j.names(ctx, machines.JobItem(j.path, n, ""))
	if err != nil {
		return item, err
	}
	item.Running = slices.Contains(leaves, machines.ItemRunning)
	item.Disabled = slices.Contains(leaves, machines.ItemDisabled)
	item.Misfire = slices.Contains(leaves, machines.ItemMisfire)
	for leaf, id := range map[string]*string{machines.ItemInstance: &item.Instance,
		machines.ItemFailover: &item.TakenOver} {
		if !slices.Contains(leaves, leaf) {
			continue
		}
		data, _, err := j.client.read(ctx, machines.JobItem(j.path, n, leaf))
		if err := present(err); err != nil {
			return item, err
		}
		*id = string(data)
	}
	return item, nil
}

// names lists a node's children; none if the node does not exist.
func (j *Job) names(ctx context.Context, path string) ([]string, error) {
	names, err := j.client.list(ctx, path)
	return names, present(err)
}

// present returns an error of a read as users see it, nil if it only says that the node does not exist.
func present(err error) error {
	refused := refusal(err)
	switch {
	case refused == nil:
		return err
	case refused.Code == events.NoNode:
		return nil
	}
	return refused
}

// JobConfig is the configuration of an ElasticJob job, as its node has it. The names of ElasticJob's fields are in
// parentheses.
type JobConfig struct {
	Name             string         // (jobName)
	Cron             string         // (cron) in Quartz's dialect
	TimeZone         string         // (timeZone) of Cron, as in "GMT+8:00"; empty: the instance's own
	Total            int            // (shardingTotalCount) how many items there are; they are numbered from 0
	ItemParameters   map[int]string // (shardingItemParameters) by the item's number; an item may have none
	Parameter        string         // (jobParameter) of the job
	MonitorExecution bool           // (monitorExecution) an item that runs has a node that says so
	Failover         bool           // (failover) other instances run the items of one that has died
	Misfire          bool           // (misfire) items that were to run while they ran run once more
	Strategy         string         // (jobShardingStrategyType) how the leader deals; empty: average allocation
	Disabled         bool           // (disabled) the job begins disabled on a server that is new
}

// parseJobConfig reads what a job's config node has.
func parseJobConfig(path string, data []byte) (JobConfig, error) {
	c, err := machines.ParseJobConfig(data)
	if err != nil {
		return JobConfig{}, asError(events.JobConfig, fault.Path(machines.JobConfigNode(path))+": "+err.Error())
	}
	return JobConfig{
		Name: c.Name, Cron: c.Cron, TimeZone: c.TimeZone, Total: c.Total,
		ItemParameters: itemParameters(c.ItemParameters), Parameter: c.Parameter,
		MonitorExecution: c.MonitorExecution, Failover: c.Failover, Misfire: c.Misfire, Strategy: c.Strategy,
		Disabled: c.Disabled,
	}, nil
}

// itemParameters reads ElasticJob's form, as in "0=Berlin,1=Paris". It passes over what is not in that form.
func itemParameters(text string) map[int]string {
	all := map[int]string{}
	for one := range strings.SplitSeq(text, ",") {
		item, parameter, ok := strings.Cut(one, "=")
		n, err := strconv.Atoi(strings.TrimSpace(item))
		if ok && err == nil {
			all[n] = strings.TrimSpace(parameter)
		}
	}
	return all
}

// JobSchedule says when a job's items run. It is called from one goroutine at a time.
type JobSchedule interface {
	// Next returns the first tick after an instant, and the zero time if there is none.
	Next(after time.Time) time.Time
}

// Every returns a schedule with a tick at each multiple of d in UTC, as time.Truncate has them, so all instances with
// the same d have the same ticks. It panics if d is not above zero.
func Every(d time.Duration) JobSchedule {
	if d <= 0 {
		misuse("needs a duration above zero")
	}
	return every(d)
}

type every time.Duration

// Next returns the first multiple after an instant.
func (e every) Next(after time.Time) time.Time {
	d := time.Duration(e)
	return after.Round(0).Truncate(d).Add(d)
}

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
	w.client.log.Log(w.client.outages.Level(&w.participant, level), "the job's items have to end",
		func(e *zerolog.Event) {
			journal.AddSession(w.identity(e).Str("why", lost.why()), t.Session, t.zkSession)
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
