// Package machines may change in any release; only the root package, slogger and zkio/zkmem keep their API. It
// holds the state machines of incumbent: one recipe is one chart, and every chart is a table of rows
// whose guards and actions are methods of a plain struct. Nothing here uses a clock, a random source,
// a socket or a goroutine: time arrives in events, and every random-looking name or delay is derived
// from the seed in the command that opened the machine.
//
//	session.go      the connection: session_chart.go its rows, session_end.go how it ends, session_idle.go what it
//	                asks while nobody needs it, session_readback.go where own nodes were read back, heartbeat.go when
//	                it asks for confirmations, heartbeatset.go the nodes that heartbeats check
//	belief.go       the times by which belief is counted, tick.go, granted.go what they are, bounds.go what follows;
//	                leadercontact.go when the ensemble's leader was heard
//	states.go       the states of several recipes; timers.go the names of timers; optionnames.go the options of
//	                command.open, options.go how they are read
//	node.go         the own node; naming.go how the nodes of a line are told apart
//	term.go         belief, and the work that runs under it
//	retrystate.go   the last failure, the retry policy's progress, and the back-off
//	deletions.go    how fast own nodes that do not last are created again
//	health.go       what the user's health checks have said
//	agenda.go       what commands have asked of a contender, and what comes next
//	contender.go    all of these, for what may lead or hold: retriednode.go how its node is tried for again,
//	                contender_actions.go what its rows do, contender_pause.go its pauses
//	place.go        a contender in a line, and the rows of all of them; place_actions.go what the rows do,
//	                position.go, line.go where in the line it is, ownersearch.go which nodes without a GUID are
//	                its own
//	flight.go       an enrolment in one flight; session_readback.go where a client has read back a node of its own
//	address.go      the address of a place, in a node of its own
//	acquisition.go  a place that is held once: the rows of mutexes and read-write locks
//	parents.go      creates missing directories
//	sublatch.go     a latch that another machine opens, which waits in a line for it
//	latch.go        the leader latch
//	selector.go     the leader selector
//	election.go     the plain election, on names without a GUID
//	mutex.go        the mutex: one machine for each acquisition
//	readwrite.go    the two sides of a read-write lock
//	leftover.go     what a server creates for an attempt that was given up is deleted
//	semaphore.go    the semaphore: one machine for each acquisition; semaphore_actions.go what its rows do
//	fixednode.go    a contender for one node with a fixed name, the marker, and the rows of all of them
//	nodeelection.go  the election on one node; nodeelection_actions.go what its rows do
//	jobelection.go  Elastic-Job's election; jobelection_actions.go, jobelection_seal.go what its rows do
//	jobnodes.go     ElasticJob's nodes below a job's, and how items are dealt; jobconfig.go, jobyaml.go what a job's
//	                configuration says
//	jobdealer.go    a job's leader deals its items; jobdealer_actions.go, jobdealer_plan.go, jobdealer_failover.go
//	                what its rows do, jobelection_dealer.go how the election opens it
//	jobworker.go    an instance of a job that runs its items; jobworker_guards.go, jobworker_actions.go,
//	                jobworker_write.go its rows' guards and actions
//	jobinstance.go  who such an instance is, and what it has read of the job by jobview.go; jobwrites.go its
//	                pending write; jobrun.go how far a run of its items has come, jobrun_write.go what a run writes;
//	                jobleftovers.go what it has left in earlier sessions
//	shards.go       a member that owns shards; shards_guards.go, shards_actions.go, shards_node.go, shards_end.go what
//	                its rows do; shards_own.go its own node, shards_planner.go what it knows of the assignment,
//	                shards_held.go the shards that it has; shardplan.go how shards are dealt to members, shardnodes.go
//	                what the nodes say
//	standalone.go   what the recipes without a line share; paced.go what those of them share that create nodes again
//	leaderwatch.go  who leads a line, from outside
//	persistent.go   one ephemeral node, created again in every session; persistent_actions.go what its rows do
//	nodewatch_model.go  watching from outside: membership.go the members of a group, nodewatch.go one node
//	treecache.go    a node and all below it; treecache_node.go what is known of each, treecache_watch.go its
//	                recursive watch, treecache_actions.go what the rows do
//	number.go       one operation on a number in a node
//	deletion.go     a node that is deleted, over sessions if need be
//	barriercall.go  one call at a barrier (barrier.go), which waits until the node is gone, or at a gate
//	                (gate.go), which waits until it exists
//	doublebarrier.go  a member of a double barrier; doublebarrier_guards.go, doublebarrier_actions.go what its rows
//	                do; doublebarrier_member.go its own node, doublebarrier_ready.go the ready node
//	request.go      one read or write of a user; request_chart.go, request_guards.go; request_conditions.go writes
//	                that read first; request_items.go removals of a queue's items
//	producer.go     puts items into a queue; producer_actions.go what its rows do
//	consumer.go     takes items out of one; consumer_guards.go, consumer_actions.go, consumer_defer.go (what cannot be
//	                read or written), consumer_locks.go (after a lost reply), consumer_end.go what its rows do;
//	                consumer_queue.go what it knows of the queue, consumer_held.go the item that it holds,
//	                consumer_parked.go those that it tries again later
//	queue.go        what both share: directories, and the time of the ensemble's leader
//	znode.go        names and sequence numbers, Curator's layout; znode_queue.go those of queues
//	retry.go        retry policies as values
//	verify.go       which models of a checkpoint contradict themselves
//
// A program links and compiles only the recipes that it uses. So recipes are literals that call nothing
// (engine.RecipeOf), and charts are functions. A variable has rows only if every line has them: the linker keeps what
// a variable's initializer calls. A machine that opens another hands its recipe to the engine (engine.Outbox.Open).
package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Recipes returns every recipe, for programs that replay, draw or simulate any of them. They link all of them.
func Recipes() []engine.Recipe {
	return []engine.Recipe{SessionRecipe, LatchRecipe, SelectorRecipe, MutexRecipe, ReadWriteRecipe, SemaphoreRecipe,
		ElectionRecipe, LeaderWatchRecipe, JobElectionRecipe,
		NodeElectionRecipe,
		JobDealerRecipe,
		PersistentRecipe, MembershipRecipe, BarrierRecipe, GateRecipe, DoubleBarrierRecipe, RequestRecipe,
		ProducerRecipe, ConsumerRecipe,
		JobWorkerRecipe, ShardsRecipe, DeletionRecipe, NodewatchRecipe, TreeCacheRecipe, NumberRecipe, LeftoverRecipe}
}

// statesOf returns the states of a recipe, nil if there is no such recipe.
func statesOf(recipe string) []engine.StateDoc {
	for _, r := range Recipes() {
		if r.Name() == recipe {
			return r.Describe().States
		}
	}
	return nil
}

// ClassOf returns the class that a state of a recipe's machines has, for readers of logs: "" if the recipe has no state
// of that name.
func ClassOf(recipe, state string) events.Class {
	for _, s := range statesOf(recipe) {
		if string(s.Name) == state {
			return s.Class
		}
	}
	return ""
}

// Grant is what the machines of a recipe give to their users for a time.
type Grant string

const (
	GrantsNothing       Grant = "nothing"       // nobody leads or holds anything
	GrantsEntry         Grant = "entry"         // members are inside together, from command.enter to command.leave
	GrantsLeadership    Grant = "leadership"    // one machine leads
	GrantsLock          Grant = "lock"          // one machine holds it
	GrantsReadWriteLock Grant = "readwritelock" // one machine writes, or several read
	GrantsPermits       Grant = "permits"       // several machines hold permits, up to the option "limit"
	GrantsShards        Grant = "shards"        // a member owns several shards, each in terms of its own
)

// HasTerms reports whether it is granted in terms, each with a token: entry is not.
func (g Grant) HasTerms() bool { return g != "" && g != GrantsNothing && g != GrantsEntry }

// Traits say what a recipe is, for programs that read logs of any recipe or play any.
type Traits struct {
	Grants      Grant
	Acquisition bool // each call opens a machine, which has one term at most
	Callback    bool // a term begins with a call of the user's function: no command asks for it
	FixedName   bool // the nodes of all leaders have one name

	Label       string // of the names of its nodes in a line; "" if it has no line, or the user chooses the names
	SharedLabel string // of those that hold together; "" if none do
}

// traits has all recipes of Recipes.
var traits = map[string]Traits{
	"session": {Grants: GrantsNothing},

	"latch":        {Grants: GrantsLeadership, Label: LatchLabel},
	"selector":     {Grants: GrantsLeadership, Label: LockLabel, Callback: true},
	"election":     {Grants: GrantsLeadership},
	"jobelection":  {Grants: GrantsLeadership, FixedName: true},
	"nodeelection": {Grants: GrantsLeadership, FixedName: true},
	"mutex":        {Grants: GrantsLock, Label: LockLabel, Acquisition: true},
	"readwrite":    {Grants: GrantsReadWriteLock, Label: WriteLabel, SharedLabel: ReadLabel, Acquisition: true},
	"semaphore":    {Grants: GrantsPermits, Label: LockLabel, Acquisition: true},
	"shards":       {Grants: GrantsShards, Callback: true},

	"barrier":       {Grants: GrantsNothing},
	"consumer":      {Grants: GrantsNothing},
	"deletion":      {Grants: GrantsNothing},
	"doublebarrier": {Grants: GrantsEntry},
	"gate":          {Grants: GrantsNothing},
	"jobdealer":     {Grants: GrantsNothing},
	"jobworker":     {Grants: GrantsNothing},
	"leaderwatch":   {Grants: GrantsNothing},
	"leftover":      {Grants: GrantsNothing},
	"membership":    {Grants: GrantsNothing},
	"nodewatch":     {Grants: GrantsNothing},
	"number":        {Grants: GrantsNothing},
	"persistent":    {Grants: GrantsNothing},
	"producer":      {Grants: GrantsNothing},
	"request":       {Grants: GrantsNothing},
	"treecache":     {Grants: GrantsNothing},
}

// TraitsOf returns the traits of a recipe: zero, with no Grants, if this version has no recipe of that name.
func TraitsOf(recipe string) Traits { return traits[recipe] }
