package incumbent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/jobs"
	"github.com/incumbent-go/incumbent/machines"
)

// JobElectionOptions are the options of a job election. The zero value is good. There are no checks of health: close
// the election while the instance is unhealthy.
type JobElectionOptions struct {
	// ID is the instance's, which the marker holds. Empty means JobInstanceID.
	ID string
	// CloseMode says whether Close calls the listeners.
	CloseMode CloseMode
	// Retry paces attempts after a failure: see LatchOptions.
	Retry RetryPolicy
	// WorkGrace is how long work may go on after its context has ended: see LatchOptions.
	WorkGrace time.Duration
	// TokenFloor refuses leadership with a token below it: see LatchOptions.
	TokenFloor int64
}

// latch returns those of the options that a latch has, too.
func (o JobElectionOptions) latch() LatchOptions {
	return LatchOptions{ID: o.ID, CloseMode: o.CloseMode, Retry: o.Retry, WorkGrace: o.WorkGrace,
		TokenFloor: o.TokenFloor}
}

// JobElection is one instance's participation in the election of a job's leader, as Apache
// ShardingSphere's ElasticJob elects. Below the job's node, the ephemeral node
// leader/election/instance, the marker, holds the leading instance's id. It is written
// while the writer holds a Curator latch at leader/election/latch. Go and Java elect one
// leader on the same nodes.
//
// What ElasticJob leaves open holds here as for every leadership of this library: it is
// believed only while the marker was read back as this session's own, was confirmed, and
// its deadline has not passed; no new term begins before the work of the last one has
// returned. This library creates one more ephemeral node, leader/election/seal-<uuid>, for
// Leadership.Write: see there.
//
// A client may have elections for thousands of jobs; none has a goroutine of its own. All
// methods are safe to call from any goroutine.
type JobElection struct {
	bareHandle
	job      string
	reserved bool  // no other handle of the client is for the job
	latch    Latch // what any leadership has; its machine is a job election's

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
}

// JobInstanceID returns what ElasticJob calls this process: its address, "@-@", its process
// id. In containers the process id is 1 everywhere, and addresses may be the same: give
// each instance an ID of its own there, because ElasticJob takes instances with one id for
// one instance.
func JobInstanceID() string { return jobs.HostAddress() + "@-@" + fmt.Sprint(os.Getpid()) }

// JobElection returns an election for a job: its node, as in "/namespace/job". It does
// nothing before Start or ElectLeader. One client has one election for one job: a second
// handle is ErrJobTaken until the first is closed. Other errors say what is wrong with the
// path or an option, or are ErrClosed.
func (c *Client) JobElection(job string, options JobElectionOptions) (*JobElection, error) {
	if err := arguments.CheckLine(job); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	if options.ID == "" {
		options.ID = JobInstanceID()
	}
	if !c.reserve("job " + job) {
		return nil, fmt.Errorf("%w: %s", ErrJobTaken, fault.Path(job))
	}
	j, err := c.newJobElection(job, options.latch(), nil, true)
	if err != nil {
		c.core.Places.Free("job " + job)
	}
	return j, err
}

// newJobElection opens a machine with more options. If it is the only one of its job by reservation, that ends with it.
// If it is not, it is part of a Job.
func (c *Client) newJobElection(job string, options LatchOptions, more map[string]string,
	reserved bool) (*JobElection, error) {
	j := &JobElection{job: job, reserved: reserved, changed: make(chan struct{})}
	j.latch.participant.prepare(c, job, options)
	if !reserved {
		j.latch.participant.base.Diagnostics = jobDiagnostics{&j.latch.participant}
	}
	open := options.open(job, c.config)
	maps.Copy(open.Options, more)
	_, err := c.register(machines.JobElectionRecipe, func(id events.ID) receiver {
		j.latch.participant.base.Machine = id
		return j
	}, open)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// Start takes part in the job's elections from now on: in the first immediately, and in the
// next whenever its leader is gone. It returns immediately. A second call returns
// ErrAlreadyStarted, a call after Close returns ErrClosed.
func (j *JobElection) Start() error { return j.latch.Start() }

// ElectLeader calls Start, unless that was called before, and waits until the job has a
// leader, this instance or another.
//
// Errors: ErrClosed; the context's; or the failure that prevents it (ErrNoAuth,
// ErrPersistentNode, …), after which the election goes on.
func (j *JobElection) ElectLeader(ctx context.Context) error {
	j.latch.participant.client.check(ctx)
	if err := j.Start(); err != nil && !errors.Is(err, ErrAlreadyStarted) {
		return err
	}
	_, err := j.waitForLeader(ctx, "elect leader")
	return err
}

// IsLeaderUntilBlock waits until the job has a leader and reports whether it is this
// instance. The report may be out of date when it returns: work under the Leadership that
// Await returns. Errors: ErrNotStarted, and those of ElectLeader.
func (j *JobElection) IsLeaderUntilBlock(ctx context.Context) (bool, error) {
	return j.waitForLeader(ctx, "is leader until block")
}

// waitForLeader does what IsLeaderUntilBlock does. Op is the operation that an error names.
func (j *JobElection) waitForLeader(ctx context.Context, op string) (bool, error) {
	j.latch.participant.client.check(ctx)
	failed := func(err error) (bool, error) { return false, j.latch.participant.base.Explain(ctx, op, err) }
	for {
		j.mu.Lock()
		more := j.changed
		j.mu.Unlock()
		switch class, trouble := j.latch.participant.Class(), j.latch.participant.base.Failure(); {
		case class == events.ClassLatent:
			return failed(ErrNotStarted)
		case class == events.ClassClosed:
			return failed(ErrClosed)
		case trouble != nil && !Retryable(trouble):
			return false, trouble
		case class == events.ClassLeading:
			return j.HasLeadership(), nil
		case class == events.ClassStandby:
			return false, nil
		}
		select {
		case <-more:
		case <-j.latch.participant.client.core.Closed:
			return failed(ErrClosed)
		case <-ctx.Done():
			return failed(context.Cause(ctx))
		}
	}
}

// HasLeadership reports whether this instance may be believed to lead at this instant:
// ElasticJob's isLeader.
func (j *JobElection) HasLeadership() bool { return j.latch.participant.HasLeadership() }

// HasLeader reports whether the job has a leader, as the server that the client
// is connected to knows: a marker that a session owns. Without a connection it waits for one. Errors: ErrClosed, the
// context's, or an *Error.
func (j *JobElection) HasLeader(ctx context.Context) (bool, error) {
	_, there, err := j.First(ctx)
	return there, err
}

// First returns the instance whose marker is in the job's directory, of this library or of
// Java, as the server that the client is connected to knows. It returns false if there is no
// marker, or if no session owns it: then nobody leads, and the participant is the marker's.
// The instance does not always lead: see Participant.First. Client.Evict takes leadership from it.
// Errors as of HasLeader.
func (j *JobElection) First(ctx context.Context) (Participant, bool, error) {
	return j.latch.participant.client.jobLeader(ctx, j.job)
}

// jobLeader reads which instance leads a job.
func (c *Client) jobLeader(ctx context.Context, job string) (Participant, bool, error) {
	return c.holder(ctx, machines.JobElectionRecipe.Name(), machines.JobMarker(job))
}

// RemoveLeader gives this instance's leadership up, and a leader is elected again, which
// may be this instance; it returns when the marker is gone. It awaits work that is still
// running. It returns ErrNotLeading if this instance does not lead: it deletes no other
// instance's marker (Client.Evict does that).
func (j *JobElection) RemoveLeader(ctx context.Context) error {
	return j.latch.participant.resign(ctx, "remove leader")
}

// Run calls the work whenever this instance leads; see Latch.Run.
func (j *JobElection) Run(ctx context.Context, work Work) error { return j.latch.Run(ctx, work) }

// Await returns a Leadership when this instance leads; see Latch.Await.
func (j *JobElection) Await(ctx context.Context) (*Leadership, error) { return j.latch.Await(ctx) }

// ExecuteInLeader runs f while holding the latch at a path below the job's node, as in
// "leader/failover/latch": ElasticJob's executeInLeader, which keeps two instances from
// doing one thing at a time. It says nothing about which instance leads the job. F must
// return when its Leadership.Context ends; its return ends the work.
//
// It returns f's error; before f has run, the errors of Latch.Await. The latch is closed
// when f has returned: a failure of that is in the error, too, and the close goes on by
// itself.
func (j *JobElection) ExecuteInLeader(ctx context.Context, path string, f func(*Leadership) error) error {
	j.latch.participant.client.check(ctx)
	if f == nil {
		caller.Misuse("needs a function to run while leading")
	}
	options := LatchOptions{ID: j.ID(), Retry: j.latch.participant.options.Retry,
		TokenFloor: j.latch.participant.options.TokenFloor}
	l, err := j.latch.participant.client.Latch(j.job+"/"+strings.TrimPrefix(path, "/"), options)
	if err != nil {
		return err
	}
	err = l.Start()
	if err == nil {
		err = execute(ctx, l, f)
	}
	if closing := l.participant.Close(ctx); closing != nil && err == nil {
		return closing
	}
	return err
}

func execute(ctx context.Context, l *Latch, f func(*Leadership) error) error {
	held, err := l.participant.awaitFor(ctx, ctx, "execute in leader", f)
	if err != nil {
		return err
	}
	result := make(chan error, 1)
	go func() {
		defer held.done(nil)
		l.participant.call(held, func(err error) { result <- err })
	}()
	err = <-result
	<-held.returned
	return err
}

// Path returns the path of the job's node.
func (j *JobElection) Path() string { return j.job }

// ID returns the instance's id, as the marker has it.
func (j *JobElection) ID() string { return j.latch.participant.ID() }

// State returns LATENT, STARTED or CLOSED.
func (j *JobElection) State() State { return j.latch.participant.State() }

// Phase returns the state inside STARTED, by its name in docs/statecharts: "standby",
// "queueing", "leading", …
func (j *JobElection) Phase() string { return j.latch.participant.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The election goes on trying, with pauses between
// its attempts. Work that goes on long after it had to end is a failure, too: ErrWorkRunning.
func (j *JobElection) Err() error { return j.latch.participant.Err() }

// AddListener adds a listener: its functions are called at every change of this instance's
// leadership from now on, and for a term that has begun. The returned function removes it.
func (j *JobElection) AddListener(l Listener) (remove func()) {
	return j.latch.participant.AddListener(l)
}

// Close ends the instance's part in the job's elections; see Latch.Close.
func (j *JobElection) Close(ctx context.Context) error { return j.latch.participant.Close(ctx) }

// CloseWith is Close with another mode than the options'.
func (j *JobElection) CloseWith(ctx context.Context, mode CloseMode) error {
	return j.latch.participant.CloseWith(ctx, mode)
}

func (j *JobElection) seal() { j.latch.participant.seal() }

func (j *JobElection) needsSession() bool { return j.latch.participant.needsSession() }

// notice, answer and entered are called on the loop's goroutine.
func (j *JobElection) notice(n events.Notify) {
	j.latch.notice(n)
	j.change()
}

func (j *JobElection) answer(a events.Answer) { j.latch.answer(a) }

func (j *JobElection) entered(now events.Entered) {
	if now.Class == events.ClassClosed && j.reserved {
		j.latch.participant.client.core.Places.Free("job " + j.job)
	}
	j.latch.entered(now)
	j.change()
}

// change wakes the calls that wait for a leader.
func (j *JobElection) change() {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.changed)
	j.changed = make(chan struct{})
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

// JobSchedule says when a job's items run. It is called from one goroutine at a time.
type JobSchedule interface {
	// Next returns the first tick after an instant, and the zero time if there is none.
	Next(after time.Time) time.Time
}

// Every returns a schedule with a tick at each multiple of d in UTC, as time.Truncate has them, so all instances with
// the same d have the same ticks. It panics if d is not above zero.
func Every(d time.Duration) JobSchedule {
	if d <= 0 {
		caller.Misuse("needs a duration above zero")
	}
	return jobs.Every(d)
}

// stand takes part in the job's election until ctx ends. The election's machine deals the items while this instance
// leads. It does not stand while the configuration or the strategy is not known, or an operator has disabled the
// server.
func (r *jobRun) stand(ctx context.Context) {
	j := r.job
	options := LatchOptions{ID: j.options.ID, Retry: j.options.Retry}
	election, err := j.client.newJobElection(j.path, options, map[string]string{
		machines.OptionServer: j.options.Server, machines.OptionDeals: "true"}, false)
	if err == nil {
		r.setElection(election)
		err = election.Run(ctx, func(l *Leadership) error {
			<-l.Context().Done()
			return nil
		})
	}
	if err != nil && ctx.Err() == nil {
		r.cancel(err)
	}
}

func (r *jobRun) setElection(e *JobElection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.election = e
}

func (r *jobRun) electionNow() *JobElection {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.election
}

// leads reports whether this instance may be believed to lead.
func (r *jobRun) leads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.election != nil && r.election.HasLeadership()
}

func (j *JobElection) asParticipant() *participant { return &j.latch.participant }

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
