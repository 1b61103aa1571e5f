// Package incumbent elects leaders on ZooKeeper, and has Curator's other recipes:
// locks, semaphores, barriers, groups, counters, caches and queues. Names and data of
// nodes are Curator's, so that Go and Java services can share them.
//
// This package, slogger and zkio/zkmem keep their API from version 1 on, which is not
// published yet; engine, machines, events and zkio may change in any release.
//
// Start with [Open], then [Client.Latch] and [Latch.Run], which calls a function under each
// term. [Latch.Start] and [Latch.Await] are for a program that holds the term by hand, and
// releases each [Leadership].
//
// # Connection
//
//   - [Client]: one ZooKeeper session at a time. All handles are made from it.
//   - [Config]: servers, session timeout, credentials, TLS, logger, flight log. [Optimizations] can be turned off.
//   - [FlightLog]: where a client records, by [RecordIn], which has [RecordOptions] ([RecordSync]), or by [RecordTo].
//     [Recording] is its state.
//   - [Auth], [ACL], [TLS]: who the client is, who may use its nodes, how the connection is encrypted.
//   - [Mechanism]: logs in by SASL, one [SASLExchange] for each connection to a [SASLServer].
//   - [ConnectionState]: connected, suspended, reconnected or lost; see [Client.OnConnection].
//   - [RetryPolicy]: how attempts are paced; see [RetryForever] and the functions next to it.
//
// # Operations
//
//   - [Stats]: what a client has counted, and how it is, from [Client.Stats]: [HandleStats], [PhaseStats], [TermStats],
//     [RecipeStats], [HeartbeatStats], [RequestStats], [LaneStats], [QueueStats], with a [Histogram] each where times
//     are counted.
//   - [Event]: what Config.Observe gets. Its [Detail] is a [ConnectionChanged], [Queued], [TermBegan], [TermEnded],
//     [WorkEnded], [WorkOverdue], [Trouble], [Recovered], [Confirmed], [ProcessPaused], [ItemDone], [RecorderFailed] or
//     [EventsDropped]; a [Place] is the participant that it is about.
//   - Package health has the HTTP endpoints; integrations/prom, otel and gocron are modules of their own.
//
// # Leadership
//
//   - [Latch]: leads until it is closed, resigns or loses leadership. Curator's LeaderLatch. [Latch.Run] runs a
//     function ([Work]) under each term.
//   - [Selector]: runs a function for one term, then the next in line leads. Curator's LeaderSelector.
//   - [Election]: a latch on plain names, n_0000000007, as in ZooKeeper's recipes.
//   - [NodeElection], [NodeElectionOptions]: an election on one ephemeral node, as Hadoop's and many hand-made ones.
//   - [JobElection], [JobElectionOptions]: the leader of an ElasticJob job, together with its Java instances.
//   - [Job], [JobOptions], [JobMode]: one instance of such a job, which elects, deals the items and runs its own. An
//     [Item] is what its function gets, [JobConfig] the job's configuration, [JobSchedule] and [Every] when items
//     run, [JobItem] who has which.
//   - [Shards], [ShardsOptions]: a member of a group that deals n shards out among its members. A [Shard] is what its
//     function gets, [ShardAssignment] says who should own which, [ShardListener] is called when shards come and go.
//   - [LatchOptions], [SelectorOptions], [CloseMode]: their options, and whether Close calls the listeners.
//   - [Leadership]: for the work under a term: a context, a token, a deadline, guarded writes.
//   - [Term], [Listener]: one period of leadership, and callbacks for its begin and end.
//   - [Line], [Participant]: the participants in line, and who is first; see [Client.Line] and [Client.Evict].
//   - [Change], [Leader]: a change of the first in a line, from [Client.Watch]; with its address, from
//     [Client.WatchLeader].
//   - [State]: latent, started or closed, for every handle that is started.
//
// # Locks
//
//   - [Mutex]: one holder at a time. InterProcessMutex, or kazoo's Lock. Options: [MutexOptions].
//   - [ReadWriteLock]: one writer or many readers. InterProcessReadWriteLock.
//   - [Semaphore]: n permits, of which a caller takes k together. InterProcessSemaphoreV2. Options: [SemaphoreOptions].
//   - [MultiLock]: several locks ([Lockable]), all or none. InterProcessMultiLock.
//   - [Hold], [WriteHold], [MultiHold]: a lock that is held, until Unlock or until it is lost.
//   - [Holder], [ReadWriteHolder]: re-entry: a caller locks again what it holds.
//
// # Barriers and groups
//
//   - [Barrier], [Gate]: block callers while a node exists, or until it does.
//   - [DoubleBarrier]: members begin and end together. DistributedDoubleBarrier. Options: [DoubleBarrierOptions].
//   - [PersistentNode]: an ephemeral node that is created again in every session. Options: [PersistentNodeOptions].
//   - [Membership], [Member]: one member of a group; [Client.Members] lists all. GroupMember.
//
// # Numbers
//
//   - [SharedCount], [Count]: an integer that many clients read, set and watch.
//   - [AtomicLong]: a 64-bit integer that many clients add to. DistributedAtomicLong. Options: [AtomicLongOptions].
//
// # Queues
//
//   - [Queue], [PriorityQueue], [DelayQueue], [IDQueue]: by order of put, priority, due time, or with ids. [NewQueue],
//     [NewPriorityQueue], [NewDelayQueue] and [NewIDQueue] make them of a client: they have the type of the items,
//     which a method of Client cannot have.
//   - [QueueWriter]: puts items, with a priority, a time or an id.
//   - [Consumer]: takes items at least once or at most once; [Delivery] is one item. Options: [ConsumerOptions].
//   - [QueueOptions], [QueueBound], [Codec]: dead letters, limits, encoding.
//
// # Nodes
//
//   - [CreateRequest], [SetRequest], [DeleteRequest], [Request], [Task]: ZooKeeper's operations, from [Client.Create],
//     [Client.Set], [Client.Delete], [Client.Get], [Client.Exists], [Client.Children], [Client.Multi] and
//     [Client.Sync]. Nothing is sent before Do or Background: go vet with cmd/incumbentvet finds requests without them.
//   - [NodeACL]: a node's access list, from [Client.GetACL]; [Client.SetACL] changes it.
//   - [Node], [Stat], [Result]: what is read, and the outcome of a request in the background.
//   - [Op], [OpResult]: one operation of [Client.Multi] or [Leadership.Write], and its outcome.
//   - [NodeChange], [ChildrenChange]: from [Client.WatchNode] and [Client.WatchChildren];
//     [Missed] says which changes were not seen.
//   - [TreeCache], [TreeNode]: a node and everything below it, in memory. Options: [TreeCacheOptions]; [TreeChange]
//     and [TreeChangeKind] say what changed.
//   - [Deletion]: deletes a node, and goes on through outages and sessions until it is gone. Curator's guaranteed().
//
// # Errors
//
// Every failure is an error that [errors.Is] can test against one of the Err variables,
// or an [Error] with ZooKeeper's code; [Retryable] reports whether the same call may
// succeed later. The end of a term or a hold is a [LostError], and its [Reason] says why:
// see [LostReason]. Three errors matter most: [ErrLeadershipLost] (stop the work),
// [ErrOutcomeUnknown] (a write may or may not have been committed: read before you
// decide) and [ErrWorkRunning] (work was still running when Close's context ended, or long
// after its term; the text names the call or the function).
//
// An option below zero is an error, which names it, unless the option says what below
// zero means. A nil context, a handle that no client made and a nil function are mistakes
// of the program: the call panics, and the text has the call and what to do. [Open] with a
// nil context, and a [Selector] or a [Consumer] with a nil function, return an error
// instead.
//
// # What is promised
//
// A participant believes that it leads only while its own node, owned by its own
// session, is first in line, and only until [Leadership.ValidUntil]: a deadline that
// counts from the last request that the ensemble's quorum, or if that is safe its
// leader, has processed. A server that was cut off, or a deposed leader of the ensemble
// that goes on answering, cannot extend it. No term begins before the work of the last one has
// returned. Everything that happens can be recorded and replayed. docs/promises.md lists all
// promises.
//
// # What is not
//
// A process that is paused believes that it leads while it is paused. Pass
// [Leadership.Token] to every store that the work writes to and let the store refuse
// lower ones, or write with [Leadership.Write]. Kerberos is the module integrations/kerberos. This
// is no service for many short critical sections.
//
// # Rules for callers
//
//   - Work must return when [Leadership.Context] ends.
//   - Every Leadership from Await needs one [Leadership.Release], and every Hold one [Hold.Unlock]: until then no new
//     term begins and Close waits. [Latch.Run] and [Selector] do it for you. What is forgotten is named in the log, in
//     Err and in Close's error.
//   - Give Close a context with a deadline: work that does not return keeps it waiting. [Client.CloseWith] ends it
//     after a grace ([CloseOptions]).
//
// For tests, package zkio/zkmem is an in-memory ZooKeeper.
package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/belief"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/handles"
	"github.com/incumbent-go/incumbent/internal/invariants"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/meters"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Open checks the settings and begins to connect. It returns immediately: handles may be
// made and started before there is a connection, and WaitConnected waits for one. The error
// says which setting is wrong and what would be right.
//
// The work of selectors derives from ctx. The end of ctx does not end the client; Close
// does.
func Open(ctx context.Context, config Config) (*Client, error) {
	if ctx == nil {
		return nil, errors.New("incumbent: Open needs a context: context.Background() will do")
	}
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	servers, chroot, err := zkio.ParseServers(config.Servers)
	if err != nil {
		return nil, fmt.Errorf("incumbent: Config.Servers: %w", err)
	}
	replaced, found := sources.From(ctx)
	c := &Client{base: ctx, config: &config, ending: make(chan struct{}, 1)}
	replaced.AskServer = replaced.AskServer || !found
	c.sources = replaced
	c.prepare(journal.New(config.logger(replaced.StandardError), config.Name), replaced.Clock)
	c.observed.init(config.Name, c.core.Log, config.Observe)
	c.meters.Init(c.metersUse())
	if _, checked := invariants.Inbox(); checked {
		c.core.Invariants = &belief.Checks{Client: fmt.Sprintf("%s (%q)", c, config.Name), Deadline: &c.core.Belief}
	}
	c.watchDeadlines()
	c.pauses.Clock, c.pauses.Timeout = c.core.Clock, c.core.Timeout
	c.pauses.Noticed = c.meters.PausedFor
	login, auth, acl := config.access()
	c.core.IO, err = zkio.New(zkio.Config{
		Servers: servers, Unrooted: config.unrooted(), Chroot: chroot,
		Timeout: config.SessionTimeout, Lag: c.core.ReportLag,
		SASL: login, Auth: auth, ACL: acl, TLS: (*zkio.TLS)(config.TLS), Dial: config.Dial,
		MaxRequest: config.MaxRequest, MaxAnswer: config.MaxAnswer,
		Now: c.core.Clock.Now, Paused: c.pauses.Since, Post: c.onIOEvent, Keep: c.keep,
		SignOfLife: func() <-chan struct{} { return c.core.Loop.SignOfLife() },
		Warn:       func(text string) { c.core.Log.Log(zerolog.WarnLevel, text, nil) },
	})
	if err != nil {
		return nil, fmt.Errorf("incumbent: %w", err)
	}
	c.certificate.IO, c.certificate.Log = c.core.IO, c.core.Log // which the loop uses
	c.certificate.Closed = c.core.Closed
	if err := c.run(); err != nil {
		return nil, err
	}
	config.warnOfSASL(c.core.Log)
	if config.TLS != nil {
		go c.certificate.Watch()
	}
	if config.FollowEnsemble {
		go c.follow()
	}
	time.AfterFunc(unreachedAfter, c.session.warnUnreached)
	if replaced.Opened != nil {
		replaced.Opened(c.step)
	}
	return c, nil
}

// prepare makes the core of a client that has no connection yet, and no loop.
func (c *Client) prepare(log *journal.Logger, now engine.Clock) {
	if now == nil {
		now = clock.System()
	}
	core := &c.core
	core.Log, core.Clock, core.Closed = log, now, make(chan struct{})
	core.Asked, core.TickAssumed, core.ObserverMasters = c.config.SessionTimeout, c.config.tickAssumed,
		c.config.ObserverMasters
	core.SetTick(c.config.Tick)
	core.Commands.Post, core.Commands.Closed, core.Commands.Ended = core.Post, core.Closed, ErrClosed
	core.Absence = func() error { return c.session.absence() }
	core.Refusal, core.AddFailure = asError, addFailure
	core.Troubled = func(h *handles.Handle, err error) { c.observed.emit(Trouble{h.Path(), h.Recipe(), err}) }
	core.Recovered = func(h *handles.Handle, after time.Duration) {
		c.observed.emit(Recovered{h.Path(), h.Recipe(), after})
	}
	core.Closing, core.Remove = c.handles.Closing.Load, c.handles.Remove
	c.outages.Log, c.outages.Now, c.outages.Timeout, c.outages.Members = log, now.Now, core.Timeout, c.members
}

// run starts the loop, the recorder and the session.
func (c *Client) run() error {
	var record engine.Recorder
	if c.config.Record != nil {
		var err error
		if record, err = c.startRecording(); err != nil {
			return fmt.Errorf("incumbent: Config.Record: %w", err)
		}
	}
	e := engine.New(record != nil)
	e.Observe(c.meters.Stepped)
	c.core.Loop = engine.NewLoop(e, executor{c}, clock.ForLoop(c.core.Clock), record)
	c.core.Loop.CountPauses(c.pauses.Since)
	c.core.Loop.OnLag(c.meters.Lag.NoteTime)
	if c.recorder != nil {
		c.core.Loop.OnLate(c.recorder.Late)
		c.recorder.OnEnd(func(err error) { c.observed.emitOutsideStep(RecorderFailed{err}) })
		c.recorder.Start(c.core.Loop)
	}
	if most, checked := invariants.Inbox(); checked {
		c.core.Loop.CheckInvariants(most)
	}
	c.pauses.Start()
	ctx, cancel := context.WithCancel(context.Background())
	c.stop, c.ended = cancel, make(chan struct{})
	go func() {
		defer close(c.ended)
		c.core.Loop.Run(ctx)
		c.outages.Close()
		if c.recorder != nil {
			c.recorder.Close()
		}
		if c.ring != nil {
			c.ring.Close()
		}
	}()
	c.session = newSessionHandle(c)
	c.handles.Set(events.SessionMachine, c.session)
	c.core.Loop.Learn(machines.SessionRecipe)
	c.core.Post(events.SessionMachine, events.Event{
		Kind: events.CommandOpen, Recipe: machines.SessionRecipe.Name(), Seed: c.newSeed(), Options: c.config.options(),
	})
	c.core.Post(events.SessionMachine, events.Event{Kind: events.CommandStart})
	return nil
}

// follow makes the servers of the ensemble's configuration the client's, now and whenever it changes, until the client
// closes. Each outcome is logged once in a row.
func (c *Client) follow() {
	said := ""
	for change, err := range c.WatchNode(context.Background(), machines.EnsembleConfig) {
		if errors.Is(err, ErrClosed) {
			return
		}
		var list []string
		switch {
		case err == nil && change.Exists:
			list, err = c.core.IO.Follow(change.Data)
		case err == nil:
			err = errors.New("there is no " + machines.EnsembleConfig)
		}
		if text := strings.Join(list, ","); err == nil && text != said {
			said = text
			c.core.Log.Log(zerolog.InfoLevel, "the servers are those of the ensemble's configuration",
				func(e *zerolog.Event) { e.Str("servers", text) })
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			c.core.Log.Log(zerolog.WarnLevel, "the ensemble's configuration does not change the list of servers",
				func(e *zerolog.Event) { e.Str("error", err.Error()) })
		}
	}
}

// metersUse returns what the client's meters use of it.
func (c *Client) metersUse() meters.Use {
	use := meters.Use{Believable: c.core.Budget, Listed: c.listed, Vacated: c.vacated,
		Paused: func(d time.Duration) { c.observed.emitOutsideStep(ProcessPaused{d}) }}
	if o := &c.observed; o.on() {
		use.Stepped = func(s engine.Observed) { o.mark(s.Seq, s.Cause, s.Effects) }
		use.Confirmed = func(s engine.Observed, strength string, took, margin, budget time.Duration) {
			o.send(stepMark{s.Seq, s.Cause}, Confirmed{strength, took, margin, budget, s.Event.Code})
		}
	}
	return use
}

// listed notes what a consumer has read of its queue: the answer that ends listing, after one with the locks. The
// items of a DelayQueue wait on purpose, so the age of its first one is not counted.
func (c *Client) listed(s engine.Observed) {
	if s.Event.Code == events.OK && s.Class != events.ClassLooking {
		c.receive(s.Machine, func(r receiver) { r.listed(s.Event) })
	}
}

// vacated notes that the node ahead of a participant was deleted.
func (c *Client) vacated(s engine.Observed) {
	c.receive(s.Machine, func(r receiver) {
		if p := r.asParticipant(); p != nil {
			p.waits.vacated = s.Event.At
		}
	})
}

// step has the loop call f in a step of its own, which answers a command to a machine that was never opened. It returns
// false if the loop has ended.
func (c *Client) step(f func()) bool {
	id := c.handles.Add("step", func(id events.ID) receiver {
		return stepped{f: func() {
			f()
			c.core.Forget(id)
		}}
	})
	return c.core.Post(id, events.Event{Kind: events.CommandClose, Request: 1})
}

// stepped is a handle without a machine, whose one command the loop answers by calling it.
type stepped struct {
	noHandle
	f func()
}

func (stepped) notice(events.Notify)   {}
func (s stepped) answer(events.Answer) { s.f() }
func (stepped) entered(events.Entered) {}
