package door_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
)

// waitingCall is a public call that can end with its context.
type waitingCall struct {
	name   string // as handleTypes has it: type and method
	called string // the operation and the path, as its error has them
	hangs  string // why it has no result while the server does not reply
	do     func(context.Context) error
}

// waitsToSend are the calls that send nothing before there is a connection, and wait for one.
var waitsToSend = map[string]bool{
	"Latch.Participants": true, "Latch.First": true, "Election.Participants": true, "Election.First": true,
	"Selector.Participants": true, "Selector.First": true, "JobElection.First": true, "Job.First": true,
	"NodeElection.Holder": true,
	"Job.Config":          true, "Job.Items": true, "JobElection.HasLeader": true, "Mutex.Participants": true,
	"Mutex.Revoke": true, "ReadWriteLock.Participants": true, "ReadWriteLock.Revoke": true, "Semaphore.Agreed": true,
	"Semaphore.SetLimit": true, "Semaphore.Holders": true, "Semaphore.Waiting": true, "IDQueue.Remove": true,
	"Client.GetACL": true, "Client.SetACL": true, "Client.Address": true,
	"Client.Line": true, "Client.Members": true, "Client.Evict": true, "Membership.Members": true,
}

// err drops the result of a call.
func err[T any](_ T, e error) error { return e }

// err2 drops two results.
func err2[T, U any](_ T, _ U, e error) error { return e }

// waitingCalls returns every call that needs nothing from the server before it.
func waitingCalls(t *testing.T, c *incumbent.Client) []waitingCall {
	return slices.Concat(electionCalls(t, c), lockCalls(c), otherCalls(t, c))
}

const (
	silence  = "no reply has come"
	unknown  = "the outcome is unknown: the write may have been carried out: " + silence
	enrols   = "its node is being created"
	probes   = "it is being read whether others are in the line"
	readsNow = "the node is being read"
)

// electionCalls returns the calls of participants that lead.
func electionCalls(t *testing.T, c *incumbent.Client) []waitingCall {
	latch := must(c.Latch("/latch", incumbent.LatchOptions{}))
	running := must(c.Latch("/running", incumbent.LatchOptions{}))
	election := must(c.Election("/election", "n_", incumbent.LatchOptions{}))
	job := must(c.JobElection("/job", incumbent.JobElectionOptions{}))
	active := must(c.NodeElection("/active", incumbent.NodeElectionOptions{}))
	selector := must(c.Selector("/selector", func(*incumbent.Leadership) error { return nil },
		incumbent.SelectorOptions{}))
	items := must(c.Job("/items", incumbent.JobOptions{Mode: incumbent.JobWatches}))
	fails(t, errors.Join(latch.Start(), election.Start(), job.Start(), active.Start()))
	return []waitingCall{
		{name: "Latch.Await", called: "await /latch", hangs: enrols,
			do: func(ctx context.Context) error { return err(latch.Await(ctx)) }},
		{name: "Latch.Participants", called: "list /latch", hangs: silence,
			do: func(ctx context.Context) error { return err(latch.Participants(ctx)) }},
		{name: "Latch.First", called: "list /latch", hangs: silence,
			do: func(ctx context.Context) error { return err2(latch.First(ctx)) }},
		{name: "Election.Await", called: "await /election", hangs: enrols,
			do: func(ctx context.Context) error { return err(election.Await(ctx)) }},
		{name: "Election.Participants", called: "list /election", hangs: silence,
			do: func(ctx context.Context) error { return err(election.Participants(ctx)) }},
		{name: "Election.First", called: "list /election", hangs: silence,
			do: func(ctx context.Context) error { return err2(election.First(ctx)) }},
		{name: "NodeElection.Await", called: "await /active", hangs: "the node is being read",
			do: func(ctx context.Context) error { return err(active.Await(ctx)) }},
		{name: "NodeElection.Holder", called: "read /active", hangs: silence,
			do: func(ctx context.Context) error { return err2(active.Holder(ctx)) }},
		{name: "JobElection.Await", called: "await /job", hangs: "the marker is being read",
			do: func(ctx context.Context) error { return err(job.Await(ctx)) }},
		{name: "JobElection.ElectLeader", called: "elect leader /job", hangs: "the marker is being read",
			do: job.ElectLeader},
		{name: "JobElection.IsLeaderUntilBlock", called: "is leader until block /job",
			hangs: "the marker is being read",
			do:    func(ctx context.Context) error { return err(job.IsLeaderUntilBlock(ctx)) }},
		{name: "JobElection.First", called: "read /job/leader/election/instance", hangs: silence,
			do: func(ctx context.Context) error { return err2(job.First(ctx)) }},
		{name: "JobElection.HasLeader", called: "read /job/leader/election/instance", hangs: silence,
			do: func(ctx context.Context) error { return err(job.HasLeader(ctx)) }},
		{name: "Job.First", called: "read /items/leader/election/instance", hangs: silence,
			do: func(ctx context.Context) error {
				return err2(items.First(ctx))
			}},
		{name: "Job.Config", called: "read /items/config", hangs: silence,
			do: func(ctx context.Context) error { return err(items.Config(ctx)) }},
		{name: "Job.Items", called: "read /items/config", hangs: silence,
			do: func(ctx context.Context) error { return err(items.Items(ctx)) }},
		{name: "JobElection.ExecuteInLeader", called: "execute in leader /job/failover", hangs: enrols,
			do: func(ctx context.Context) error {
				return job.ExecuteInLeader(ctx, "failover", func(*incumbent.Leadership) error { return nil })
			}},
		{name: "Latch.Run", called: "run /running", hangs: enrols,
			do: func(ctx context.Context) error { return running.Run(endsByHand{ctx}, untilEnd) }},
		{name: "Selector.Run", called: "run /selector", hangs: enrols,
			do: func(ctx context.Context) error { return selector.Run(endsByHand{ctx}) }},
		{name: "Selector.Participants", called: "list /selector", hangs: silence,
			do: func(ctx context.Context) error { return err(selector.Participants(ctx)) }},
		{name: "Selector.First", called: "list /selector", hangs: silence,
			do: func(ctx context.Context) error { return err2(selector.First(ctx)) }},
	}
}

// lockCalls returns the calls of locks, and of a line itself.
func lockCalls(c *incumbent.Client) []waitingCall {
	mutex := must(c.Mutex("/mutex", incumbent.MutexOptions{}))
	locks := must(c.ReadWriteLock("/rw", incumbent.MutexOptions{}))
	semaphore := must(c.Semaphore("/sem", 5, incumbent.SemaphoreOptions{}))
	multi := must(incumbent.NewMultiLock(mutex))
	holder, sides := mutex.Holder(), locks.Holder()
	someone := incumbent.Participant{Path: "/mutex/x", Token: 1}
	return []waitingCall{
		{name: "Mutex.Lock", called: "lock /mutex", hangs: enrols,
			do: func(ctx context.Context) error { return err(mutex.Lock(ctx)) }},
		{name: "Mutex.TryLock", called: "try lock /mutex", hangs: probes,
			do: func(ctx context.Context) error { return err2(mutex.TryLock(ctx)) }},
		{name: "Mutex.Participants", called: "list /mutex", hangs: silence,
			do: func(ctx context.Context) error { return err(mutex.Participants(ctx)) }},
		{name: "Mutex.Revoke", called: "revoke /mutex/x", hangs: readsNow,
			do: func(ctx context.Context) error { return mutex.Revoke(ctx, someone) }},
		{name: "Holder.Lock", called: "lock /mutex", hangs: enrols,
			do: func(ctx context.Context) error { return err(holder.Lock(ctx)) }},
		{name: "Holder.TryLock", called: "try lock /mutex", hangs: probes,
			do: func(ctx context.Context) error { return err2(holder.TryLock(ctx)) }},
		{name: "ReadWriteLock.Lock", called: "lock /rw", hangs: enrols,
			do: func(ctx context.Context) error { return err(locks.Lock(ctx)) }},
		{name: "ReadWriteLock.TryLock", called: "try lock /rw", hangs: probes,
			do: func(ctx context.Context) error { return err2(locks.TryLock(ctx)) }},
		{name: "ReadWriteLock.RLock", called: "rlock /rw", hangs: enrols,
			do: func(ctx context.Context) error { return err(locks.RLock(ctx)) }},
		{name: "ReadWriteLock.TryRLock", called: "try rlock /rw", hangs: probes,
			do: func(ctx context.Context) error { return err2(locks.TryRLock(ctx)) }},
		{name: "ReadWriteLock.Participants", called: "list /rw", hangs: silence,
			do: func(ctx context.Context) error { return err(locks.Participants(ctx)) }},
		{name: "ReadWriteLock.Revoke", called: "revoke /mutex/x", hangs: readsNow,
			do: func(ctx context.Context) error { return locks.Revoke(ctx, someone) }},
		{name: "ReadWriteHolder.Lock", called: "lock /rw", hangs: enrols,
			do: func(ctx context.Context) error { return err(sides.Lock(ctx)) }},
		{name: "ReadWriteHolder.TryLock", called: "try lock /rw", hangs: probes,
			do: func(ctx context.Context) error { return err2(sides.TryLock(ctx)) }},
		{name: "ReadWriteHolder.RLock", called: "rlock /rw", hangs: enrols,
			do: func(ctx context.Context) error { return err(sides.RLock(ctx)) }},
		{name: "ReadWriteHolder.TryRLock", called: "try rlock /rw", hangs: probes,
			do: func(ctx context.Context) error { return err2(sides.TryRLock(ctx)) }},
		{name: "MultiLock.Lock", called: "multi-lock: lock /mutex", hangs: enrols,
			do: func(ctx context.Context) error { return err(multi.Lock(ctx)) }},
		{name: "MultiLock.TryLock", called: "multi-lock: try lock /mutex", hangs: probes,
			do: func(ctx context.Context) error { return err2(multi.TryLock(ctx)) }},
		{name: "Semaphore.Acquire", called: "acquire /sem", hangs: "waiting for 2 of 5 permits",
			do: func(ctx context.Context) error { return err(semaphore.Acquire(ctx, 2)) }},
		{name: "Semaphore.TryAcquire", called: "try acquire /sem", hangs: probes,
			do: func(ctx context.Context) error { return err2(semaphore.TryAcquire(ctx, 2)) }},
		{name: "Semaphore.Agreed", called: "agreed /sem", hangs: silence,
			do: func(ctx context.Context) error { return err(semaphore.Agreed(ctx)) }},
		{name: "Semaphore.SetLimit", called: "set limit /sem",
			hangs: strings.Replace(unknown, silence, "/sem/leases: "+silence, 1),
			do:    func(ctx context.Context) error { return semaphore.SetLimit(ctx, 6) }},
		{name: "Semaphore.Holders", called: "list /sem/leases", hangs: silence,
			do: func(ctx context.Context) error { return err(semaphore.Holders(ctx)) }},
		{name: "Semaphore.Waiting", called: "list /sem/locks", hangs: silence,
			do: func(ctx context.Context) error { return err(semaphore.Waiting(ctx)) }},
		{name: "Client.Line", called: "list /mutex", hangs: silence,
			do: func(ctx context.Context) error { return err(c.Line(ctx, "/mutex")) }},
		{name: "Client.Address", called: "read /mutex-addresses/0x1-n_", hangs: silence,
			do: func(ctx context.Context) error {
				return err(c.Address(ctx, incumbent.Participant{Path: "/mutex/n_1", Prefix: "n_", Owner: 1}))
			}},
		{name: "Client.GetACL", called: "get acl /mutex", hangs: silence,
			do: func(ctx context.Context) error { return err(c.GetACL(ctx, "/mutex")) }},
		{name: "Client.SetACL", called: "set acl /mutex", hangs: unknown, do: func(ctx context.Context) error {
			return err(c.SetACL(ctx, "/mutex", incumbent.WorldAll(), incumbent.AnyVersion))
		}},
		{name: "Client.Evict", called: "evict /mutex/x", hangs: readsNow,
			do: func(ctx context.Context) error { return c.Evict(ctx, someone) }},
	}
}

// otherCalls returns the calls of handles that are in no line.
func otherCalls(t *testing.T, c *incumbent.Client) []waitingCall {
	barrier, gate, double := must(c.Barrier("/barrier")), must(c.Gate("/gate")), must(c.DoubleBarrier("/double", 3,
		incumbent.DoubleBarrierOptions{}))
	queue, ids := must(incumbent.NewQueue(c, "/queue", incumbent.QueueOptions[string]{})), must(incumbent.NewIDQueue(c,
		"/ids", incumbent.QueueOptions[string]{}))
	keeps, member := must(c.PersistentNode("/kept", nil,
		incumbent.PersistentNodeOptions{})), must(c.Membership("/group", "a", nil, incumbent.PersistentNodeOptions{}))
	count, long, tree := must(c.SharedCount("/count", 1)), must(c.AtomicLong("/long",
		incumbent.AtomicLongOptions{})), must(c.TreeCache("/tree", incumbent.TreeCacheOptions{}))
	deletion := must(c.Delete("/gone").Guaranteed())
	fails(t, errors.Join(keeps.Start(), member.Start(), tree.Start()))
	later := func(ctx context.Context) error {
		for range 1000 {
			fails(t, queue.PutLater(ctx, "item", func(error) {}))
		}
		return queue.PutLater(ctx, "item", nil)
	}
	const puts, creates = "the producer's own node is being created", "the node is being created"
	return []waitingCall{
		{name: "Request.Do", called: "get /a", hangs: silence,
			do: func(ctx context.Context) error { return err(c.Get("/a").Do(ctx)) }},
		{name: "Request.Do", called: "exists /a", hangs: silence,
			do: func(ctx context.Context) error { return err(c.Exists("/a").Do(ctx)) }},
		{name: "Request.Do", called: "children /a", hangs: silence,
			do: func(ctx context.Context) error { return err(c.Children("/a").Do(ctx)) }},
		{name: "Request.Do", called: "multi /a", hangs: unknown,
			do: func(ctx context.Context) error { return err(c.Multi(incumbent.CreateNode("/a", nil)).Do(ctx)) }},
		{name: "Task.Do", called: "sync /a", hangs: silence,
			do: func(ctx context.Context) error { return c.Sync("/a").Do(ctx) }},
		{name: "SetRequest.Do", called: "set /a", hangs: unknown,
			do: func(ctx context.Context) error { return err(c.Set("/a", nil).Do(ctx)) }},
		{name: "CreateRequest.Do", called: "create /a", hangs: unknown,
			do: func(ctx context.Context) error { return err(c.Create("/a", nil).Do(ctx)) }},
		{name: "DeleteRequest.Do", called: "delete /a", hangs: unknown,
			do: func(ctx context.Context) error { return c.Delete("/a").Do(ctx) }},
		{name: "Request.Background", called: "get /a", hangs: silence, do: func(ctx context.Context) error {
			result := make(chan error, 1)
			c.Get("/a").Background(ctx, func(r incumbent.Result) { result <- r.Err })
			return <-result
		}},
		{name: "Deletion.Wait", called: "wait /gone", hangs: readsNow, do: deletion.Wait},
		{name: "Barrier.Set", called: "set /barrier", hangs: creates, do: barrier.Set},
		{name: "Barrier.Remove", called: "remove /barrier", hangs: "the node is being deleted", do: barrier.Remove},
		{name: "Barrier.Wait", called: "wait /barrier", hangs: readsNow, do: barrier.Wait},
		{name: "Gate.Open", called: "open /gate", hangs: creates, do: gate.Open},
		{name: "Gate.Shut", called: "shut /gate", hangs: "the node is being deleted", do: gate.Shut},
		{name: "Gate.Wait", called: "wait /gate", hangs: readsNow, do: gate.Wait},
		{name: "DoubleBarrier.Enter", called: "enter /double", hangs: enrols, do: double.Enter},
		{name: "Queue.Put", called: "put /queue", hangs: puts,
			do: func(ctx context.Context) error { return queue.Put(ctx, "item") }},
		{name: "Queue.PutTogether", called: "put together /queue", hangs: puts,
			do: func(ctx context.Context) error { return queue.PutTogether(ctx, "item") }},
		{name: "Queue.PutLater", called: "put later /queue", hangs: puts, do: later},
		{name: "Queue.Flush", called: "flush /queue", hangs: puts, do: func(ctx context.Context) error {
			fails(t, queue.PutLater(ctx, "item", func(error) {}))
			return queue.Flush(ctx)
		}},
		{name: "IDQueue.Remove", called: "remove /ids", hangs: silence,
			do: func(ctx context.Context) error { return err(ids.Remove(ctx, "a")) }},
		{name: "PersistentNode.WaitPresent", called: "wait present /kept", hangs: creates, do: keeps.WaitPresent},
		{name: "PersistentNode.SetData", called: "set data /kept", hangs: creates,
			do: func(ctx context.Context) error { return keeps.SetData(ctx, nil) }},
		{name: "Membership.WaitPresent", called: "wait present /group/a", hangs: creates, do: member.WaitPresent},
		{name: "Membership.SetData", called: "set data /group/a", hangs: creates,
			do: func(ctx context.Context) error { return member.SetData(ctx, nil) }},
		{name: "Membership.Members", called: "list /group", hangs: silence,
			do: func(ctx context.Context) error { return err(member.Members(ctx)) }},
		{name: "Client.Members", called: "list /group", hangs: silence,
			do: func(ctx context.Context) error { return err(c.Members(ctx, "/group")) }},
		{name: "SharedCount.Get", called: "get /count", hangs: readsNow,
			do: func(ctx context.Context) error { return err(count.Get(ctx)) }},
		{name: "SharedCount.Set", called: "set /count", hangs: readsNow,
			do: func(ctx context.Context) error { return err(count.Set(ctx, 2)) }},
		{name: "SharedCount.TrySet", called: "try set /count", hangs: readsNow,
			do: func(ctx context.Context) error { return err2(count.TrySet(ctx, incumbent.Count{}, 2)) }},
		{name: "AtomicLong.Get", called: "get /long", hangs: readsNow,
			do: func(ctx context.Context) error { return err(long.Get(ctx)) }},
		{name: "AtomicLong.Add", called: "add /long", hangs: readsNow,
			do: func(ctx context.Context) error { return err(long.Add(ctx, 2)) }},
		{name: "AtomicLong.Set", called: "set /long", hangs: readsNow,
			do: func(ctx context.Context) error { return long.Set(ctx, 2) }},
		{name: "AtomicLong.CompareAndSet", called: "compare and set /long", hangs: readsNow,
			do: func(ctx context.Context) error { return err2(long.CompareAndSet(ctx, 1, 2)) }},
		{name: "TreeCache.WaitReady", called: "wait ready /tree", hangs: "the tree is being read", do: tree.WaitReady},
	}
}
