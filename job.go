package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/jobs"
	"github.com/incumbent-go/incumbent/machines"
)

// JobMode says what a Job does. The zero value is JobWorks.
type JobMode int

// Modes of a Job.
const (
	JobWorks   JobMode = iota // takes part in the election, deals the items while it leads, and runs its own
	JobDeals                  // takes part in the election and deals, and gets no items
	JobWatches                // only reads: First, Items and Config. It writes nothing, and there is nothing to Run
)

// JobOptions are the options of a Job. The zero value runs items, but only when Trigger is called.
type JobOptions struct {
	Mode JobMode
	// ID is the instance's id. Empty is JobInstanceID. Instances with one id are one to ElasticJob.
	ID string
	// Server is the address under which an operator enables and disables this host, in the job's node servers. Empty is
	// what precedes "@-@" in the ID, or this host's address if that has none. In a job of ElasticJob 2.1.5 it is not
	// used: the ID has to have the address there.
	Server string
	// Schedule returns when the items run, for the job's configuration: it is called at the start and whenever that
	// changes. Every(d) is a schedule; the module integrations/quartz reads the job's own cron expression. Nil means
	// that only Trigger, and the operators' triggers in ZooKeeper, run the items. An error is in Job.Err, and nothing
	// is scheduled until the configuration changes.
	Schedule func(JobConfig) (JobSchedule, error)
	// Retry paces attempts after a failure. They go on without end: after a policy gives up, attempts follow every 5 s.
	Retry RetryPolicy
	// ItemGrace is how long an item's function may go on after its context has ended. Then the instance goes on without
	// it: the log has an error, and another instance may run the item meanwhile. Zero means no limit.
	ItemGrace time.Duration
}

// Job is one instance of an Apache ShardingSphere ElasticJob job, together with instances in Java. It takes part in the
// election of the job's leader; while it leads, it deals the items (shards) to the instances by the job's strategy; and
// it runs the items that it is dealt.
//
// ElasticJob of the generations 3.0 (YAML configuration) and 2.1.5 (JSON) is read and written. The job's configuration
// has to be there: an instance in Java, ElasticJob's console, or Client.Create writes it, as docs/elastic-job.md says.
//
// No item's context outlives the moment from which another instance may be dealt that item: belief ends by the clock,
// as everywhere in this library. Where the job's monitorExecution is on, a running item has a node that says so, and a
// leader of this library deals no item while that exists. Where it is off, the items may be dealt while they run, as in
// ElasticJob.
//
// All its methods are safe to call from any goroutine.
type Job struct {
	client  *Client
	path    string
	options JobOptions
	wall    func() time.Time

	mu      sync.Mutex
	closed  bool
	held    bool          // no other Job or JobElection of the client is for the job
	present *jobRun       // nil: Run does not run
	last    *jobRun       // its machines may not have ended
	end     chan struct{} // closed by Close
}

// Job returns one instance of the job whose node is at path, as in "/namespace/job". It does nothing before Run. One
// client has one Job or JobElection for one job: a second is ErrJobTaken until the first is closed. Other errors say
// what is wrong with the path or an option, or are ErrClosed.
func (c *Client) Job(path string, options JobOptions) (*Job, error) {
	c.opened()
	if err := cmp.Or(arguments.CheckLine(path), checkOptions(options), options.check()); err != nil {
		return nil, err
	}
	options.ID = cmp.Or(options.ID, JobInstanceID())
	options.Server = cmp.Or(options.Server, jobs.ServerOf(options.ID))
	if c.core.Closing() {
		return nil, calls.AsError("job", path, errClientClosed)
	}
	if options.Mode != JobWatches && !c.reserve("job "+path) {
		return nil, fmt.Errorf("%w: %s", ErrJobTaken, fault.Path(path))
	}
	now := c.sources.Wall
	if now == nil {
		now = func() time.Time { return clock.Wall(0) }
	}
	return &Job{
		client: c, path: path, options: options, held: options.Mode != JobWatches, end: make(chan struct{}), wall: now,
	}, nil
}

// check returns what is wrong with the options, nil if nothing is.
func (o JobOptions) check() error {
	switch {
	case o.Mode < JobWorks, o.Mode > JobWatches:
		return fmt.Errorf("incumbent: JobOptions.Mode is %d: want JobWorks, JobDeals or JobWatches", o.Mode)
	case o.ID != "" && !isName(o.ID):
		return fmt.Errorf("incumbent: JobOptions.ID is %q: want the name of a node, as in %q", o.ID, "192.0.2.7@-@4711")
	case o.Server != "" && !isName(o.Server):
		return fmt.Errorf("incumbent: JobOptions.Server is %q: want an address, as in %q", o.Server, "192.0.2.7")
	}
	return nil
}

// isName reports whether a node may have a name.
func isName(name string) bool {
	return !strings.Contains(name, "/") && utf8.ValidString(name) && arguments.CheckNode("/"+name) == nil
}

// Run takes part in the job until ctx ends, and calls f for each item that runs, on goroutines of their own: the items
// of one instance run together, and one run of them follows the other. With JobDeals no item runs, and f is nil.
//
// The item's context is the one that f gets. It derives from ctx, and ends when the item may be another instance's; f
// must return then. An error or a panic of f is logged, and the item counts as run. A trigger that comes while a run
// goes on, or waits until the items are dealt, is a misfire: if the job's configuration has misfire on, the items run
// once more directly after it.
//
// When ctx ends, so do the items' contexts, and the instance hands over: once the functions have returned, or ItemGrace
// is over, its nodes are deleted, and then Run returns nil. It may be called again after it has returned.
//
// Errors: ErrClosed, after Close; ErrAlreadyStarted while another Run runs; ErrJobRemoved if somebody has deleted this
// instance's node, as ElasticJob's console does to end an instance; what the ensemble refuses permanently (ErrNoAuth,
// …); ErrNotDeleted, too, if the instance's node is not deleted within a session timeout. Err has the failures that
// pass: ErrJobConfig, ErrJobStrategy, ErrOccupied, a lost connection.
func (j *Job) Run(ctx context.Context, f func(ctx context.Context, item *Item) error) error {
	j.check(ctx)
	switch {
	case j.options.Mode == JobWatches:
		return errors.New("incumbent: a Job in the mode JobWatches does not run: use First, Items and Config")
	case j.options.Mode == JobWorks && f == nil:
		caller.Misuse("needs a function to run for each item")
	case j.options.Mode == JobDeals && f != nil:
		return errors.New("incumbent: a Job in the mode JobDeals gets no items: give Run no function, or use JobWorks")
	}
	if !j.awaitLast(ctx) {
		return nil
	}
	r, err := j.begin(ctx, f)
	if err != nil {
		return err
	}
	return r.wait(ctx)
}

// begin begins a Run.
func (j *Job) begin(ctx context.Context, f func(context.Context, *Item) error) (*jobRun, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return nil, calls.AsError("run", j.path, ErrClosed)
	case j.present != nil:
		return nil, calls.AsError("run", j.path, ErrAlreadyStarted)
	}
	r, err := newJobRun(ctx, j, f)
	if err == nil {
		j.present = r
	}
	return r, err
}

// awaitLast waits until the machines of the last Run have ended: what they still delete would be the next one's. It
// returns false if the context ends first.
func (j *Job) awaitLast(ctx context.Context) bool {
	j.mu.Lock()
	last, runs := j.last, j.present != nil
	j.mu.Unlock()
	if last == nil || runs {
		return true
	}
	select {
	case <-last.ended:
	case <-j.end:
	case <-ctx.Done():
		return false
	}
	return true
}

// running returns the present Run, nil if there is none.
func (j *Job) running() *jobRun {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.present
}

// ended notes that Run returns.
func (j *Job) ended() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last, j.present = j.present, nil
	if j.closed {
		j.release()
	}
}

// release lets others of the client be for the job, once the machines have ended. The caller holds the lock.
func (j *Job) release() {
	if !j.held {
		return
	}
	j.held = false
	free := func() { j.client.core.Places.Free("job " + j.path) }
	if last := j.last; last != nil {
		select {
		case <-last.ended:
		default:
			go func() {
				<-last.ended
				free()
			}()
			return
		}
	}
	free()
}

// Trigger runs this instance's items now, as a tick of its schedule does, and returns when the trigger is noted.
// Errors: ErrNotStarted while Run does not run, ErrClosed, the context's.
func (j *Job) Trigger(ctx context.Context) error {
	j.check(ctx)
	r := j.running()
	if r == nil || j.options.Mode != JobWorks {
		return calls.AsError("trigger", j.path, ErrNotStarted)
	}
	return r.worker.trigger(ctx)
}

// Close ends Run, and returns when it has returned, or the context ends: then Run goes on ending. Closing twice is no
// error.
func (j *Job) Close(ctx context.Context) error {
	j.check(ctx)
	j.mu.Lock()
	r := j.present
	if !j.closed {
		close(j.end)
	}
	j.closed = true
	if r == nil {
		j.release()
	}
	j.mu.Unlock()
	if r != nil {
		r.cancel(ErrClosed)
		select {
		case <-r.done:
		case <-ctx.Done():
			return j.client.core.Explain(ctx, "close", j.path, context.Cause(ctx), r.worker.base.Obstacle)
		}
	}
	return nil
}

// check does what Client.check does.
func (j *Job) check(ctx context.Context) {
	if j == nil {
		caller.Misuse("was called on a nil Job: Client.Job makes one")
	}
	j.client.check(ctx)
}

// Path returns the path of the job's node.
func (j *Job) Path() string { return j.path }

// ID returns the instance's id.
func (j *Job) ID() string { return j.options.ID }

// Phase returns the state of the machine that runs the items, by its name in docs/statecharts: "idle", "waiting",
// "working", …; "latent" while Run does not run.
func (j *Job) Phase() string {
	if r := j.running(); r != nil {
		return r.worker.Phase()
	}
	return "latent"
}

// HasLeadership reports whether this instance may be believed to lead the job at this instant.
func (j *Job) HasLeadership() bool {
	r := j.running()
	return r != nil && r.leads()
}

// Err returns the current failures: ErrJobConfig, ErrJobStrategy, an error of JobOptions.Schedule, what the ensemble
// refuses, ErrWorkRunning for items that go on long after they had to end, ErrNotConnected; nil if there are none, or
// Run does not run. The instance goes on trying.
func (j *Job) Err() error {
	if r := j.running(); r != nil {
		return r.failure()
	}
	return nil
}

// First returns the instance whose marker says that it leads the job; see JobElection.First.
func (j *Job) First(ctx context.Context) (Participant, bool, error) {
	j.check(ctx)
	return j.client.jobLeader(ctx, j.path)
}

// Config reads the job's configuration. Errors: ErrJobConfig if there is none or it cannot be read as one,
// ErrClosed, the context's, or an *Error. Without a connection it waits for one.
func (j *Job) Config(ctx context.Context) (JobConfig, error) {
	j.check(ctx)
	data, _, err := j.client.read(ctx, machines.JobConfigNode(j.path))
	refused := refusal(err)
	switch {
	case refused != nil && refused.Code == events.NoNode:
		return JobConfig{}, asError(events.JobConfig, fault.Path(refused.Text)+": there is none yet")
	case refused != nil:
		return JobConfig{}, refused
	case err != nil:
		return JobConfig{}, err
	}
	return parseJobConfig(j.path, data)
}

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
